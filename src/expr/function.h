// A function of the language, described once: name, argument types, result, null rule, documentation and body. Operators are functions
// too (their name is the operator). Binder, evaluator, SHOW FUNCTIONS and the documentation all follow from the table of these.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/column.h"
#include "data/scalar_value.h"

namespace pistachio {

// What a call looks like after its argument types were matched: the types the arguments are cast to, and the result's.
struct FunctionTypes {
  std::vector<LogicalType> arguments;
  LogicalType result;
};

// An evaluated argument. A constant has one row that stands for all.
struct Argument {
  Column column;
  bool is_constant = false;

  // A column with a row for each, whether it was a constant or not.
  Column expanded(int64_t rows) const;
  // Of a constant.
  ScalarValue constant() const;
};

struct FunctionCall {
  std::span<const Argument> arguments;
  int64_t rows = 0;
  LogicalType result;
  // Rows whose result counts: no argument is NULL. Undefined: all. Bodies must not raise errors for other rows.
  at::Tensor valid;
};

enum class NullRule {
  Strict,  // NULL when an argument is; the body sees values only and returns a column without validity unless it makes NULLs itself
  Own,     // the body handles NULLs
};

// Where the body `evaluate` works.
enum class FunctionPlace {
  Host,       // it reads values through pointers
  AnyDevice,  // it calls kernels
};

struct Function {
  std::string_view name;
  // Nothing if the arguments do not fit. `literals[i]`: the argument is an untyped literal, which fits any type.
  std::optional<FunctionTypes> (*resolve)(std::span<const LogicalType> types, std::span<const bool> literals);
  Column (*evaluate)(const FunctionCall& call);
  FunctionPlace place = FunctionPlace::Host;
  // For a Host function whose arguments are on a GPU; nothing: this call needs the host.
  std::optional<Column> (*evaluate_on_device)(const FunctionCall& call) = nullptr;
  NullRule null_rule = NullRule::Strict;
  bool can_raise = false;
  // Same arguments, same result, within one statement; all but random().
  bool is_stable = true;
  std::string_view signature;  // for people: "substring(text VARCHAR, start BIGINT [, length BIGINT]) -> VARCHAR"
  std::string_view description;
};

// Calls the body that works where the arguments are; without one, copies them to the host and the result back.
Column call_function(const Function& function, const FunctionCall& call);

}  // namespace pistachio
