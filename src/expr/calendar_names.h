// English names of months and days.
#pragma once

#include <array>
#include <string_view>

namespace pistachio {

constexpr std::array<std::string_view, 12> kMonthNames = {"January", "February", "March",     "April",   "May",      "June",
                                                          "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDaysFromMonday = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 7> kDaysFromSunday = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

}  // namespace pistachio
