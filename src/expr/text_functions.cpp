#include "expr/function_table.h"

namespace pistachio {

std::span<const Function> text_functions() {
  return {};
}

}  // namespace pistachio
