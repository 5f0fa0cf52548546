// Fingerprints: 128-bit names of bytes, files and models, to tell them apart.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

// XXH3 of the bytes (128 bits, 32 hexadecimal digits). Guards against mistakes, not against
// somebody who looks for two texts of one fingerprint.
std::string Fingerprint(std::string_view bytes);

// The same of a file's bytes; of a folder, of the names and bytes of its .safetensors, .json and
// .model files, sorted by name. What a trained head is bound to. Errors: kNotFound, kIo.
Result<std::string> ModelFingerprint(const std::filesystem::path& path);

}  // namespace adjudge
