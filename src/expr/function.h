// An SQL function, described once: name, argument types, result, null rule, documentation and body. Operators are functions, too (their
// name is the operator). Binder, evaluator, SHOW FUNCTIONS and the documentation all use the table of these.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_token.h"
#include "data/column.h"
#include "data/scalar_value.h"

namespace pistachio {

// A resolved overload: the types that the arguments are cast to, and the result type.
struct FunctionTypes {
  std::vector<LogicalType> arguments;
  LogicalType result;
};

// An evaluated argument. A constant has one row.
struct Argument {
  Column column;
  bool is_constant = false;
  const ScalarValue* value = nullptr;  // of a constant that the statement contains, on the host; outlives the argument

  // The argument as a column of `rows` rows, repeating a constant.
  Column expanded(int64_t rows) const;
  // The value of a constant. Waits for the device if `value` is null.
  ScalarValue constant() const;
  Column on_host() const;
};

struct FunctionCall {
  std::span<const Argument> arguments;
  int64_t rows = 0;
  LogicalType result;
  // Rows without NULL arguments, whose results count; undefined: all. Bodies must not raise errors for other rows.
  at::Tensor valid;
  // Polled by bodies whose work is not proportional to the rows (expr/work_poll.h). Null: the call cannot be cancelled.
  const CancelToken* token = nullptr;
};

enum class NullRule {
  Strict,  // NULL if an argument is; the body sees only values and returns a column without validity unless it produces NULLs itself
  Own,     // the body handles NULLs
};

// Where the body `evaluate` runs.
enum class FunctionPlace {
  Host,       // reads values through pointers
  AnyDevice,  // calls kernels
};

struct Function {
  std::string_view name;
  // Nullopt if the arguments do not fit. `literals[i]`: the argument is an untyped literal, which fits any type.
  std::optional<FunctionTypes> (*resolve)(std::span<const LogicalType> types, std::span<const bool> literals);
  Column (*evaluate)(const FunctionCall& call);
  FunctionPlace place = FunctionPlace::Host;
  // For a Host function whose arguments are on a GPU; nullopt: this call needs the host.
  std::optional<Column> (*evaluate_on_device)(const FunctionCall& call) = nullptr;
  NullRule null_rule = NullRule::Strict;
  bool can_raise = false;
  // Same result for the same arguments within one statement; false only for random().
  bool is_stable = true;
  std::string_view signature;  // for documentation: "substring(text VARCHAR, start BIGINT [, length BIGINT]) -> VARCHAR"
  std::string_view description;
};

// Calls the body for the arguments' device; without one, copies them to the host and the result back.
Column call_function(const Function& function, const FunctionCall& call);

}  // namespace pistachio
