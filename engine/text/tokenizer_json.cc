#include "engine/text/tokenizer_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engine/text/json_text.h"
#include "engine/text/tokenizer_sources.h"

namespace adjudge {
namespace {

using nlohmann::json;

tl::unexpected<Error> Unsupported(const std::string& what, const std::string& place) {
  return Fail(ErrorCode::kUnsupported, what + " is not supported", place);
}

// The parts of a normalizer or pre-tokenizer: a Sequence's members, or the one.
std::vector<const json*> PartsOf(const json& value, const char* list) {
  std::vector<const json*> parts;
  if (value.is_null()) return parts;
  if (TypeOf(value) == "Sequence" && Member(value, list).is_array()) {
    for (const json& part : Member(value, list)) parts.push_back(&part);
  } else {
    parts.push_back(&value);
  }
  return parts;
}

Status ReadNormalizer(const json& root, BpeModel& model) {
  for (const json* part : PartsOf(Member(root, "normalizer"), "normalizers")) {
    if (TypeOf(*part) != "NFC") return Unsupported("normalizer " + Shown(*part), "/normalizer");
    model.nfc = true;
  }
  return {};
}

// What a ByteLevel step does: whether it also cuts by GPT-2's pattern.
Result<bool> ByteLevelCuts(const json& part) {
  ADJUDGE_ASSIGN_OR_RETURN(const bool prefix,
                           BoolMember(part, "add_prefix_space", true, "/pre_tokenizer"));
  if (prefix) return Unsupported("ByteLevel with add_prefix_space", "/pre_tokenizer");
  return BoolMember(part, "use_regex", true, "/pre_tokenizer");
}

Result<PreTokenizerKind> ReadSplit(const json& part) {
  const json& regex = Member(Member(part, "pattern"), "Regex");
  ADJUDGE_ASSIGN_OR_RETURN(const bool invert, BoolMember(part, "invert", false, "/pre_tokenizer"));
  if (!regex.is_string() || invert || Member(part, "behavior") != "Isolated") {
    return Unsupported("pre-tokenizer " + Shown(part), "/pre_tokenizer");
  }
  const auto kind = PreTokenizerFromPattern(regex.get_ref<const std::string&>());
  if (!kind) return Unsupported("pre-tokenizer pattern " + Shown(regex), "/pre_tokenizer");
  return *kind;
}

Status ReadPreTokenizer(const json& root, BpeModel& model) {
  const json& value = Member(root, "pre_tokenizer");
  const std::vector<const json*> parts = PartsOf(value, "pretokenizers");
  const auto refuse = [&] {
    return Unsupported("pre-tokenizer " + Shown(value), "/pre_tokenizer");
  };
  model.byte_level = !parts.empty();
  if (parts.empty()) return {};
  if (parts.size() > 2 || TypeOf(*parts.back()) != "ByteLevel") return refuse();
  ADJUDGE_ASSIGN_OR_RETURN(const bool cuts, ByteLevelCuts(*parts.back()));
  if (parts.size() == 1) {
    model.pre_tokenizer = cuts ? PreTokenizerKind::kGpt2 : PreTokenizerKind::kNone;
    return {};
  }
  const std::string first = TypeOf(*parts[0]);
  if (first == "Digits" && cuts) {
    ADJUDGE_ASSIGN_OR_RETURN(const bool each,
                             BoolMember(*parts[0], "individual_digits", false, "/pre_tokenizer"));
    if (!each) return refuse();
    model.pre_tokenizer = PreTokenizerKind::kSmollm;
    return {};
  }
  if (first != "Split" || cuts) return refuse();
  ADJUDGE_ASSIGN_OR_RETURN(model.pre_tokenizer, ReadSplit(*parts[0]));
  return {};
}

Status ReadDecoder(const json& root, const BpeModel& model) {
  const json& value = Member(root, "decoder");
  if (value.is_null()) return {};
  if (model.byte_level && TypeOf(value) == "ByteLevel") return {};
  return Unsupported("decoder " + Shown(value), "/decoder");
}

Status CheckModelOptions(const json& value, BpeModel& model) {
  if (const std::string type = TypeOf(value);
      type != "BPE" && !(type.empty() && value.contains("merges"))) {
    return Unsupported("model type \"" + type + "\"", "/model/type");
  }
  if (const json& dropout = Member(value, "dropout"); !dropout.is_null() && dropout != 0.0) {
    return Unsupported("dropout " + Shown(dropout), "/model/dropout");
  }
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const json& affix = Member(value, name);
    if (!affix.is_null() && affix != "") {
      return Unsupported(name + (" " + Shown(affix)), std::string("/model/") + name);
    }
  }
  ADJUDGE_ASSIGN_OR_RETURN(const bool fallback,
                           BoolMember(value, "byte_fallback", false, "/model"));
  if (fallback) {
    return Unsupported(
        "byte_fallback (a converted SentencePiece vocabulary; its tokenizer.model is)",
        "/model/byte_fallback");
  }
  ADJUDGE_ASSIGN_OR_RETURN(model.ignore_merges,
                           BoolMember(value, "ignore_merges", false, "/model"));
  return {};
}

// The id of a token, below the limit.
Result<std::size_t> TokenIndexOf(const json& value, const std::string& place,
                                 const TokenizerLimits& limits) {
  if (!value.is_number_unsigned()) {
    return Fail(ErrorCode::kMalformed, "expected a token id, found " + Shown(value), place);
  }
  const auto id = value.get<std::uint64_t>();
  if (id >= limits.max_tokens) {
    return Fail(ErrorCode::kLimit,
                "expected a token id below " + std::to_string(limits.max_tokens) +
                    " (max_tokens), found " + std::to_string(id),
                place);
  }
  return static_cast<std::size_t>(id);
}

void GrowTo(std::size_t id, BpeModel& model) {
  // Ids that no entry names are never produced.
  if (id >= model.tokens.size()) model.tokens.resize(id + 1, {"", TokenKind::kUnused});
}

Status ReadVocab(const json& value, const TokenizerLimits& limits, BpeModel& model) {
  const json& vocab = Member(value, "vocab");
  if (!vocab.is_object() || vocab.empty()) {
    return Fail(ErrorCode::kMalformed, "expected an object of tokens and ids", "/model/vocab");
  }
  for (const auto& [text, id_value] : vocab.items()) {
    const auto place = [&text = text] { return "/model/vocab/" + Shown(json(text)); };
    ADJUDGE_ASSIGN_OR_RETURN(const std::size_t id, TokenIndexOf(id_value, place(), limits));
    GrowTo(id, model);
    if (model.tokens[id].kind != TokenKind::kUnused) {
      return Fail(ErrorCode::kMalformed,
                  "id " + std::to_string(id) + " was already \"" + model.tokens[id].text + "\"",
                  place());
    }
    model.tokens[id] = {text, TokenKind::kNormal};
  }
  return {};
}

Result<BpeModel::Merge> ReadMerge(const json& value, const std::string& place) {
  if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
    return BpeModel::Merge{value[0].get<std::string>(), value[1].get<std::string>()};
  }
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    const std::size_t space = text.find(' ');
    if (space != 0 && space != text.npos && space + 1 < text.size() &&
        text.find(' ', space + 1) == text.npos) {
      return BpeModel::Merge{text.substr(0, space), text.substr(space + 1)};
    }
  }
  return Fail(
      ErrorCode::kMalformed,
      "expected a pair of tokens, or two with one space between them, found " + Shown(value),
      place);
}

