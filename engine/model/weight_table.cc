#include "engine/model/weight_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/dequantize.h"
#include "engine/model/model_tensors.h"
#include "engine/model/printable_name.h"

namespace adjudge {
namespace {

// "blk.0.attn_q.weight", with the file's own name where that is another.
std::string Place(const TensorInfo& info) {
  std::string place = PrintableName(info.name);
  if (info.file_name != info.name) place += " (" + PrintableName(info.file_name) + ")";
  return place;
}

// Held by some files and not part of the weights, or already read into the config.
bool IsAside(std::string_view name, const ModelConfig& config) {
  return name == "rope_freqs.weight" || name.ends_with(".rotary_emb.inv_freq") ||
         (name == "output.weight" && config.tied_output);
}

}  // namespace

WeightTable::WeightTable(std::string_view format, ModelConfig config,
                         std::vector<std::shared_ptr<const MappedFile>> files)
    : format_(format), config_(std::move(config)), files_(std::move(files)) {}

void WeightTable::Add(TensorInfo info, const std::byte* data) {
  tensors_.push_back(std::move(info));
  data_.push_back(data);
}

Status WeightTable::Check() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(),
            [this](std::size_t a, std::size_t b) { return tensors_[a].name < tensors_[b].name; });
  std::vector<bool> used(tensors_.size(), false);
  for (const TensorShape& wanted : ModelTensors(config_)) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::size_t index, Find(wanted.name, wanted.shape));
    used[index] = true;
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (used[i] || IsAside(tensors_[i].name, config_)) continue;
    return Fail(ErrorCode::kUnsupported,
                "architecture " + config_.architecture +
                    " has no use for this tensor in a model of " +
                    std::to_string(config_.n_layers) + " layers",
                Place(tensors_[i]));
  }
  return {};
}

std::optional<std::size_t> WeightTable::Index(std::string_view name) const {
  const auto at = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [this](std::size_t i, std::string_view wanted) { return tensors_[i].name < wanted; });
  if (at == by_name_.end() || tensors_[*at].name != name) return std::nullopt;
  return *at;
}

bool WeightTable::Has(std::string_view name) const { return Index(name).has_value(); }

Result<std::size_t> WeightTable::Find(std::string_view name,
                                      const std::vector<std::int64_t>& shape) const {
  const std::optional<std::size_t> index = Index(name);
  if (!index) {
    return Fail(ErrorCode::kNotFound,
                "the file has no such tensor; expected one of shape " + ToString(shape),
                std::string(name));
  }
  const TensorInfo& info = tensors_[*index];
  if (info.shape != shape) {
    return Fail(ErrorCode::kMalformed,
                "expected shape " + ToString(shape) + ", found " + ToString(info.shape),
                Place(info));
  }
  return *index;
}

Result<TensorView> WeightTable::Matrix(std::string_view name, std::int64_t rows,
                                       std::int64_t cols) const {
  ADJUDGE_ASSIGN_OR_RETURN(const std::size_t index, Find(name, {rows, cols}));
  return TensorView{.type = tensors_[index].type,
                    .rows = rows,
                    .cols = cols,
                    .data = data_[index],
                    .name = tensors_[index].name};
}

Result<std::vector<float>> WeightTable::Vector(std::string_view name, std::int64_t n) const {
  ADJUDGE_ASSIGN_OR_RETURN(const std::size_t index, Find(name, {n}));
  std::vector<float> values(static_cast<std::size_t>(n));
  Dequantize(tensors_[index].type, data_[index], n, values.data());
  if (config_.norm_weight_plus_one && name.ends_with("norm.weight")) {
    for (float& value : values) value += 1.0F;
  }
  return values;
}

std::int64_t WeightTable::file_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& file : files_) bytes += static_cast<std::int64_t>(file->size());
  return bytes;
}

void WeightTable::ReleasePages() const {
  for (const auto& file : files_) file->ReleasePages();
}

}  // namespace adjudge
