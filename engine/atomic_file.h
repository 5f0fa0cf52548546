// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

// Writes the bytes beside `path`, flushes them to the disk and renames them into place, so that a
// full disk, a kill or a power cut leaves what was there before. Errors: kIo with the system's
// words, the place being `path`; nothing is left beside it.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace adjudge
