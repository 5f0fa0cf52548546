#include "constraints/schema/formats.h"

#include <map>

#include "constraints/schema/pattern.h"

namespace adjudge::schema {
namespace {

constexpr std::size_t kMaxStates = 20'000;

std::string Group(const std::string& text) { return "(?:" + text + ")"; }

// RFC 3339 section 5.6 and appendix C: months have their days, leap years are those of Gregory.
std::string Date() {
  return Group(
      R"(\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8])))"
      R"(|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)");
}

// A leap second stands at 23:59:60 of universal time; written here only in that zone.
std::string Time() {
  const std::string offset = R"((?:[zZ]|[+-](?:[01]\d|2[0-3]):[0-5]\d))";
  return Group(R"((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?)" + offset +
               R"(|23:59:60(?:\.\d+)?(?:[zZ]|[+-]00:00))");
}

// RFC 3339 appendix A.
std::string Duration() {
  const std::string time = R"(T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))";
  const std::string date = R"((?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D))";
  return "P" + Group(date + "(?:" + time + ")?|" + time + R"(|\d+W)");
}

const char kByte[] = R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))";

std::string Ipv4() { return std::string(kByte) + "(?:\\." + kByte + "){3}"; }

// RFC 4291 section 2.2, as the ABNF of RFC 3986 has it.
std::string Ipv6() {
  const std::string h = "[0-9a-fA-F]{1,4}";
  const std::string last = Group(h + ":" + h + "|" + Ipv4());
  std::string all = "(?:" + h + ":){6}" + last + "|::(?:" + h + ":){5}" + last;
  for (int before = 0; before <= 5; ++before) {
    const std::string left =
        before == 0 ? Group(h) + "?"
                    : Group("(?:" + h + ":){0," + std::to_string(before) + "}" + h) + "?";
    const int after = 4 - before;
    if (after >= 0) {
      all += "|" + left + "::(?:" + h + ":){" + std::to_string(after) + "}" + last;
    } else {
      all += "|" + left + "::" + h;
    }
  }
  const std::string six = Group("(?:" + h + ":){0,6}" + h) + "?";
  return Group(all + "|" + six + "::");
}

// No "--" in the third and fourth place: such labels are coded ones, which IDNA's tables judge.
std::string Label() {
  const std::string l = "[a-zA-Z0-9]";
  const std::string m = "[a-zA-Z0-9-]";
  return l +
         Group(l + "|" + m + l + "|" + m + m + l + "|" + m + Group(l + m + "|-" + l) + m +
               "{0,58}" + l) +
         "?";
}

// RFC 3986; with `wide`, RFC 3987.
struct UriParts {
  std::string uri;
  std::string reference;
};
UriParts Uri(bool wide) {
  const std::string other =
      wide
          ? R"(\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD})"
            R"(\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD})"
            R"(\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD})"
            R"(\u{E1000}-\u{EFFFD})"
          : "";
  const std::string private_use =
      wide ? R"(\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD})" : "";
  const std::string unreserved = R"(a-zA-Z0-9._~\-)" + other;
  const std::string sub = R"(!$&'()*+,;=)";
  const auto chars = [&](const std::string& more) {
    return Group("[" + unreserved + sub + more + "]|%[0-9a-fA-F]{2}");
  };
  const std::string pchar = chars(":@");
  const std::string literal =
      R"(\[(?:)" + Ipv6() + R"(|[vV][0-9a-fA-F]+\.[a-zA-Z0-9._~\-!$&'()*+,;=:]+)\])";
  const std::string authority =
      Group(chars(":") + "*@") + "?" + Group(literal + "|" + chars("") + "*") + R"((?::\d*)?)";
  const std::string segments = Group("/" + pchar + "*") + "*";
  const std::string rootless = pchar + "+" + segments;
  const std::string absolute = "/" + Group(rootless) + "?";
  const std::string no_colon = chars("@") + "+" + segments;
  const std::string query = Group("\\?" + Group(pchar + "|[/?" + private_use + "]") + "*") + "?";
  const std::string fragment = Group("#" + Group(pchar + "|[/?]") + "*") + "?";
  const std::string hier =
      Group("//" + authority + segments + "|" + absolute + "|" + rootless + "|");
  const std::string relative =
      Group("//" + authority + segments + "|" + absolute + "|" + no_colon + "|");
  const std::string uri = R"([a-zA-Z][a-zA-Z0-9+.\-]*:)" + hier + query + fragment;
  return {uri, Group(uri + "|" + relative + query + fragment)};
}

