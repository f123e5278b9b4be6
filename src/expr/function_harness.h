// For function tests: calls a function with given values in every form that the evaluator uses (constants, columns with NULLs,
// dictionaries, no rows) and checks that all forms agree.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "columns/scalar_access.h"
#include "expr/cast.h"
#include "expr/expression_evaluator.h"
#include "expr/function_table.h"
#include "expr/interval_text.h"
#include "expr/parse_value.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::function_harness {

using Values = std::vector<ScalarValue>;

inline ScalarValue text(std::string value) {
  return ScalarValue::of_text(TypeKind::Varchar, std::move(value));
}
inline ScalarValue whole(int64_t value) {
  return ScalarValue::of_integer(TypeKind::BigInt, value);
}
inline ScalarValue integer(int32_t value) {
  return ScalarValue::of_integer(TypeKind::Integer, value);
}
inline ScalarValue number(double value) {
  return ScalarValue::of_floating(TypeKind::Double, value);
}
inline ScalarValue decimal(const char* value, int precision, int scale) {
  return parse_value(LogicalType::decimal(precision, scale), value);
}
inline ScalarValue date(const char* value) {
  return parse_value(TypeKind::Date, value);
}
inline ScalarValue timestamp(const char* value) {
  return parse_value(TypeKind::Timestamp, value);
}
inline ScalarValue time_of_day(const char* value) {
  return parse_value(TypeKind::Time, value);
}
inline ScalarValue interval(const char* value) {
  return parse_interval(value, "");
}

// How an argument is passed.
enum class Form { Constant, Column, Dictionary };

// Three rows of the value, the middle one NULL with the value's bytes underneath.
inline Column with_null(const ScalarValue& value, Form form) {
  at::Tensor validity = at::ones({3}, at::kBool);
  validity.mutable_data_ptr<bool>()[1] = false;
  if (form == Form::Dictionary) {
    auto entries = std::make_shared<const Column>(repeat_value(value, 1));
    return Column::dictionary(at::zeros({3}, at::kInt), entries, validity);
  }
  Column plain = repeat_value(value, 3);
  if (value.is_text()) return Column::text(value.type, plain.bytes(), plain.begins(), plain.ends(), validity);
  return Column::fixed(value.type, plain.values(), validity);
}

struct BoundCall {
  ExpressionPtr expression;
  std::vector<Column> columns;
  std::vector<ColumnId> layout;

  Column evaluate(int64_t rows = 3) const {
    std::vector<Column> sliced;
    for (const Column& column : columns) sliced.push_back(column.slice(0, rows));
    return decode_dictionary(ExpressionEvaluator({expression}, layout).evaluate(Chunk(sliced, rows))[0]);
  }
};

inline BoundCall bind_call(std::string_view name, const Values& values, const std::vector<Form>& forms) {
  BoundCall call;
  std::vector<ExpressionPtr> arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    if (forms[i] == Form::Constant) {
      arguments.push_back(Expression::constant(values[i]));
      continue;
    }
    ColumnId id{static_cast<int32_t>(call.layout.size())};
    arguments.push_back(Expression::column(id, values[i].type));
    call.columns.push_back(with_null(values[i], forms[i]));
    call.layout.push_back(id);
  }
  call.expression = make_call(name, std::move(arguments));
  return call;
}

// All constants; all columns; each argument in turn as column or dictionary, with constants for the others.
inline std::vector<std::vector<Form>> all_forms(size_t count) {
  std::vector<std::vector<Form>> forms = {std::vector<Form>(count, Form::Constant), std::vector<Form>(count, Form::Column)};
  for (size_t i = 0; i < count; ++i) {
    for (Form form : {Form::Column, Form::Dictionary}) {
      forms.emplace_back(count, Form::Constant);
      forms.back()[i] = form;
    }
  }
  return forms;
}

inline void check_form(std::string_view name, const Values& values, const std::vector<Form>& forms, const std::string& expected) {
  BoundCall call = bind_call(name, values, forms);
  Column result = call.evaluate();
  ASSERT_EQ(result.rows(), 3);
  EXPECT_EQ(value_at(result, 0).to_string(), expected);
  EXPECT_EQ(value_at(result, 2).to_string(), expected);
  EXPECT_EQ(value_at(result, 1).to_string(), call.columns.empty() ? expected : "NULL");
  EXPECT_EQ(result.type(), call.expression->type());
  EXPECT_EQ(call.evaluate(0).rows(), 0);
}

// For a strict function and values that are not NULL.
inline void check(std::string_view name, const Values& values, const std::string& expected) {
  for (const std::vector<Form>& forms : all_forms(values.size())) {
    std::string trace(name);
    for (size_t i = 0; i < values.size(); ++i) trace += " " + values[i].to_string() + "/" + std::to_string(static_cast<int>(forms[i]));
    SCOPED_TRACE(trace);
    ASSERT_NO_THROW(check_form(name, values, forms, expected));
  }
}

inline void check_type(std::string_view name, const Values& values, const std::string& expected) {
  EXPECT_EQ(bind_call(name, values, std::vector<Form>(values.size(), Form::Constant)).expression->type().to_string(), expected) << name;
}

// Rows that count raise the error; NULL rows and empty columns do not.
inline void check_error(std::string_view name, const Values& values, std::string_view part) {
  for (const std::vector<Form>& forms : all_forms(values.size())) {
    SCOPED_TRACE(name);
    BoundCall call = bind_call(name, values, forms);
    EXPECT_TRUE(call.expression->can_raise());
    try {
      call.evaluate();
      ADD_FAILURE() << "no error";
    } catch (const UserError& error) {
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
    if (call.columns.empty()) continue;
    for (Column& column : call.columns) column = column.slice(1, 1);
    EXPECT_EQ(value_at(call.evaluate(1), 0).to_string(), "NULL");
  }
}

// No overload accepts these types.
inline void check_refused(std::string_view name, const Values& values) {
  EXPECT_THROW(bind_call(name, values, std::vector<Form>(values.size(), Form::Constant)), UserError) << name;
}

}  // namespace pistachio::function_harness
