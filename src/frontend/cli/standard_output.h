// Writing to standard output, whose reader may leave early (`head`, a closed pager; that is not an error), and to standard error.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace pistachio {

// The exit code that a shell shows for a program ended by SIGPIPE. We ignore that signal, since sockets would raise it too, but exit the
// same way.
constexpr int kReaderGoneExitCode = 141;

// The reader is gone: the command ends silently. Not an Error, so that nothing reports it and no script continues after it.
class OutputClosed final : public std::exception {
 public:
  const char* what() const noexcept override { return "nobody reads the output"; }
};

// Throws according to errno after a failed write: OutputClosed, or UserError saying that `what` could not be written.
[[noreturn]] void throw_write_error(std::string_view what);

// Both throw as throw_write_error does.
void write_result_bytes(std::FILE* target, std::string_view bytes);
void flush_standard_output();

// If standard error cannot be written (closed, disk full), the text is dropped and the command continues.
void write_to_standard_error(std::string_view text) noexcept;

template <typename... T>
void print_to_standard_error(fmt::format_string<T...> format, T&&... arguments) {
  write_to_standard_error(fmt::format(format, std::forward<T>(arguments)...));
}

}  // namespace pistachio
