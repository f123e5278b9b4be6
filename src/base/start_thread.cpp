#include "base/start_thread.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/error.h"

namespace pistachio {

std::thread start_thread(std::string_view purpose, std::string_view remedy, std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& problem) {
    throw UserError(fmt::format("cannot start a thread for {}: {}; {}", purpose, problem.code().message(), remedy));
  }
}

}  // namespace pistachio
