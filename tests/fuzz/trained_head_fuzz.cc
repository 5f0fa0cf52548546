// The first byte chooses: a trained head, a pointer head, a calibration, or labelled texts.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "heads/labelled_texts.h"
#include "heads/pointer_head.h"
#include "heads/train_pointer.h"
#include "heads/trained_head.h"

namespace {

void CheckDistribution(const std::vector<double>& p, bool sums_to_one) {
  double sum = 0;
  for (const double value : p) {
    ADJUDGE_CHECK(value >= 0 && value <= 1 + 1e-9);
    sum += value;
  }
  ADJUDGE_CHECK(!sums_to_one || std::abs(sum - 1) < 1e-6);
}

void ReadTrained(std::string bytes) {
  const auto head = adjudge::TrainedHead::Parse(std::move(bytes));
  if (!head) return;
  ADJUDGE_CHECK(adjudge::TrainedHead::Parse(head->Bytes()).has_value());
  std::vector<float> state(static_cast<std::size_t>(head->model.width));
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = i % 2 == 0 ? 3e38F : -1e-3F;
  CheckDistribution(head->Probabilities(state),
                    head->model.kind != adjudge::LabelKind::kMultiLabel);
}

void ReadPointer(std::string bytes) {
  const auto head = adjudge::PointerHead::Parse(std::move(bytes));
  if (!head) return;
  ADJUDGE_CHECK(adjudge::PointerHead::Parse(head->Bytes()).has_value());
  const std::vector<float> row(static_cast<std::size_t>(head->dim()), 3e38F);
  for (const double logit : head->Logits(row, row)) ADJUDGE_CHECK(std::isfinite(logit));
}

void ReadCalibration(const std::string& text) {
  const auto calibration = adjudge::Calibration::FromJson(text, adjudge::LabelKind::kMultiClass, 2);
  if (!calibration) return;
  for (const double score : {0.0, 3.0, -1e30, 1e115}) {
    CheckDistribution(calibration->Probabilities(std::vector<double>{0.0, score}), true);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string rest(data + 1, data + size);
  switch (data[0]) {
    case 'h':
      ReadTrained(std::move(rest));
      break;
    case 'p':
      ReadPointer(std::move(rest));
      break;
    case 'k':
      ReadCalibration(rest);
      break;
    case 'c':
      (void)adjudge::ParseLabelledCsv(rest, {.label_separator = "|"});
      break;
    case 'j':
      (void)adjudge::ParseLabelledJsonLines(rest);
      break;
    case 'e':
      (void)adjudge::ParsePointerExamples(rest);
      break;
    default:
      break;
  }
  return 0;
}
