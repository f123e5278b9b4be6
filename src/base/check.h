// Assertions. A failed one is a bug in Pistachio and throws InternalError with the operands' values: the query fails, the process
// survives. Never use these for external input, which gets UserError or DataError.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace pistachio {

[[noreturn]] void fail_check(const char* file, int line, const std::string& text);

template <typename Value>
std::string show_operand(const Value& value) {
  if constexpr (fmt::is_formattable<Value>::value) {
    return fmt::format("{}", value);
  } else {
    return "<value>";
  }
}

}  // namespace pistachio

#define ENSURE(condition, ...)                                                                                                       \
  do {                                                                                                                               \
    if (!(condition)) [[unlikely]]                                                                                                   \
      ::pistachio::fail_check(__FILE__, __LINE__, std::string(#condition " is false") __VA_OPT__(+": " + fmt::format(__VA_ARGS__))); \
  } while (false)

#define PISTACHIO_ENSURE_COMPARE(left, op, right)                                                                                         \
  do {                                                                                                                                    \
    auto&& ensure_left = (left);                                                                                                          \
    auto&& ensure_right = (right);                                                                                                        \
    if (!(ensure_left op ensure_right)) [[unlikely]]                                                                                      \
      ::pistachio::fail_check(__FILE__, __LINE__,                                                                                         \
                              fmt::format("{} {} {} is false: {} against {}", #left, #op, #right, ::pistachio::show_operand(ensure_left), \
                                          ::pistachio::show_operand(ensure_right)));                                                      \
  } while (false)

#define ENSURE_EQ(left, right) PISTACHIO_ENSURE_COMPARE(left, ==, right)
#define ENSURE_NE(left, right) PISTACHIO_ENSURE_COMPARE(left, !=, right)
#define ENSURE_LE(left, right) PISTACHIO_ENSURE_COMPARE(left, <=, right)
#define ENSURE_LT(left, right) PISTACHIO_ENSURE_COMPARE(left, <, right)
#define ENSURE_GE(left, right) PISTACHIO_ENSURE_COMPARE(left, >=, right)
#define ENSURE_GT(left, right) PISTACHIO_ENSURE_COMPARE(left, >, right)
