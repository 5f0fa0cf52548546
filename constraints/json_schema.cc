#include "constraints/json_schema.h"

#include <utility>

#include "constraints/schema/case_space.h"
#include "constraints/schema/schema_recognizer.h"
#include "constraints/schema/schema_set.h"

namespace adjudge {
namespace {

schema::Draft DraftOf(SchemaDialect dialect) {
  switch (dialect) {
    case SchemaDialect::kDraft4:
      return schema::Draft::k4;
    case SchemaDialect::kDraft6:
      return schema::Draft::k6;
    case SchemaDialect::kDraft7:
      return schema::Draft::k7;
    case SchemaDialect::kDraft2019:
      return schema::Draft::k2019;
    default:
      return schema::Draft::k2020;
  }
}

}  // namespace

Result<std::unique_ptr<Recognizer>> CompileJsonSchema(std::string_view text,
                                                      const JsonSchemaOptions& options,
                                                      std::vector<std::string>* unknown_formats) {
  schema::SchemaSet::Options set_options;
  set_options.draft = DraftOf(options.dialect);
  set_options.draft_given = options.dialect != SchemaDialect::kAuto;
  set_options.documents = options.documents;
  set_options.limits = {options.max_bytes, options.max_depth, options.max_values};
  ADJUDGE_ASSIGN_OR_RETURN(auto set, schema::SchemaSet::Load(text, set_options));
  schema::LoweringOptions lowering;
  lowering.assert_formats = options.formats != SchemaFormats::kAnnotate;
  lowering.strict_formats = options.formats == SchemaFormats::kStrict;
  schema::SpaceLimits limits;
  limits.max_cases = options.max_cases;
  limits.max_states = options.max_states;
  limits.max_steps = options.max_steps;
  auto space = std::make_unique<schema::CaseSpace>(*set, lowering, limits);
  ADJUDGE_ASSIGN_OR_RETURN(const schema::FormulaId root, space->lowering().Root());
  ADJUDGE_RETURN_IF_ERROR(space->LowerAll(root));
  const bool satisfiable = space->IsSatisfiable(root);
  if (!space->status()) return tl::unexpected<Error>(space->status().error());
  if (!satisfiable) {
    return Fail(ErrorCode::kInvalidArgument, "no JSON text satisfies the schema", "/");
  }
  if (unknown_formats != nullptr) {
    const auto& names = space->lowering().unknown_formats();
    unknown_formats->assign(names.begin(), names.end());
  }
  return std::make_unique<schema::SchemaRecognizer>(std::move(set), root, std::move(space),
                                                    options);
}

}  // namespace adjudge
