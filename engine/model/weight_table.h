// WeightTable: the ModelFile of every format, once its reader has found the tensors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/mapped_file.h"
#include "engine/model/model_file.h"

namespace adjudge {

// Immutable once Check() passed.
class WeightTable : public ModelFile {
 public:
  // `files` are what the tensors' data lie in.
  WeightTable(std::string_view format, ModelConfig config,
              std::vector<std::shared_ptr<const MappedFile>> files);

  // REQUIRES: `data` has TensorBytes(info.type, product of the shape) bytes in one of the files.
  void Add(TensorInfo info, const std::byte* data);

  // Every tensor that the config asks for is there in its shape, and no other.
  Status Check();

  std::string_view format() const override { return format_; }
  const ModelConfig& config() const override { return config_; }
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  bool Has(std::string_view name) const override;
  Result<TensorView> Matrix(std::string_view name, std::int64_t rows,
                            std::int64_t cols) const override;
  Result<std::vector<float>> Vector(std::string_view name, std::int64_t n) const override;
  std::int64_t file_bytes() const override;
  void ReleasePages() const override;

 private:
  std::optional<std::size_t> Index(std::string_view name) const;
  Result<std::size_t> Find(std::string_view name, const std::vector<std::int64_t>& shape) const;

  std::string_view format_;
  ModelConfig config_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::vector<TensorInfo> tensors_;
  std::vector<const std::byte*> data_;  // of tensors_
  std::vector<std::size_t> by_name_;    // indices of tensors_
};

}  // namespace adjudge
