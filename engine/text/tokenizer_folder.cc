#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/text/json_text.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/tokenizer_json.h"
#include "engine/text/tokenizer_sources.h"

namespace adjudge {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// The small files of a model folder; null where a file is absent.
struct FolderFiles {
  json tokenizer_config;
  json config;
  json generation_config;
  std::optional<std::string> chat_template;  // chat_template.jinja
};

// The same error with the file's name before its place.
tl::unexpected<Error> InFile(const fs::path& path, Error error) {
  const std::string name = path.filename().string();
  error.place = error.place.empty() ? name : name + ": " + error.place;
  return tl::unexpected<Error>(std::move(error));
}

Result<json> ReadJson(const fs::path& path, const TokenizerLimits& limits) {
  std::error_code error;
  if (!fs::exists(path, error)) return json();
  ADJUDGE_ASSIGN_OR_RETURN(const std::string text, ReadTokenizerFile(path, limits));
  auto parsed = ParseJsonText(text);
  if (!parsed) return InFile(path, std::move(parsed).error());
  return parsed;
}

Result<FolderFiles> ReadFolderFiles(const fs::path& folder, const TokenizerLimits& limits) {
  FolderFiles files;
  ADJUDGE_ASSIGN_OR_RETURN(files.tokenizer_config,
                           ReadJson(folder / "tokenizer_config.json", limits));
  ADJUDGE_ASSIGN_OR_RETURN(files.config, ReadJson(folder / "config.json", limits));
  ADJUDGE_ASSIGN_OR_RETURN(files.generation_config,
                           ReadJson(folder / "generation_config.json", limits));
  std::error_code error;
  if (const fs::path jinja = folder / "chat_template.jinja"; fs::exists(jinja, error)) {
    ADJUDGE_ASSIGN_OR_RETURN(files.chat_template, ReadTokenizerFile(jinja, limits));
  }
  return files;
}

using FindName = std::function<std::optional<TokenId>(std::string_view)>;

// "bos_token" and "eos_token": a string, an object with "content", or null.
Result<std::optional<TokenId>> NamedToken(const json& config, const char* key,
                                          const FindName& find) {
  const json& value = Member(config, key);
  if (value.is_null()) return std::nullopt;
  const json& name = value.is_object() ? Member(value, "content") : value;
  const std::string place = std::string("tokenizer_config.json: /") + key;
  if (!name.is_string()) {
    return Fail(ErrorCode::kMalformed, "expected a token's name, found " + Shown(value), place);
  }
  const auto id = find(name.get_ref<const std::string&>());
  if (!id) {
    return Fail(ErrorCode::kMalformed, "expected a token of the vocabulary, found " + Shown(name),
                place);
  }
  return id;
}

// An id or a list of ids; absent or null gives none.
Result<std::vector<TokenId>> IdList(const json& config, const char* file, const char* key,
                                    std::size_t n_tokens) {
  const json& value = Member(config, key);
  std::vector<TokenId> ids;
  if (value.is_null()) return ids;
  const json list = value.is_array() ? value : json::array({value});
  for (const json& id : list) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= n_tokens) {
      return Fail(
          ErrorCode::kMalformed,
          "expected the id of one of " + std::to_string(n_tokens) + " tokens, found " + Shown(id),
          std::string(file) + ": /" + key);
    }
    ids.push_back(id.get<TokenId>());
  }
  return ids;
}

std::optional<std::string> TemplateOf(const json& tokenizer_config) {
  const json& value = Member(tokenizer_config, "chat_template");
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return std::nullopt;
  for (const json& entry : value) {
    if (Member(entry, "name") == "default" && Member(entry, "template").is_string()) {
      return Member(entry, "template").get<std::string>();
    }
  }
  return std::nullopt;
}

Status ReadWidth(const json& config, TokenizerMetadata& metadata) {
  const json* value = &Member(config, "vocab_size");
  if (value->is_null()) value = &Member(Member(config, "text_config"), "vocab_size");
  if (value->is_null()) return {};
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > INT32_MAX) {
    return Fail(ErrorCode::kMalformed, "expected a number of tokens, found " + Shown(*value),
                "config.json: /vocab_size");
  }
  metadata.width = value->get<int>();
  return {};
}

