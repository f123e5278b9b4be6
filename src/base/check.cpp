#include "base/check.h"

#include <string_view>

namespace pistachio {

void fail_check(const char* file, int line, const std::string& text) {
  std::string_view path(file);
  if (size_t at = path.rfind("src/"); at != std::string_view::npos) path.remove_prefix(at + 4);
  throw InternalError(fmt::format("internal error at {}:{}: {}; please report this with the statement that caused it", path, line, text));
}

}  // namespace pistachio
