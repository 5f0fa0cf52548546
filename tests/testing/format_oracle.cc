// The formats of the standard, each as a plain checker of whole texts. Names that are not done here
// hold for every text; the constraint refuses those.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/testing/json_schema_oracle.h"

namespace adjudge::testing {
namespace {

bool Digit(char c) { return c >= '0' && c <= '9'; }
bool Hex(char c) { return Digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
bool Letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// `n` digits at `at`, as a number, or -1.
int Number(const std::string& text, std::size_t at, std::size_t n) {
  if (at + n > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + n; ++i) {
    if (!Digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool Date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const int year = Number(text, 0, 4);
  const int month = Number(text, 5, 2);
  const int day = Number(text, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1) return false;
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool Time(const std::string& text) {
  const int hour = Number(text, 0, 2);
  const int minute = Number(text, 3, 2);
  const int second = Number(text, 6, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
  if (text[2] != ':' || text[5] != ':') return false;
  std::size_t at = 8;
  if (at < text.size() && text[at] == '.') {
    const std::size_t first = ++at;
    while (at < text.size() && Digit(text[at])) ++at;
    if (at == first) return false;
  }
  if (at >= text.size()) return false;
  int offset = 0;
  if ((text[at] | 0x20) == 'z') {
    if (at + 1 != text.size()) return false;
  } else {
    const int h = Number(text, at + 1, 2);
    const int m = Number(text, at + 4, 2);
    if ((text[at] != '+' && text[at] != '-') || h < 0 || h > 23 || m < 0 || m > 59 ||
        text[at + 3] != ':' || at + 6 != text.size()) {
      return false;
    }
    offset = (text[at] == '+' ? 1 : -1) * (h * 60 + m);
  }
  const int utc = ((hour * 60 + minute - offset) % 1440 + 1440) % 1440;
  return second < 60 || utc == 1439;
}

bool Duration(const std::string& text) {
  if (text.size() < 3 || text[0] != 'P') return false;
  std::size_t at = 1;
  const auto run = [&](const std::string& units, bool& any) {
    // Units in order, each at most once, none left out between the first and the last.
    int last = -1;
    while (at < text.size() && Digit(text[at])) {
      while (at < text.size() && Digit(text[at])) ++at;
      if (at >= text.size()) return false;
      const auto unit = units.find(text[at]);
      if (unit == std::string::npos) return false;
      if (last >= 0 && static_cast<int>(unit) != last + 1) return false;
      last = static_cast<int>(unit);
      ++at;
      any = true;
    }
    return true;
  };
  bool any = false;
  if (text.back() == 'W') {
    return run("W", any) && any && at == text.size();
  }
  if (!run("YMD", any)) return false;
  if (at < text.size() && text[at] == 'T') {
    ++at;
    bool timed = false;
    if (!run("HMS", timed) || !timed) return false;
    any = true;
  }
  return any && at == text.size();
}

bool Ipv4(const std::string& text) {
  const auto parts = Split(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](const std::string& p) {
           return !p.empty() && p.size() <= 3 && std::all_of(p.begin(), p.end(), Digit) &&
                  (p.size() == 1 || p[0] != '0') && std::stoi(p) <= 255;
         });
}

bool Ipv6(const std::string& text) {
  std::size_t gap = text.find("::");
  if (gap != std::string::npos && text.find("::", gap + 1) != std::string::npos) return false;
  const auto count = [](const std::string& side, bool last, int& n) {
    if (side.empty()) return true;
    const auto parts = Split(side, ':');
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (last && i + 1 == parts.size() && parts[i].find('.') != std::string::npos) {
        if (!Ipv4(parts[i])) return false;
        n += 2;
      } else if (parts[i].empty() || parts[i].size() > 4 ||
                 !std::all_of(parts[i].begin(), parts[i].end(), Hex)) {
        return false;
      } else {
        ++n;
      }
    }
    return true;
  };
  int n = 0;
  if (gap == std::string::npos) return count(text, true, n) && n == 8;
  return count(text.substr(0, gap), false, n) && count(text.substr(gap + 2), true, n) && n <= 7;
}

bool Hostname(const std::string& text, bool limits) {
  if (text.empty() || (limits && text.size() > 253)) return false;
  for (const std::string& label : Split(text, '.')) {
    if (label.empty() || (limits && label.size() > 63) || label[0] == '-' || label.back() == '-') {
      return false;
    }
    for (const char c : label) {
      if (!Letter(c) && !Digit(c) && c != '-') return false;
    }
    if (limits && label.compare(2 < label.size() ? 2 : 0, 2, "--") == 0) return false;
  }
  return true;
}

bool Email(const std::string& text) {
  const std::size_t sign = text.rfind('@');
  if (sign == std::string::npos || sign == 0) return false;
  const std::string local = text.substr(0, sign);
  const std::string domain = text.substr(sign + 1);
  if (local[0] == '"') {
    if (local.size() < 2 || local.back() != '"') return false;
    for (std::size_t i = 1; i + 1 < local.size(); ++i) {
      if (local[i] == '\\') {
        if (++i + 1 >= local.size()) return false;
      } else if (local[i] == '"') {
        return false;
      }
      if (local[i] < 0x20 || local[i] > 0x7E) return false;
    }
  } else {
    for (const std::string& atom : Split(local, '.')) {
      if (atom.empty()) return false;
      for (const char c : atom) {
        if (!Letter(c) && !Digit(c) &&
            std::string("!#$%&'*+/=?^_`{|}~-").find(c) == std::string::npos) {
          return false;
        }
      }
    }
  }
  if (domain.size() > 2 && domain[0] == '[' && domain.back() == ']') {
    const std::string inside = domain.substr(1, domain.size() - 2);
    return inside.compare(0, 5, "IPv6:") == 0 ? Ipv6(inside.substr(5)) : Ipv4(inside);
  }
  return Hostname(domain, false);
}

bool Uuid(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !Hex(text[i])) return false;
  }
  return true;
}

bool Pointer(const std::string& text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 >= text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) {
      return false;
    }
  }
  return true;
}

bool RelativePointer(const std::string& text) {
  std::size_t n = 0;
  while (n < text.size() && Digit(text[n])) ++n;
  if (n == 0 || (n > 1 && text[0] == '0')) return false;
  return text.substr(n) == "#" || Pointer(text.substr(n));
}

// RFC 3986 part by part; bytes beyond ASCII are let pass where `wide`.
bool Uri(const std::string& text, bool reference, bool wide) {
  const auto chars = [wide](const std::string& part, const std::string& more) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const char c = part[i];
      if (c == '%') {
        if (i + 2 >= part.size() || !Hex(part[i + 1]) || !Hex(part[i + 2])) return false;
        i += 2;
      } else if (!(wide && static_cast<unsigned char>(c) >= 0x80) && !Letter(c) && !Digit(c) &&
                 ("-._~!$&'()*+,;=" + more).find(c) == std::string::npos) {
        return false;
      }
    }
    return true;
  };
  std::string rest = text;
  if (const auto hash = rest.find('#'); hash != std::string::npos) {
    if (!chars(rest.substr(hash + 1), ":@/?")) return false;
    rest.resize(hash);
  }
  if (const auto mark = rest.find('?'); mark != std::string::npos) {
    if (!chars(rest.substr(mark + 1), ":@/?")) return false;
    rest.resize(mark);
  }
  const auto colon = rest.find(':');
  bool scheme = colon != std::string::npos && colon > 0 && Letter(rest[0]);
  for (std::size_t i = 0; scheme && i < colon; ++i) {
    scheme =
        Letter(rest[i]) || Digit(rest[i]) || std::string("+-.").find(rest[i]) != std::string::npos;
  }
  if (!scheme && !reference) return false;
  if (scheme) rest = rest.substr(colon + 1);
  if (rest.compare(0, 2, "//") == 0) {
    const auto slash = rest.find('/', 2);
    std::string authority = rest.substr(2, slash == std::string::npos ? slash : slash - 2);
    rest = slash == std::string::npos ? "" : rest.substr(slash);
    if (const auto at = authority.find('@'); at != std::string::npos) {
      if (!chars(authority.substr(0, at), ":")) return false;
      authority = authority.substr(at + 1);
    }
    if (!authority.empty() && authority[0] == '[') {
      const auto end = authority.find(']');
      if (end == std::string::npos) return false;
      const std::string inside = authority.substr(1, end - 1);
      const auto dot = inside.find('.');
      const bool future =
          inside.size() > 3 && (inside[0] | 0x20) == 'v' && dot != std::string::npos && dot > 1 &&
          std::all_of(inside.begin() + 1, inside.begin() + static_cast<long>(dot), Hex) &&
          dot + 1 < inside.size() && inside.find('%') == std::string::npos &&
          chars(inside.substr(dot + 1), ":");
      if (!Ipv6(inside) && !future) return false;
      authority = authority.substr(end + 1);
      if (!authority.empty() && authority[0] != ':') return false;
      if (!authority.empty()) authority = "x" + authority;
    }
    if (const auto port = authority.find(':'); port != std::string::npos) {
      for (std::size_t i = port + 1; i < authority.size(); ++i) {
        if (!Digit(authority[i])) return false;
      }
      authority.resize(port);
    }
    return chars(authority, "") && chars(rest, ":@/");
  }
  if (!scheme && rest.substr(0, rest.find('/')).find(':') != std::string::npos) return false;
  return chars(rest, ":@/");
}

}  // namespace

bool OracleFormat(const std::string& name, const std::string& text) {
  if (name == "date") return Date(text);
  if (name == "time") return Time(text);
  if (name == "date-time") {
    return text.size() > 11 && (text[10] | 0x20) == 't' && Date(text.substr(0, 10)) &&
           Time(text.substr(11));
  }
  if (name == "duration") return Duration(text);
  if (name == "ipv4") return Ipv4(text);
  if (name == "ipv6") return Ipv6(text);
  if (name == "hostname") return Hostname(text, true);
  if (name == "email") return Email(text);
  if (name == "uuid") return Uuid(text);
  if (name == "json-pointer") return Pointer(text);
  if (name == "relative-json-pointer") return RelativePointer(text);
  if (name == "uri" || name == "iri") return Uri(text, false, name[0] == 'i');
  if (name == "uri-reference" || name == "iri-reference") return Uri(text, true, name[0] == 'i');
  return true;
}

}  // namespace adjudge::testing
