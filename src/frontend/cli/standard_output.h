// Writing to standard output, whose reader may leave before the end: `head`, a pager that was closed. That is no error of anybody.
#pragma once

#include <cstdio>
#include <exception>
#include <string_view>

namespace pistachio {

// What a shell shows of a program that SIGPIPE ended. We ignore that signal, since sockets would raise it too, but end as others do.
constexpr int kReaderGoneExitCode = 141;

// Nobody reads what is written: the command ends, and says nothing. No Error: nothing reports it, and no script goes on after it.
class ReaderGone final : public std::exception {
 public:
  const char* what() const noexcept override { return "nobody reads the output"; }
};

// Both throw ReaderGone, and UserError when it cannot be written for another reason.
void write_result_bytes(std::FILE* target, std::string_view bytes);
void flush_standard_output();

}  // namespace pistachio
