#include "constraints/schema/uri.h"

#include <cctype>

namespace adjudge::schema {
namespace {

struct Parts {
  std::string scheme, authority, path, query, fragment;
  bool has_authority = false, has_query = false, has_fragment = false;
};

Parts Split(std::string_view uri) {
  Parts parts;
  if (const auto hash = uri.find('#'); hash != std::string_view::npos) {
    parts.fragment = uri.substr(hash + 1);
    parts.has_fragment = true;
    uri = uri.substr(0, hash);
  }
  if (const auto mark = uri.find('?'); mark != std::string_view::npos) {
    parts.query = uri.substr(mark + 1);
    parts.has_query = true;
    uri = uri.substr(0, mark);
  }
  const auto colon = uri.find(':');
  if (colon != std::string_view::npos && colon > 0 && uri.find_first_of('/') >= colon &&
      std::isalpha(static_cast<unsigned char>(uri[0])) != 0) {
    parts.scheme = uri.substr(0, colon);
    uri = uri.substr(colon + 1);
  }
  if (uri.substr(0, 2) == "//") {
    uri.remove_prefix(2);
    const auto slash = uri.find('/');
    parts.authority = uri.substr(0, slash);
    parts.has_authority = true;
    uri = slash == std::string_view::npos ? std::string_view() : uri.substr(slash);
  }
  parts.path = uri;
  return parts;
}

std::string RemoveDotSegments(std::string_view in) {
  std::string out;
  while (!in.empty()) {
    if (in.substr(0, 3) == "../") {
      in.remove_prefix(3);
    } else if (in.substr(0, 2) == "./" || in.substr(0, 3) == "/./") {
      in.remove_prefix(2);
    } else if (in == "/.") {
      in = "/";
    } else if (in.substr(0, 4) == "/../" || in == "/..") {
      in = in == "/.." ? std::string_view("/") : in.substr(3);
      out.resize(out.find_last_of('/') == std::string::npos ? 0 : out.find_last_of('/'));
    } else if (in == "." || in == "..") {
      in = {};
    } else {
      const auto next = in.find('/', 1);
      out += in.substr(0, next);
      in = next == std::string_view::npos ? std::string_view() : in.substr(next);
    }
  }
  return out;
}

std::string Join(const Parts& parts) {
  std::string uri;
  if (!parts.scheme.empty()) uri += parts.scheme + ":";
  if (parts.has_authority) uri += "//" + parts.authority;
  uri += parts.path;
  if (parts.has_query) uri += "?" + parts.query;
  if (parts.has_fragment) uri += "#" + parts.fragment;
  return uri;
}

}  // namespace

std::string ResolveUri(std::string_view base, std::string_view reference) {
  Parts target = Split(reference);
  if (base.empty() || !target.scheme.empty()) return Join(target);
  const Parts from = Split(base);
  target.scheme = from.scheme;
  if (target.has_authority) return Join(target);
  target.authority = from.authority;
  target.has_authority = from.has_authority;
  if (target.path.empty()) {
    target.path = from.path;
    if (!target.has_query) {
      target.query = from.query;
      target.has_query = from.has_query;
    }
  } else if (target.path[0] == '/') {
    target.path = RemoveDotSegments(target.path);
  } else {
    const auto slash = from.path.find_last_of('/');
    std::string merged = slash == std::string::npos ? (from.has_authority ? "/" : "") + target.path
                                                    : from.path.substr(0, slash + 1) + target.path;
    target.path = RemoveDotSegments(merged);
  }
  return Join(target);
}

std::pair<std::string, std::string> SplitFragment(std::string_view uri) {
  const auto hash = uri.find('#');
  if (hash == std::string_view::npos) return {std::string(uri), ""};
  std::string fragment;
  const std::string_view raw = uri.substr(hash + 1);
  const auto hex = [](char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
  };
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '%' && i + 2 < raw.size() && hex(raw[i + 1]) >= 0 && hex(raw[i + 2]) >= 0) {
      fragment.push_back(static_cast<char>(hex(raw[i + 1]) * 16 + hex(raw[i + 2])));
      i += 2;
    } else {
      fragment.push_back(raw[i]);
    }
  }
  return {std::string(uri.substr(0, hash)), fragment};
}

}  // namespace adjudge::schema
