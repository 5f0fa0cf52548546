// Small schemas that between them use every kind of case, for walks and masks.
#pragma once

namespace adjudge::testing {

struct SchemaRow {
  const char* name;
  const char* schema;
};

inline constexpr SchemaRow kSchemaRows[] = {
    {"anything", "true"},
    {"required", R"({"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"}}})"},
    {"closed",
     R"({"properties":{"a":{"enum":[1,"x",null,[1],{"k":2.50}]}},"additionalProperties":false})"},
    {"not_const",
     R"({"type":"object","properties":{"a":{"not":{"const":{"b":1}}}},"required":["a"]})"},
    {"not_properties",
     R"({"type":"object","not":{"properties":{"a":{"type":"string"},"b":{"minimum":3}}}})"},
    {"not_additional", R"({"type":"object","not":{"additionalProperties":{"type":"string"}}})"},
    {"patterns",
     R"({"type":"object","patternProperties":{"^x":{"type":"integer"},"y$":{"minimum":5}},
            "additionalProperties":{"type":"boolean"},"minProperties":2,"maxProperties":3})"},
    {"names",
     R"({"type":"object","propertyNames":{"maxLength":1,"pattern":"^[ab]"},"minProperties":2})"},
    {"range", R"({"type":"number","minimum":-2.5,"exclusiveMaximum":130,"multipleOf":0.75})"},
    {"not_multiple", R"({"type":"integer","minimum":10,"maximum":99,"not":{"multipleOf":2}})"},
    {"integer", R"({"type":"integer"})"},
    {"strings", R"({"type":"string","minLength":2,"maxLength":4,"pattern":"^[^a]*é"})"},
    {"not_texts", R"({"type":"string","maxLength":1,"not":{"enum":["","a","b"]}})"},
    {"contains",
     R"({"type":"array","contains":{"type":"integer"},"minContains":2,"maxContains":3,"maxItems":5})"},
    {"not_contains", R"({"type":"array","not":{"contains":{"type":"integer"}},"minItems":1})"},
    {"unique", R"({"type":"array","items":{"enum":[1,2,3,"a"]},"uniqueItems":true,"minItems":3})"},
    {"unique_tuple",
     R"({"type":"array","prefixItems":[{"enum":[1,2]},{"const":1}],"uniqueItems":true,"minItems":2})"},
    {"repeats", R"({"type":"array","not":{"uniqueItems":true},"items":{"type":"integer"}})"},
    {"one_of",
     R"({"oneOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]},{"type":"integer"}]})"},
    {"if", R"({"type":"object","properties":{"t":{"enum":["n","s"]}},"required":["t","v"],
            "if":{"properties":{"t":{"const":"n"}}},"then":{"properties":{"v":{"type":"integer"}}},
            "else":{"properties":{"v":{"type":"string"}}}})"},
    {"tree",
     R"({"type":"object","properties":{"v":{"type":"integer"},"c":{"type":"array","items":{"$ref":"#"}}},
            "required":["v"],"additionalProperties":false})"},
    {"unevaluated",
     R"({"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"properties":{"b":{"const":1}},"required":["b"]},
            {"properties":{"c":true},"required":["c"]}],"unevaluatedProperties":false})"},
    {"unevaluated_items",
     R"({"type":"array","prefixItems":[{"type":"string"}],"contains":{"type":"integer"},"unevaluatedItems":{"type":"null"}})"},
    {"dependent",
     R"({"type":"object","dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"maxProperties":2}},"minProperties":1})"}};

}  // namespace adjudge::testing
