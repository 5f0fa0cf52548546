// CompileJsonSchema: the text of a JSON Schema -> a recogniser of the JSON texts that satisfy it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/automaton/recognizer.h"
#include "engine/base/result.h"

namespace adjudge {

// The draft for schemas that name none in $schema. kAuto is 2020-12 in which old spellings (an
// array as `items`, a boolean exclusiveMinimum, `dependencies`) keep their old meaning.
enum class SchemaDialect : unsigned char {
  kAuto,
  kDraft4,
  kDraft6,
  kDraft7,
  kDraft2019,
  kDraft2020
};

enum class SchemaFormats : unsigned char {
  kAssert,    // the standard's formats are enforced, names that it does not know are annotations
  kStrict,    // a name that the standard does not know is refused
  kAnnotate,  // nothing is enforced
};

enum class SchemaSpace : unsigned char {
  kFree,     // up to 8 bytes of white space wherever JSON allows some between tokens
  kCompact,  // none
  kSpaced,   // ", " and ": "
  kIndent,   // as pretty-printers write it, `indent` spaces a level
};

struct JsonSchemaOptions {
  SchemaDialect dialect = SchemaDialect::kAuto;
  SchemaFormats formats = SchemaFormats::kAssert;
  SchemaSpace space = SchemaSpace::kFree;
  int indent = 2;
  // Keys in the order in which the schema names them, others last. Otherwise in any order.
  bool declared_order = false;
  // Numbers without exponents, and integers without a fraction. Otherwise in every spelling.
  bool plain_numbers = false;
  // Escapes in strings and keys only where JSON needs them: quotation marks, backslashes, controls.
  bool plain_strings = false;
  // Documents that references may lead to: uri without fragment -> text. The published meta-schemas
  // are known.
  std::map<std::string, std::string> documents;

  std::size_t max_bytes = 16U << 20;   // of the schema, and of each document
  std::size_t max_depth = 400;         // of nesting in them
  std::size_t max_values = 1'000'000;  // in them
  std::size_t max_cases = 2'000;       // alternatives that one schema stands for
  std::size_t max_states = 20'000;     // of the automaton of a pattern, format or set of keys
  std::int64_t max_steps = 4'000'000;  // of work to decide what a schema accepts
};

// Exactly the JSON texts (RFC 8259, strict UTF-8) that satisfy the schema, in the spellings that
// the options leave; no white space around them. A key may not come twice in an object, however it
// is spelt. Lone surrogates are not text.
//
// Errors, with the JSON pointer of the keyword: what is no schema, a reference that leads nowhere,
// what is not enforced exactly, a limit, a schema that nothing satisfies. `unknown_formats` takes
// the formats that were left as annotations.
Result<std::unique_ptr<Recognizer>> CompileJsonSchema(
    std::string_view schema, const JsonSchemaOptions& options = {},
    std::vector<std::string>* unknown_formats = nullptr);

}  // namespace adjudge
