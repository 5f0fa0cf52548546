// ConstraintCompiler: specs -> constraints over one vocabulary, kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "constraints/compiled_constraint.h"
#include "constraints/constraint_spec.h"
#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/base/vocabulary.h"
#include "grammars/ebnf.h"
#include "grammars/regex.h"

namespace adjudge {

struct CompilerOptions {
  // The model's own split of a text into tokens, for forced tokens (CompiledConstraint).
  std::function<std::vector<TokenId>(std::string_view)> tokenize;
  std::size_t cache_bytes = std::size_t{256} << 20;  // compiled constraints kept; 0 = none
};

struct SpecLimits {
  ConstraintLimits constraint;
  GrammarLimits grammar;
  RegexLimits regex;
  std::size_t max_choices = 100'000;
  std::size_t max_choice_bytes = std::size_t{4} << 20;  // all of them
  int max_depth = 50;                                   // specs inside specs
};

// Sorts and signs the vocabulary once (about 0.1 s for 150,000 tokens), and needs it no more
// afterwards. Safe to share between threads.
class ConstraintCompiler {
 public:
  explicit ConstraintCompiler(const Vocabulary& vocabulary, CompilerOptions options = {});
  ~ConstraintCompiler();
  ConstraintCompiler(ConstraintCompiler&&) noexcept;
  ConstraintCompiler& operator=(ConstraintCompiler&&) noexcept;

  // The kept constraint, where this spec was compiled before under the same limits. Errors: what
  // the text's parser says; a language without any text; token names that the vocabulary lacks; a
  // limit, by name; an intersection of what is not regular.
  Result<std::shared_ptr<const CompiledConstraint>> Compile(const ConstraintSpec& spec,
                                                            const SpecLimits& limits = {}) const;

  // Of the vocabulary: equal vocabularies, equal numbers.
  std::uint64_t fingerprint() const;
  std::size_t index_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adjudge
