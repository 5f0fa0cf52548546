// The decoder-only transformer: one forward pass for every architecture that differs in flags.
#pragma once

#include <memory>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/model.h"
#include "engine/model/model_file.h"

namespace adjudge {

// Packs the file's weights on `backend` and lets the file's pages go; the file may be closed
// afterwards.
Result<std::shared_ptr<const Model>> BuildTransformer(const ModelFile& file,
                                                      std::unique_ptr<Backend> backend);

}  // namespace adjudge
