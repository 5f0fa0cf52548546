// strftime_now: the calendar of a given second, in the C locale.
#include <array>
#include <cstdio>

#include "engine/template/globals.h"

namespace adjudge::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

struct Calendar {
  std::int64_t year = 1970;
  int month = 1;  // 1 to 12
  int day = 1;
  int weekday = 4;  // 0 is Sunday
  int yearday = 1;  // 1 to 366
  int hour = 0;
  int minute = 0;
  int second = 0;
};

bool IsLeap(std::int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// Days to a date by the proleptic Gregorian calendar (the eras of 400 years of H. Hinnant's
// "chrono-compatible low-level date algorithms").
Calendar CalendarOf(std::int64_t unix_seconds) {
  std::int64_t days = unix_seconds / 86400;
  std::int64_t rest = unix_seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  Calendar out;
  out.hour = static_cast<int>(rest / 3600);
  out.minute = static_cast<int>(rest / 60 % 60);
  out.second = static_cast<int>(rest % 60);
  out.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const std::int64_t day_of_era = shifted - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * day_of_year + 2) / 153;
  out.day = static_cast<int>(day_of_year - (153 * month + 2) / 5 + 1);
  out.month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  out.year = year_of_era + era * 400 + (out.month <= 2 ? 1 : 0);
  static constexpr std::array<int, 12> kBefore = {0,   31,  59,  90,  120, 151,
                                                  181, 212, 243, 273, 304, 334};
  out.yearday = kBefore[static_cast<std::size_t>(out.month - 1)] + out.day +
                (out.month > 2 && IsLeap(out.year) ? 1 : 0);
  return out;
}

// ISO 8601 week and the year it belongs to.
std::pair<std::int64_t, int> IsoWeek(const Calendar& now) {
  const int weekday = (now.weekday + 6) % 7;  // 0 is Monday
  const int week = (now.yearday - 1 - weekday + 10) / 7;
  const auto weeks_in = [](std::int64_t year) {
    const auto first = [](std::int64_t y) {
      return (y + y / 4 - y / 100 + y / 400) % 7;  // weekday of December 31st
    };
    return first(year) == 4 || first(year - 1) == 3 ? 53 : 52;
  };
  if (week < 1) return {now.year - 1, weeks_in(now.year - 1)};
  if (week > weeks_in(now.year)) return {now.year + 1, 1};
  return {now.year, week};
}

// A number with the padding of its code, or that of the flag.
std::string Padded(std::int64_t value, int width, char pad, char flag) {
  if (flag == '-') return std::to_string(value);
  if (flag == '_') pad = ' ';
  if (flag == '0') pad = '0';
  std::string digits = std::to_string(value);
  if (static_cast<int>(digits.size()) < width) {
    digits.insert(0, static_cast<std::size_t>(width) - digits.size(), pad);
  }
  return digits;
}

Result<std::string> Code(char code, char flag, const Calendar& now, std::int64_t unix_seconds) {
  const std::string_view day = kDays[static_cast<std::size_t>(now.weekday)];
  const std::string_view month = kMonths[static_cast<std::size_t>(now.month - 1)];
  const int hour12 = now.hour % 12 == 0 ? 12 : now.hour % 12;
  const auto again = [&](std::string_view format) { return FormatTime(format, unix_seconds); };
  switch (code) {
    case 'a':
      return std::string(day.substr(0, 3));
    case 'A':
      return std::string(day);
    case 'b':
    case 'h':
      return std::string(month.substr(0, 3));
    case 'B':
      return std::string(month);
    case 'c':
      return again("%a %b %e %H:%M:%S %Y");
    case 'C':
      return Padded(now.year / 100, 2, '0', flag);
    case 'd':
      return Padded(now.day, 2, '0', flag);
    case 'D':
    case 'x':
      return again("%m/%d/%y");
    case 'e':
      return Padded(now.day, 2, ' ', flag);
    case 'f':
      return std::string("000000");
    case 'F':
      return again("%Y-%m-%d");
    case 'G':
      return std::to_string(IsoWeek(now).first);
    case 'g':
      return Padded(IsoWeek(now).first % 100, 2, '0', flag);
    case 'H':
      return Padded(now.hour, 2, '0', flag);
    case 'I':
      return Padded(hour12, 2, '0', flag);
    case 'j':
      return Padded(now.yearday, 3, '0', flag);
    case 'k':
      return Padded(now.hour, 2, ' ', flag);
    case 'l':
      return Padded(hour12, 2, ' ', flag);
    case 'm':
      return Padded(now.month, 2, '0', flag);
    case 'M':
      return Padded(now.minute, 2, '0', flag);
    case 'n':
      return std::string("\n");
    case 'p':
      return std::string(now.hour < 12 ? "AM" : "PM");
    case 'r':
      return again("%I:%M:%S %p");
    case 'R':
      return again("%H:%M");
    case 'S':
      return Padded(now.second, 2, '0', flag);
    case 't':
      return std::string("\t");
    case 'T':
    case 'X':
      return again("%H:%M:%S");
    case 'u':
      return std::to_string(now.weekday == 0 ? 7 : now.weekday);
    case 'U':
      return Padded((now.yearday + 6 - now.weekday) / 7, 2, '0', flag);
    case 'V':
      return Padded(IsoWeek(now).second, 2, '0', flag);
    case 'w':
      return std::to_string(now.weekday);
    case 'W':
      return Padded((now.yearday + 6 - (now.weekday + 6) % 7) / 7, 2, '0', flag);
    case 'y':
      return Padded(now.year % 100, 2, '0', flag);
    case 'Y':
      return Padded(now.year, 1, '0', flag);
    case 'z':
    case 'Z':
      return std::string();
    case '%':
      return std::string("%");
    default:
      return Refuse(std::string("the code %") + code + " of strftime_now");
  }
}

}  // namespace

Result<std::string> FormatTime(std::string_view format, std::int64_t unix_seconds) {
  constexpr std::int64_t kYear9999 = 253402300799;
  constexpr std::int64_t kYear1 = -62135596800;
  if (unix_seconds > kYear9999 || unix_seconds < kYear1) {
    return Raise("ValueError", "year is out of range");
  }
  const Calendar now = CalendarOf(unix_seconds);
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out.push_back(format[i]);
      continue;
    }
    char flag = '\0';
    if (i + 2 < format.size() &&
        (format[i + 1] == '-' || format[i + 1] == '_' || format[i + 1] == '0')) {
      flag = format[++i];
    }
    ADJUDGE_ASSIGN_OR_RETURN(const std::string text, Code(format[++i], flag, now, unix_seconds));
    out += text;
  }
  return out;
}

}  // namespace adjudge::jinja
