#include "constraints/compiler.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "constraints/automaton/composed_recognizer.h"
#include "constraints/automaton/encoded_language.h"
#include "constraints/automaton/grammar_recognizer.h"
#include "constraints/automaton/text_set.h"
#include "constraints/json_schema.h"
#include "constraints/mask/recognized_constraint.h"
#include "engine/base/utf8.h"

namespace adjudge {
namespace {

using Kind = ConstraintSpec::Kind;
using Made = Result<std::unique_ptr<Recognizer>>;
using Part = ComposedRecognizer::Part;

std::string Count(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

// One text for one spec.
void AppendKey(const ConstraintSpec& spec, std::string& key) {
  key += std::to_string(static_cast<int>(spec.kind)) + Count(spec.text);
  for (const std::string& text : spec.texts) key += "t" + Count(text);
  for (const ConstraintSpec& part : spec.parts) AppendKey(part, key += "p");
  for (const StructuralTag& tag : spec.tags) {
    key += "g" + Count(tag.begin) + Count(tag.end);
    AppendKey(tag.content, key);
  }
  if (spec.kind == Kind::kJsonSchema) {
    const JsonSchemaOptions& o = spec.schema;
    for (const auto number :
         {static_cast<std::int64_t>(o.dialect), static_cast<std::int64_t>(o.formats),
          static_cast<std::int64_t>(o.space), static_cast<std::int64_t>(o.indent),
          static_cast<std::int64_t>(o.declared_order), static_cast<std::int64_t>(o.plain_numbers),
          static_cast<std::int64_t>(o.plain_strings), static_cast<std::int64_t>(o.max_bytes),
          static_cast<std::int64_t>(o.max_depth), static_cast<std::int64_t>(o.max_values),
          static_cast<std::int64_t>(o.max_cases), static_cast<std::int64_t>(o.max_states),
          o.max_steps}) {
      key += std::to_string(number) + ",";
    }
    for (const auto& [uri, text] : o.documents) key += "d" + Count(uri) + Count(text);
  }
  key += ".";
}

std::string KeyOf(const ConstraintSpec& spec, const SpecLimits& limits) {
  std::string key;
  for (const auto limit :
       {static_cast<std::uint64_t>(limits.constraint.work),
        std::uint64_t{limits.constraint.mask_bytes}, std::uint64_t{limits.constraint.state_bytes},
        std::uint64_t{limits.grammar.max_bytes},
        static_cast<std::uint64_t>(limits.grammar.max_depth),
        std::uint64_t{limits.grammar.max_rules}, std::uint64_t{limits.grammar.max_repeat},
        std::uint64_t{limits.regex.max_bytes}, static_cast<std::uint64_t>(limits.regex.max_depth),
        std::uint64_t{limits.regex.max_repeat}, std::uint64_t{limits.max_choices},
        std::uint64_t{limits.max_choice_bytes}, static_cast<std::uint64_t>(limits.max_depth)}) {
    key += std::to_string(limit) + ",";
  }
  AppendKey(spec, key);
  return key;
}

// Texts as a regex that matches one of them. REQUIRES: UTF-8.
Result<CharLanguage::Ptr> LanguageOf(const ConstraintSpec& spec, const SpecLimits& limits,
                                     int depth);

// Makes the recogniser of one spec.
class SpecCompiler {
 public:
  SpecCompiler(const VocabularyIndex& index, const SpecLimits& limits)
      : index_(index), limits_(limits) {}

  Made Make(const ConstraintSpec& spec, int depth = 0) {
    if (depth > limits_.max_depth) {
      return Fail(ErrorCode::kLimit,
                  "constraints nest deeper than max_depth, " + std::to_string(limits_.max_depth));
    }
    switch (spec.kind) {
      case Kind::kGrammar:
        return OfGrammar(spec.text, depth);
      case Kind::kRegex: {
        ADJUDGE_ASSIGN_OR_RETURN(
            CharLanguage::Ptr language,
            CharLanguage::FromRegex(spec.text, RegexMatch::kWhole, limits_.regex));
        return std::make_unique<EncodedLanguage>(std::move(language), Encoding::kUtf8);
      }
      case Kind::kChoice:
        ADJUDGE_RETURN_IF_ERROR(CheckChoice(spec.texts));
        return std::make_unique<TextSet>(spec.texts);
      case Kind::kIntersection: {
        ADJUDGE_ASSIGN_OR_RETURN(CharLanguage::Ptr language, LanguageOf(spec, limits_, depth));
        return std::make_unique<EncodedLanguage>(std::move(language), Encoding::kUtf8);
      }
      case Kind::kJsonSchema:
        return OfSchema(spec);
      case Kind::kUnion:
      case Kind::kSequence:
        return OfParts(spec, depth);
      case Kind::kTags:
        return OfTags(spec.tags, depth);
    }
    return Fail(ErrorCode::kInvalidArgument, "no such kind of constraint");
  }

  // Formats of schemas that were left as annotations.
  std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  Made OfSchema(const ConstraintSpec& spec) {
    std::vector<std::string> formats;
    ADJUDGE_ASSIGN_OR_RETURN(auto made, CompileJsonSchema(spec.text, spec.schema, &formats));
    for (const std::string& name : formats) {
      notes_.push_back("the standard knows no format \"" + name + "\": taken as an annotation");
    }
    return made;
  }

  Status CheckChoice(const std::vector<std::string>& texts) const {
    if (texts.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "a choice needs at least one text", "choice");
    }
    if (texts.size() > limits_.max_choices) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(texts.size()) + " texts, but max_choices is " +
                      std::to_string(limits_.max_choices),
                  "choice");
    }
    std::size_t bytes = 0;
    for (const std::string& text : texts) bytes += text.size();
    if (bytes <= limits_.max_choice_bytes) return {};
    return Fail(ErrorCode::kLimit,
                std::to_string(bytes) + " bytes of texts, but max_choice_bytes is " +
                    std::to_string(limits_.max_choice_bytes),
                "choice");
  }