Status ReadMerges(const json& value, BpeModel& model) {
  const json& merges = Member(value, "merges");
  if (!merges.is_array()) {
    return Fail(ErrorCode::kMalformed, "expected an array", "/model/merges");
  }
  model.merges.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(BpeModel::Merge merge,
                             ReadMerge(merges[i], "/model/merges/" + std::to_string(i)));
    model.merges.push_back(std::move(merge));
  }
  return {};
}

Status ReadAddedToken(const json& value, const std::string& place, const TokenizerLimits& limits,
                      BpeModel& model) {
  const json& content = Member(value, "content");
  if (!content.is_string() || content == "") {
    return Fail(ErrorCode::kMalformed, "expected a token's text, found " + Shown(content),
                place + "/content");
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::size_t id,
                           TokenIndexOf(Member(value, "id"), place + "/id", limits));
  ADJUDGE_ASSIGN_OR_RETURN(const bool single, BoolMember(value, "single_word", false, place));
  if (single) return Unsupported("single_word", place);
  BpeModel::Token token{content.get<std::string>()};
  ADJUDGE_ASSIGN_OR_RETURN(const bool special, BoolMember(value, "special", false, place));
  ADJUDGE_ASSIGN_OR_RETURN(token.takes_left, BoolMember(value, "lstrip", false, place));
  ADJUDGE_ASSIGN_OR_RETURN(token.takes_right, BoolMember(value, "rstrip", false, place));
  token.kind = special ? TokenKind::kControl : TokenKind::kUserDefined;
  GrowTo(id, model);
  BpeModel::Token& slot = model.tokens[id];
  if (slot.kind != TokenKind::kUnused && slot.text != token.text) {
    return Fail(ErrorCode::kMalformed,
                "expected token " + std::to_string(id) + ", \"" + slot.text + "\", found \"" +
                    token.text + "\"",
                place);
  }
  slot = std::move(token);
  return {};
}

