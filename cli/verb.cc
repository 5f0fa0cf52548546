#include "cli/verb.h"

namespace adjudge::cli {

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
