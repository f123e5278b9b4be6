// Bodies of functions for arguments on a GPU, where the bodies for the host would have to copy them there and back. Nothing when a call needs
// the host after all: a pattern that differs from row to row, a field that is rarely asked for, or an error to be raised.
#pragma once

#include <optional>

#include "expr/date_fields.h"
#include "expr/function.h"

namespace pistachio {

std::optional<Column> like_on_device(const FunctionCall& call);
std::optional<Column> not_like_on_device(const FunctionCall& call);
std::optional<Column> substring_on_device(const FunctionCall& call);
std::optional<Column> extract_on_device(DateField field, const FunctionCall& call);

}  // namespace pistachio