// A template that puts a special token before the text says that a text begins with it.
Status ReadPostProcessor(const json& root, BpeModel& model) {
  for (const json* part : PartsOf(Member(root, "post_processor"), "processors")) {
    const std::string type = TypeOf(*part);
    if (type == "ByteLevel") continue;
    if (type != "TemplateProcessing") {
      return Unsupported("post-processor " + Shown(*part), "/post_processor");
    }
    const json& single = Member(*part, "single");
    if (!single.is_array() || single.empty()) continue;
    const json& name = Member(Member(single[0], "SpecialToken"), "id");
    if (!name.is_string()) continue;
    for (std::size_t i = 0; i < model.tokens.size(); ++i) {
      if (model.tokens[i].text != name.get_ref<const std::string&>()) continue;
      model.metadata.bos = static_cast<TokenId>(i);
      model.metadata.wants_bos = true;
    }
    if (!model.metadata.bos) {
      return Fail(ErrorCode::kMalformed, "expected a known token, found " + Shown(name),
                  "/post_processor");
    }
  }
  return {};
}

}  // namespace

Result<BpeModel> ParseTokenizerJson(std::string_view text, const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const json root, ParseJsonText(text));
  const json& value = Member(root, "model");
  if (!value.is_object()) {
    return Fail(ErrorCode::kMalformed, "expected an object", "/model");
  }
  BpeModel model;
  model.tokens_key = "/model/vocab";
  model.merges_key = "/model/merges";
  ADJUDGE_RETURN_IF_ERROR(CheckModelOptions(value, model));
  ADJUDGE_RETURN_IF_ERROR(ReadNormalizer(root, model));
  ADJUDGE_RETURN_IF_ERROR(ReadPreTokenizer(root, model));
  ADJUDGE_RETURN_IF_ERROR(ReadDecoder(root, model));
  ADJUDGE_RETURN_IF_ERROR(ReadVocab(value, limits, model));
  ADJUDGE_RETURN_IF_ERROR(ReadMerges(value, model));
  if (const json& added = Member(root, "added_tokens"); added.is_array()) {
    for (std::size_t i = 0; i < added.size(); ++i) {
      ADJUDGE_RETURN_IF_ERROR(
          ReadAddedToken(added[i], "/added_tokens/" + std::to_string(i), limits, model));
    }
  } else if (!added.is_null()) {
    return Fail(ErrorCode::kMalformed, "expected an array", "/added_tokens");
  }
  ADJUDGE_RETURN_IF_ERROR(ReadPostProcessor(root, model));
  return model;
}

TokenizerResult LoadJsonTokenizer(std::string_view text, const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(BpeModel model, ParseTokenizerJson(text, limits));
  return MakeBpeTokenizer(std::move(model), limits);
}

}  // namespace adjudge
