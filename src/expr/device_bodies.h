// Function bodies for arguments on a GPU, where the host bodies would need copies there and back. Nullopt if a call needs the host after
// all: a pattern that varies by row, a rarely used field, or an error to raise.
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
