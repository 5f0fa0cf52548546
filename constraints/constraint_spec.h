// ConstraintSpec: what a text must be, before a vocabulary is known.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "constraints/json_schema.h"

namespace adjudge {

struct StructuralTag;

// A value. Made by the functions below.
struct ConstraintSpec {
  enum class Kind : unsigned char {
    kGrammar,       // text: EBNF (grammars/ebnf.h)
    kRegex,         // text: an ECMAScript regex that matches the whole text
    kChoice,        // texts: one of them, byte for byte
    kUnion,         // one of the parts
    kSequence,      // the parts, one after another
    kIntersection,  // all of the parts: regexes, choices, and unions and intersections of them
    kJsonSchema,    // text: a JSON Schema, under `schema` (constraints/json_schema.h)
    kTags,          // free text in which each tag's beginning is followed by its content and end
  };

  Kind kind = Kind::kGrammar;
  std::string text;
  std::vector<std::string> texts;
  std::vector<ConstraintSpec> parts;
  std::vector<StructuralTag> tags;
  JsonSchemaOptions schema;

  static ConstraintSpec Grammar(std::string text);
  static ConstraintSpec Regex(std::string text);
  static ConstraintSpec Choice(std::vector<std::string> texts);
  static ConstraintSpec Union(std::vector<ConstraintSpec> parts);
  static ConstraintSpec Sequence(std::vector<ConstraintSpec> parts);
  static ConstraintSpec Intersection(std::vector<ConstraintSpec> parts);
  static ConstraintSpec JsonSchema(std::string text, JsonSchemaOptions options = {});
  static ConstraintSpec Tags(std::vector<StructuralTag> tags);
};

// Free text runs until a tag's `begin` is complete; then come the content and `end`, and free text
// again. Free text holds no `begin` otherwise.
struct StructuralTag {
  std::string begin;  // not empty
  ConstraintSpec content;
  std::string end;  // may be empty
};

inline ConstraintSpec ConstraintSpec::Grammar(std::string text) {
  ConstraintSpec spec;
  spec.text = std::move(text);
  return spec;
}
inline ConstraintSpec ConstraintSpec::Regex(std::string text) {
  ConstraintSpec spec;
  spec.kind = Kind::kRegex;
  spec.text = std::move(text);
  return spec;
}
inline ConstraintSpec ConstraintSpec::Choice(std::vector<std::string> texts) {
  ConstraintSpec spec;
  spec.kind = Kind::kChoice;
  spec.texts = std::move(texts);
  return spec;
}
inline ConstraintSpec ConstraintSpec::Union(std::vector<ConstraintSpec> parts) {
  ConstraintSpec spec;
  spec.kind = Kind::kUnion;
  spec.parts = std::move(parts);
  return spec;
}
inline ConstraintSpec ConstraintSpec::Sequence(std::vector<ConstraintSpec> parts) {
  ConstraintSpec spec;
  spec.kind = Kind::kSequence;
  spec.parts = std::move(parts);
  return spec;
}
inline ConstraintSpec ConstraintSpec::Intersection(std::vector<ConstraintSpec> parts) {
  ConstraintSpec spec;
  spec.kind = Kind::kIntersection;
  spec.parts = std::move(parts);
  return spec;
}
inline ConstraintSpec ConstraintSpec::JsonSchema(std::string text, JsonSchemaOptions options) {
  ConstraintSpec spec;
  spec.kind = Kind::kJsonSchema;
  spec.text = std::move(text);
  spec.schema = std::move(options);
  return spec;
}
inline ConstraintSpec ConstraintSpec::Tags(std::vector<StructuralTag> tags) {
  ConstraintSpec spec;
  spec.kind = Kind::kTags;
  spec.tags = std::move(tags);
  return spec;
}

}  // namespace adjudge