// Fills `metadata` (which holds what the vocabulary's own file says) from the folder's files.
Status ReadMetadata(const FolderFiles& files, std::size_t n_tokens, const FindName& find,
                    TokenizerMetadata& metadata) {
  const auto add_stops = [&](const std::vector<TokenId>& ids) {
    metadata.stop_ids.insert(metadata.stop_ids.end(), ids.begin(), ids.end());
  };
  ADJUDGE_ASSIGN_OR_RETURN(const auto bos, NamedToken(files.tokenizer_config, "bos_token", find));
  ADJUDGE_ASSIGN_OR_RETURN(const auto eos, NamedToken(files.tokenizer_config, "eos_token", find));
  if (bos) metadata.bos = bos;
  if (eos) {
    metadata.eos = eos;
    metadata.stop_ids = {*eos};
  }
  ADJUDGE_ASSIGN_OR_RETURN(const auto config_bos,
                           IdList(files.config, "config.json", "bos_token_id", n_tokens));
  ADJUDGE_ASSIGN_OR_RETURN(const auto config_eos,
                           IdList(files.config, "config.json", "eos_token_id", n_tokens));
  ADJUDGE_ASSIGN_OR_RETURN(
      const auto generation_eos,
      IdList(files.generation_config, "generation_config.json", "eos_token_id", n_tokens));
  if (!metadata.bos && !config_bos.empty()) metadata.bos = config_bos.front();
  if (!metadata.eos && !config_eos.empty()) metadata.eos = config_eos.front();
  add_stops(config_eos);
  add_stops(generation_eos);
  ADJUDGE_ASSIGN_OR_RETURN(const bool wants_bos,
                           BoolMember(files.tokenizer_config, "add_bos_token", metadata.wants_bos,
                                      "tokenizer_config.json: "));
  metadata.wants_bos = wants_bos && metadata.bos.has_value();
  metadata.chat_template =
      files.chat_template ? files.chat_template : TemplateOf(files.tokenizer_config);
  return ReadWidth(files.config, metadata);
}

// added_tokens_decoder says which pieces are control tokens, and adds tokens past the model's own.
Status AddTokens(const json& tokenizer_config, const TokenizerLimits& limits,
                 SentencePieceModel& model) {
  using PieceType = SentencePieceModel::PieceType;
  const json& added = Member(tokenizer_config, "added_tokens_decoder");
  if (!added.is_object()) return {};
  for (const auto& [key, value] : added.items()) {
    const std::string place = "tokenizer_config.json: /added_tokens_decoder/" + key;
    const json& content = Member(value, "content");
    const bool number =
        !key.empty() && key.size() < 9 && key.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t id = number ? std::stoul(key) : limits.max_tokens;
    if (id >= limits.max_tokens || !content.is_string() || content == "") {
      return Fail(ErrorCode::kMalformed, "expected a token id and its text, found " + Shown(value),
                  place);
    }
    ADJUDGE_ASSIGN_OR_RETURN(const bool special, BoolMember(value, "special", false, place));
    while (model.pieces.size() <= id) {
      model.pieces.push_back(
          {"[PAD" + std::to_string(model.pieces.size()) + "]", 0, PieceType::kUnused});
    }
    SentencePieceModel::Piece& piece = model.pieces[id];
    if (piece.type == PieceType::kUnused) {
      piece.text = content.get<std::string>();
      piece.type = PieceType::kUserDefined;
    } else if (piece.text != content.get_ref<const std::string&>()) {
      return Fail(ErrorCode::kMalformed,
                  "expected \"" + piece.text + "\", which the model has, found " + Shown(content),
                  place);
    }
    if (special && piece.type != PieceType::kUnknown) piece.type = PieceType::kControl;
  }
  return {};
}

TokenizerResult LoadModelFolder(const fs::path& path, const FolderFiles& files,
                                const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::string bytes, ReadTokenizerFile(path, limits));
  auto parsed = ParseSentencePieceModel(bytes);
  if (!parsed) return InFile(path, std::move(parsed).error());
  SentencePieceModel model = *std::move(parsed);
  ADJUDGE_RETURN_IF_ERROR(AddTokens(files.tokenizer_config, limits, model));
  TokenizerMetadata metadata = MetadataOf(model);
  const FindName find = [&](std::string_view name) -> std::optional<TokenId> {
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
      if (model.pieces[i].text == name) return static_cast<TokenId>(i);
    }
    return std::nullopt;
  };
  ADJUDGE_RETURN_IF_ERROR(ReadMetadata(files, model.pieces.size(), find, metadata));
  return MakeSentencePieceTokenizer(std::move(model), std::move(metadata), "pieces", limits);
}

TokenizerResult LoadJsonFolder(const fs::path& path, const FolderFiles& files,
                               const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::string text, ReadTokenizerFile(path, limits));
  auto parsed = ParseTokenizerJson(text, limits);
  if (!parsed) return InFile(path, std::move(parsed).error());
  BpeModel model = *std::move(parsed);
  const FindName find = [&](std::string_view name) -> std::optional<TokenId> {
    for (std::size_t i = 0; i < model.tokens.size(); ++i) {
      if (model.tokens[i].text == name) return static_cast<TokenId>(i);
    }
    return std::nullopt;
  };
  ADJUDGE_RETURN_IF_ERROR(ReadMetadata(files, model.tokens.size(), find, model.metadata));
  return MakeBpeTokenizer(std::move(model), limits);
}

}  // namespace

TokenizerResult LoadFolderTokenizer(const fs::path& folder, const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const FolderFiles files, ReadFolderFiles(folder, limits));
  std::error_code error;
  if (const fs::path path = folder / "tokenizer.model"; fs::exists(path, error)) {
    return LoadModelFolder(path, files, limits);
  }
  if (const fs::path path = folder / "tokenizer.json"; fs::exists(path, error)) {
    return LoadJsonFolder(path, files, limits);
  }
  return Fail(ErrorCode::kNotFound,
              "expected tokenizer.model or tokenizer.json in the folder, found neither",
              folder.string());
}

}  // namespace adjudge
