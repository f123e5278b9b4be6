// Tables of functions that only function_table.cpp puts together, and other names of functions.
#pragma once

#include <span>
#include <string_view>

#include "expr/function.h"

namespace pistachio {

std::span<const Function> checksum_functions();
std::span<const Function> similarity_functions();
std::span<const Function> date_format_functions();
std::span<const Function> cast_functions();
std::span<const Function> special_number_functions();

// Another name of a function, with all its overloads.
struct FunctionAlias {
  std::string_view alias;
  std::string_view name;
};
std::span<const FunctionAlias> function_aliases();

}  // namespace pistachio