  Made OfGrammar(const std::string& text, int depth) {
    ADJUDGE_ASSIGN_OR_RETURN(const Grammar grammar, ParseGrammar(text, limits_.grammar));
    ADJUDGE_ASSIGN_OR_RETURN(CountedNfa nfa, BuildNfa(grammar, NfaSymbols::kBytes));
    if (depth > 0 && !nfa.tokens.empty()) {
      return Fail(ErrorCode::kUnsupported,
                  "a grammar with token terminals cannot be part of another constraint", "grammar");
    }
    ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenMask> masks, ResolveTokens(nfa, index_));
    return std::make_unique<GrammarRecognizer>(std::move(nfa), std::move(masks));
  }

  Made OfParts(const ConstraintSpec& spec, int depth) {
    const bool sequence = spec.kind == Kind::kSequence;
    if (spec.parts.empty() && !sequence) {
      return Fail(ErrorCode::kInvalidArgument, "a union needs at least one part", "union");
    }
    if (spec.parts.empty()) return std::make_unique<TextSet>(std::vector<std::string>{""});
    std::vector<Part> parts;
    for (std::size_t i = 0; i < spec.parts.size(); ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(auto made, Make(spec.parts[i], depth + 1));
      Part part{.recognizer = std::move(made), .next = {}, .starts = true, .final = true};
      if (sequence) {
        part.starts = i == 0;
        part.final = i + 1 == spec.parts.size();
        if (!part.final) part.next.push_back(static_cast<std::uint32_t>(i + 1));
      }
      parts.push_back(std::move(part));
    }
    return std::make_unique<ComposedRecognizer>(std::move(parts));
  }

  Made OfTags(const std::vector<StructuralTag>& tags, int depth) {
    std::vector<std::string> begins;
    for (const StructuralTag& tag : tags) {
      if (tag.begin.empty() || FirstInvalidUtf8(tag.begin)) {
        return Fail(ErrorCode::kInvalidArgument, "a tag's begin must be text that is not empty",
                    "tags[" + std::to_string(begins.size()) + "]");
      }
      begins.push_back(tag.begin);
    }
    if (tags.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "at least one tag is needed", "tags");
    }
    // Part 0 is free text that holds no beginning; then for each tag free text that ends in its
    // beginning and holds none before, the content, and the end.
    const auto any = [] { return CharLanguage::All(); };
    const auto holding = [&](const std::string& begin, bool more) {
      GrammarBuilder builder;
      builder.AddRule("root");
      const auto star = builder.Repeat(builder.Chars(CodePointSet::All()), 0, kUnbounded);
      const auto plus = builder.Repeat(builder.Chars(CodePointSet::All()), 1, kUnbounded);
      builder.SetBody(0, more ? builder.Sequence({star, builder.Text(begin), plus})
                              : builder.Sequence({star, builder.Text(begin)}));
      return *CharLanguage::FromGrammar(std::move(builder).Build());
    };
    std::vector<Part> parts;
    const auto add = [&](std::unique_ptr<Recognizer> recognizer, bool starts, bool final) {
      parts.push_back(
          {.recognizer = std::move(recognizer), .next = {}, .starts = starts, .final = final});
      return static_cast<std::uint32_t>(parts.size() - 1);
    };
    std::vector<CharLanguage::Ptr> holds;
    for (const std::string& begin : begins) {
      holds.push_back(holding(begin, false));
      holds.push_back(holding(begin, true));
    }
    const auto encoded = [](CharLanguage::Ptr language) {
      return std::make_unique<EncodedLanguage>(std::move(language), Encoding::kUtf8);
    };
    add(encoded(CharLanguage::Minus(any(), CharLanguage::Or(std::move(holds)))), true, true);
    std::vector<std::uint32_t> firsts = {0};
    std::vector<std::uint32_t> lasts;
    for (const StructuralTag& tag : tags) {
      std::vector<CharLanguage::Ptr> early;
      for (const std::string& begin : begins) early.push_back(holding(begin, true));
      const auto first = add(encoded(CharLanguage::Minus(holding(tag.begin, false),
                                                         CharLanguage::Or(std::move(early)))),
                             true, false);
      ADJUDGE_ASSIGN_OR_RETURN(auto made, Make(tag.content, depth + 1));
      const auto content = add(std::move(made), false, false);
      const auto end =
          add(std::make_unique<TextSet>(std::vector<std::string>{tag.end}), false, false);
      parts[first].next = {content};
      parts[content].next = {end};
      firsts.push_back(first);
      lasts.push_back(end);
    }
    for (const std::uint32_t last : lasts) parts[last].next = firsts;
    return std::make_unique<ComposedRecognizer>(std::move(parts));
  }

  const VocabularyIndex& index_;
  const SpecLimits& limits_;
  std::vector<std::string> notes_;
};