// RFC 5321 section 4.1.2, without the limits on lengths.
std::string Email() {
  const std::string atom = R"([a-zA-Z0-9!#$%&'*+/=?^_`{|}~\-]+)";
  const std::string quoted = R"("(?:[\x20\x21\x23-\x5B\x5D-\x7E]|\\[\x20-\x7E])*")";
  const std::string local = Group(atom + "(?:\\." + atom + ")*|" + quoted);
  const std::string label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
  const std::string domain = Group(label + "(?:\\." + label + ")*");
  const std::string literal = R"(\[(?:)" + Ipv4() + "|IPv6:" + Ipv6() + R"()\])";
  return local + "@" + Group(domain + "|" + literal);
}

// RFC 6570.
std::string UriTemplate() {
  const std::string literal =
      R"((?:[\x21\x23\x24\x26\x28-\x3B\x3D\x3F-\x5B\x5D\x5F\x61-\x7A\x7E\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF)"
      R"(\uE000-\uF8FF\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD})"
      R"(\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD})"
      R"(\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}\u{F0000}-\u{FFFFD})"
      R"(\u{100000}-\u{10FFFD}]|%[0-9a-fA-F]{2}))";
  const std::string varchar = "(?:[a-zA-Z0-9_]|%[0-9a-fA-F]{2})";
  const std::string name = varchar + "(?:\\.?" + varchar + ")*";
  const std::string spec = name + R"((?::[1-9]\d{0,3}|\*)?)";
  return Group(literal + R"(|\{[+#./;?&=,!@|]?)" + spec + "(?:," + spec + ")*\\}") + "*";
}

std::string JsonPointer() { return R"((?:/(?:[^~/]|~[01])*)*)"; }

const std::map<std::string, std::string>& Regexes() {
  static const std::map<std::string, std::string> kRegexes = [] {
    const std::string uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
    return std::map<std::string, std::string>{
        {"date", Date()},
        {"time", Time()},
        {"date-time", Date() + "[tT]" + Time()},
        {"duration", Duration()},
        {"email", Email()},
        {"hostname", Label() + "(?:\\." + Label() + ")*"},
        {"ipv4", Ipv4()},
        {"ipv6", Ipv6()},
        {"uuid", uuid},
        {"uri", Uri(false).uri},
        {"uri-reference", Uri(false).reference},
        {"iri", Uri(true).uri},
        {"iri-reference", Uri(true).reference},
        {"uri-template", UriTemplate()},
        {"json-pointer", JsonPointer()},
        {"relative-json-pointer", R"((?:0|[1-9]\d*)(?:#|)" + JsonPointer() + ")"},
    };
  }();
  return kRegexes;
}

}  // namespace

std::optional<Result<PatternLanguage>> LanguageOfFormat(LanguagePool& pool,
                                                        const std::string& name) {
  const auto regex = Regexes().find(name);
  if (regex == Regexes().end()) {
    if (name == "idn-hostname" || name == "idn-email") {
      return Result<PatternLanguage>(
          Fail(ErrorCode::kUnsupported,
               "the format " + name + " needs the tables of IDNA and is not enforced"));
    }
    if (name == "regex") {
      return Result<PatternLanguage>(
          Fail(ErrorCode::kUnsupported,
               "the format regex nests without end, so no automaton of strings enforces it"));
    }
    return {};
  }
  auto language = LanguageOfPattern(pool, regex->second, true, kMaxStates);
  if (language && name == "hostname") language->most = 253;  // RFC 1035
  return language;
}

}  // namespace adjudge::schema
