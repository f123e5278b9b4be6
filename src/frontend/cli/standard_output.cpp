#include "frontend/cli/standard_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace pistachio {

void throw_write_error(std::string_view what) {
  if (errno == EPIPE) throw OutputClosed();
  throw UserError(fmt::format("cannot write {}: {}", what, std::strerror(errno)));
}

void write_result_bytes(std::FILE* target, std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), target) != bytes.size()) throw_write_error("the result");
}

void flush_standard_output() {
  if (std::fflush(stdout) != 0) throw_write_error("to standard output");
}

void write_to_standard_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace pistachio