Result<CharLanguage::Ptr> LanguageOf(const ConstraintSpec& spec, const SpecLimits& limits,
                                     int depth) {
  if (depth > limits.max_depth) {
    return Fail(ErrorCode::kLimit,
                "constraints nest deeper than max_depth, " + std::to_string(limits.max_depth));
  }
  switch (spec.kind) {
    case Kind::kRegex:
      return CharLanguage::FromRegex(spec.text, RegexMatch::kWhole, limits.regex);
    case Kind::kChoice:
      for (const std::string& text : spec.texts) {
        if (!FirstInvalidUtf8(text)) continue;
        return Fail(ErrorCode::kUnsupported, "a text of an intersection is not UTF-8", "choice");
      }
      return CharLanguage::Texts(spec.texts);
    case Kind::kUnion:
    case Kind::kIntersection: {
      std::vector<CharLanguage::Ptr> parts;
      for (const ConstraintSpec& part : spec.parts) {
        ADJUDGE_ASSIGN_OR_RETURN(auto language, LanguageOf(part, limits, depth + 1));
        parts.push_back(std::move(language));
      }
      return spec.kind == Kind::kUnion ? CharLanguage::Or(std::move(parts))
                                       : CharLanguage::And(std::move(parts));
    }
    default:
      return Fail(ErrorCode::kUnsupported,
                  "only regexes, choices, unions and intersections can be intersected",
                  "intersection");
  }
}

}  // namespace

struct ConstraintCompiler::Impl {
  struct Kept {
    std::string key;
    std::shared_ptr<const CompiledConstraint> constraint;
  };

  Impl(const Vocabulary& vocabulary, CompilerOptions given)
      : index(std::make_shared<const VocabularyIndex>(vocabulary)), options(std::move(given)) {}

  std::shared_ptr<const CompiledConstraint> Find(const std::string& key) {
    const std::lock_guard lock(mutex);
    const auto found = by_key.find(key);
    if (found == by_key.end()) return nullptr;
    kept.splice(kept.begin(), kept, found->second);
    return found->second->constraint;
  }

  void Keep(std::string key, std::shared_ptr<const CompiledConstraint> constraint) {
    const std::lock_guard lock(mutex);
    if (by_key.contains(key)) return;
    kept.push_front({std::move(key), std::move(constraint)});
    by_key.emplace(kept.front().key, kept.begin());
    // Constraints grow as they are used, so all are weighed anew.
    std::size_t bytes = 0;
    for (auto entry = kept.begin(); entry != kept.end();) {
      bytes += entry->constraint->bytes() + 2 * entry->key.size() + 128;
      if (bytes <= options.cache_bytes) {
        ++entry;
        continue;
      }
      by_key.erase(entry->key);
      entry = kept.erase(entry);
    }
  }

  const std::shared_ptr<const VocabularyIndex> index;
  const CompilerOptions options;
  std::mutex mutex;
  std::list<Kept> kept;  // the last used first
  std::unordered_map<std::string, std::list<Kept>::iterator> by_key;
};

ConstraintCompiler::ConstraintCompiler(const Vocabulary& vocabulary, CompilerOptions options)
    : impl_(std::make_unique<Impl>(vocabulary, std::move(options))) {}
ConstraintCompiler::~ConstraintCompiler() = default;
ConstraintCompiler::ConstraintCompiler(ConstraintCompiler&&) noexcept = default;
ConstraintCompiler& ConstraintCompiler::operator=(ConstraintCompiler&&) noexcept = default;

Result<std::shared_ptr<const CompiledConstraint>> ConstraintCompiler::Compile(
    const ConstraintSpec& spec, const SpecLimits& limits) const {
  std::string key = KeyOf(spec, limits);
  if (auto kept = impl_->Find(key)) return kept;
  SpecCompiler compiler(*impl_->index, limits);
  ADJUDGE_ASSIGN_OR_RETURN(auto recognizer, compiler.Make(spec));
  ADJUDGE_ASSIGN_OR_RETURN(std::shared_ptr<const CompiledConstraint> made,
                           MakeConstraint(std::move(recognizer), impl_->index, limits.constraint,
                                          impl_->options.tokenize, compiler.TakeNotes()));
  impl_->Keep(std::move(key), made);
  return made;
}

std::uint64_t ConstraintCompiler::fingerprint() const { return impl_->index->fingerprint(); }
std::size_t ConstraintCompiler::index_bytes() const { return impl_->index->bytes(); }

}  // namespace adjudge
