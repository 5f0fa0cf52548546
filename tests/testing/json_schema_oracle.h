// A JSON Schema validator written plainly from the standard: slow, over whole parsed values. The
// oracle that the streaming constraint is compared with; itself checked against the official suite.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "constraints/schema/json_value.h"

namespace adjudge::testing {

enum class OracleDraft { k4, k6, k7, k2019, k2020 };

class JsonSchemaOracle {
 public:
  struct Options {
    OracleDraft draft = OracleDraft::k2020;  // where the schema names none
    bool assert_formats = true;
    std::map<std::string, std::string> documents;  // uri -> text
  };

  // Throws std::runtime_error on a schema that it cannot read.
  JsonSchemaOracle(std::string_view schema, Options options);
  ~JsonSchemaOracle();

  bool IsValid(const schema::JsonValue& value) const;
  // Parses first; a text that is no JSON (or repeats a key) is not valid.
  bool IsValidText(std::string_view text) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The format's own rule; true for a name that the standard does not know.
bool OracleFormat(const std::string& name, const std::string& text);

}  // namespace adjudge::testing
