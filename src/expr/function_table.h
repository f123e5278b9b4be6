// All functions, by name. The families are listed here; only constant data is global.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "expr/expression.h"
#include "expr/function.h"

namespace pistachio {

// The overloads of a name; empty if there is none.
std::span<const Function* const> find_functions(std::string_view name);
// Sorted by name.
const std::vector<const Function*>& all_functions();

// A call with its arguments cast to the types of the best overload. Throws UserError with the position and the candidates.
ExpressionPtr make_call(std::string_view name, std::vector<ExpressionPtr> arguments, int64_t position = -1);

// The families.
std::span<const Function> arithmetic_functions();
std::span<const Function> comparison_functions();
std::span<const Function> number_functions();
std::span<const Function> text_functions();
std::span<const Function> pattern_functions();
std::span<const Function> date_functions();

}  // namespace pistachio
