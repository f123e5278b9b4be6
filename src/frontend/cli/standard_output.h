// Writing to standard output, whose reader may leave before the end (`head`, a pager that was closed; that is no error of anybody), and to
// standard error.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace pistachio {

// What a shell shows of a program that SIGPIPE ended. We ignore that signal, since sockets would raise it too, but end as others do.
constexpr int kReaderGoneExitCode = 141;

// Nobody reads what is written: the command ends, and says nothing. No Error: nothing reports it, and no script goes on after it.
class ReaderGone final : public std::exception {
 public:
  const char* what() const noexcept override { return "nobody reads the output"; }
};

// Throws what errno, set by a failed write, calls for: ReaderGone, or UserError with `what` could not be written.
[[noreturn]] void throw_write_error(std::string_view what);

// Both throw as throw_write_error does.
void write_result_bytes(std::FILE* target, std::string_view bytes);
void flush_standard_output();

// Where standard error cannot be written (closed, a full disk) there is nobody to tell so: the command goes on.
void write_to_standard_error(std::string_view text) noexcept;

template <typename... T>
void print_to_standard_error(fmt::format_string<T...> format, T&&... arguments) {
  write_to_standard_error(fmt::format(format, std::forward<T>(arguments)...));
}

}  // namespace pistachio
