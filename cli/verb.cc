#include "cli/verb.h"

#include <charconv>
#include <cstdint>
#include <limits>

namespace adjudge::cli {

namespace {

// CLI11 lets a number wrap around or saturate, and reads 010 as eight.
template <typename T>
CLI::Validator Decimal(T least, T most, const std::string& range) {
  return CLI::Validator(
      [least, most, range](std::string& text) -> std::string {
        T value = 0;
        const char* end = text.data() + text.size();
        const auto [after, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && after == end && value >= least && value <= most) {
          text = std::to_string(value);
          return {};
        }
        return "expected a whole number from " + range + ", found \"" + text + "\"";
      },
      "");
}

}  // namespace

CLI::Validator WholeNumber(int least, int most) {
  return Decimal(least, most, std::to_string(least) + " to " + std::to_string(most));
}

CLI::Validator SeedNumber() {
  return Decimal(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), "0 to 2^64 - 1");
}

CLI::Option* AddRepeated(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                         const std::string& description) {
  return verb
      .add_option(
          name,
          [&values](const CLI::results_t& given) {
            values = given;
            return true;
          },
          description)
      ->type_name("TEXT")
      ->type_size(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

}  // namespace adjudge::cli
