#include "grammars/unicode/properties.h"

#include <utf8proc.h>

#include <array>
#include <string>

#include "engine/base/utf8.h"

namespace adjudge {
namespace {

struct Category {
  std::string_view short_name;
  std::string_view long_name;
};

// In the order of utf8proc_category_t.
constexpr std::array<Category, 30> kCategories = {{
    {"Cn", "Unassigned"},
    {"Lu", "Uppercase_Letter"},
    {"Ll", "Lowercase_Letter"},
    {"Lt", "Titlecase_Letter"},
    {"Lm", "Modifier_Letter"},
    {"Lo", "Other_Letter"},
    {"Mn", "Nonspacing_Mark"},
    {"Mc", "Spacing_Mark"},
    {"Me", "Enclosing_Mark"},
    {"Nd", "Decimal_Number"},
    {"Nl", "Letter_Number"},
    {"No", "Other_Number"},
    {"Pc", "Connector_Punctuation"},
    {"Pd", "Dash_Punctuation"},
    {"Ps", "Open_Punctuation"},
    {"Pe", "Close_Punctuation"},
    {"Pi", "Initial_Punctuation"},
    {"Pf", "Final_Punctuation"},
    {"Po", "Other_Punctuation"},
    {"Sm", "Math_Symbol"},
    {"Sc", "Currency_Symbol"},
    {"Sk", "Modifier_Symbol"},
    {"So", "Other_Symbol"},
    {"Zs", "Space_Separator"},
    {"Zl", "Line_Separator"},
    {"Zp", "Paragraph_Separator"},
    {"Cc", "Control"},
    {"Cf", "Format"},
    {"Cs", "Surrogate"},
    {"Co", "Private_Use"},
}};
static_assert(UTF8PROC_CATEGORY_CO == 29);

constexpr std::array<Category, 7> kGroups = {{{"L", "Letter"},
                                              {"M", "Mark"},
                                              {"N", "Number"},
                                              {"P", "Punctuation"},
                                              {"S", "Symbol"},
                                              {"Z", "Separator"},
                                              {"C", "Other"}}};

// Bit i: category i belongs.
std::uint32_t CategoryBits(std::string_view name) {
  if (name == "LC" || name == "Cased_Letter") return 0b1110;
  if (name == "digit") name = "Nd";
  if (name == "punct") name = "P";
  if (name == "cntrl") name = "Cc";
  std::uint32_t bits = 0;
  for (const Category& group : kGroups) {
    if (name == group.short_name || name == group.long_name) name = group.short_name;
  }
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    const Category& category = kCategories[i];
    const bool in_group = name.size() == 1 && category.short_name[0] == name[0];
    if (in_group || name == category.short_name || name == category.long_name) bits |= 1U << i;
  }
  return bits;
}

template <typename Belongs>
CodePointSet Collect(Belongs belongs) {
  CodePointSet set;
  char32_t first = 0;
  bool open = false;
  for (char32_t code = 0; code <= kLastCodePoint + 1; ++code) {
    const bool in = code <= kLastCodePoint && belongs(code);
    if (in && !open) first = code;
    if (!in && open) set.Add(first, code - 1);
    open = in;
  }
  return set;
}

}  // namespace

std::optional<CodePointSet> UnicodeProperty(std::string_view name) {
  for (const std::string_view prefix : {"General_Category=", "gc="}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  if (name == "Any") return CodePointSet::All();
  if (name == "ASCII") return CodePointSet(0, 0x7F);
  if (name == "White_Space" || name == "space") return Collect(IsUnicodeSpace);
  if (name == "Assigned") return UnicodeProperty("Cn")->Complement();
  const std::uint32_t bits = CategoryBits(name);
  if (bits == 0) return std::nullopt;
  return Collect([bits](char32_t code) {
    return ((bits >> utf8proc_category(static_cast<utf8proc_int32_t>(code))) & 1U) != 0;
  });
}

CodePointSet RegexSpaces() {
  CodePointSet set(0x09, 0x0D);
  for (const char32_t code : {0x20, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF}) {
    set.Add(code);
  }
  set.Add(0x2000, 0x200A);
  return set;
}

}  // namespace adjudge
