#include "readers/arrow_columns.h"

#include <arrow/array.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "columns/row_selection.h"
#include "data/calendar.h"
#include "expr/cast.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

at::Tensor validity_of(const arrow::Array& array) {
  if (array.null_count() == 0) return {};
  at::Tensor made = at::empty({array.length()}, at::kBool);
  bool* data = made.mutable_data_ptr<bool>();
  for (int64_t row = 0; row < array.length(); ++row) data[row] = array.IsValid(row);
  return made;
}

// Values of a fixed width, each changed by `change`. NULLs have arbitrary bits: they become zero.
template <typename Value, typename ArrowArray, typename Change>
Column converted(const arrow::Array& array, LogicalType type, const Change& change) {
  const auto& values = static_cast<const ArrowArray&>(array);
  at::Tensor made = at::empty({array.length()}, type.scalar_type());
  Value* data = made.template mutable_data_ptr<Value>();
  for (int64_t row = 0; row < array.length(); ++row)
    data[row] = values.IsNull(row) ? Value{} : static_cast<Value>(change(values.Value(row)));
  return Column::fixed(type, std::move(made), validity_of(array));
}

template <typename Value, typename ArrowArray>
Column copied(const arrow::Array& array, LogicalType type) {
  return converted<Value, ArrowArray>(array, type, [](auto value) { return value; });
}

int64_t scaled(int64_t value, int64_t factor, const char* what) {
  int64_t product = 0;
  if (__builtin_mul_overflow(value, factor, &product)) throw UserError(fmt::format("a {} is out of range", what));
  return product;
}

template <typename ArrowArray>
Column text_column(const arrow::Array& array, LogicalType type) {
  const auto& values = static_cast<const ArrowArray&>(array);
  const int64_t rows = array.length();
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) total += values.IsNull(row) ? 0 : static_cast<int64_t>(values.GetView(row).size());
  at::Tensor bytes = at::empty({total}, at::kByte);
  at::Tensor begins = at::empty({rows}, at::kLong);
  at::Tensor ends = at::empty({rows}, at::kLong);
  auto* target = bytes.mutable_data_ptr<uint8_t>();
  auto* begin = begins.mutable_data_ptr<int64_t>();
  auto* end = ends.mutable_data_ptr<int64_t>();
  int64_t at = 0;
  for (int64_t row = 0; row < rows; ++row) {
    begin[row] = at;
    if (!values.IsNull(row)) {
      const std::string_view value = values.GetView(row);
      if (!value.empty()) std::memcpy(target + at, value.data(), value.size());
      at += static_cast<int64_t>(value.size());
    }
    end[row] = at;
  }
  return Column::text(type, std::move(bytes), std::move(begins), std::move(ends), validity_of(array));
}

Column decimal_column(const arrow::Array& array, LogicalType type) {
  const auto& values = static_cast<const arrow::Decimal128Array&>(array);
  const int64_t rows = array.length();
  at::Tensor made = type.is_wide() ? at::empty({rows, 2}, at::kLong) : at::empty({rows}, at::kLong);
  int64_t* data = made.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < rows; ++row) {
    int64_t words[2] = {0, 0};
    if (!values.IsNull(row)) std::memcpy(words, values.GetValue(row), sizeof words);
    if (type.is_wide()) std::memcpy(data + 2 * row, words, sizeof words);
    if (!type.is_wide()) data[row] = words[0];
  }
  return Column::fixed(type, std::move(made), validity_of(array));
}

Column large_unsigned_column(const arrow::Array& array, LogicalType type) {
  const auto& values = static_cast<const arrow::UInt64Array&>(array);
  at::Tensor made = at::zeros({array.length(), 2}, at::kLong);
  int64_t* data = made.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < array.length(); ++row) {
    if (!values.IsNull(row)) data[2 * row] = static_cast<int64_t>(values.Value(row));
  }
  return Column::fixed(type, std::move(made), validity_of(array));
}

Column interval_column(const arrow::Array& array) {
  const auto& values = static_cast<const arrow::MonthDayNanoIntervalArray&>(array);
  at::Tensor made = at::zeros({array.length(), 2}, at::kLong);
  int64_t* data = made.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < array.length(); ++row) {
    if (values.IsNull(row)) continue;
    const auto value = values.GetValue(row);
    data[2 * row] = value.nanoseconds / kMicroNanos;
    data[2 * row + 1] =
        static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(value.months)) << 32 | static_cast<uint32_t>(value.days));
  }
  return Column::fixed(TypeKind::Interval, std::move(made), validity_of(array));
}

Column timestamp_column(const arrow::Array& array, LogicalType type) {
  const auto unit = static_cast<const arrow::TimestampType&>(*array.type()).unit();
  const int64_t factor = unit == arrow::TimeUnit::SECOND ? kSecondMicros : unit == arrow::TimeUnit::MILLI ? 1000 : 1;
  return converted<int64_t, arrow::TimestampArray>(array, type, [&](int64_t value) { return scaled(value, factor, "timestamp"); });
}

Column time_column(const arrow::Array& array, LogicalType type) {
  if (array.type_id() == arrow::Type::TIME64) return copied<int64_t, arrow::Time64Array>(array, type);
  const bool has_seconds = static_cast<const arrow::Time32Type&>(*array.type()).unit() == arrow::TimeUnit::SECOND;
  return converted<int64_t, arrow::Time32Array>(array, type,
                                                [&](int32_t value) { return int64_t{value} * (has_seconds ? kSecondMicros : 1000); });
}

Column dictionary_column(const arrow::Array& array, LogicalType type) {
  const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
  at::Tensor codes = at::zeros({array.length()}, at::kInt);
  int32_t* data = codes.mutable_data_ptr<int32_t>();
  for (int64_t row = 0; row < array.length(); ++row) {
    if (coded.IsNull(row)) continue;
    const int64_t code = coded.GetValueIndex(row);
    if (code < 0 || code >= coded.dictionary()->length()) throw UserError("a code has no dictionary entry");
    data[row] = static_cast<int32_t>(code);
  }
  Column entries = column_of_arrow(*coded.dictionary(), type);
  at::Tensor validity = validity_of(array);
  if (entries.has_validity() || entries.rows() == 0) {
    // NULL entries, or no entry that the code of a NULL could name.
    at::Tensor valid = validity.defined() ? validity : at::ones({array.length()}, at::kBool);
    if (entries.rows() == 0) {
      entries = type.is_text() ? Column::text(type, at::empty({0}, at::kByte), at::zeros({1}, at::kLong), at::zeros({1}, at::kLong))
                               : Column::fixed(type, type.is_wide() ? at::zeros({1, 2}, at::kLong) : at::zeros({1}, type.scalar_type()));
    } else {
      valid = both_valid(valid, entries.validity().index_select(0, codes.to(at::kLong)));
      entries =
          type.is_text() ? Column::text(type, entries.bytes(), entries.begins(), entries.ends()) : Column::fixed(type, entries.values());
    }
    validity = valid;
  }
  return Column::dictionary(std::move(codes), std::make_shared<const Column>(std::move(entries)), std::move(validity));
}

Column stored_column(const arrow::Array& array, LogicalType type) {
  switch (array.type_id()) {
    case arrow::Type::BOOL: return copied<bool, arrow::BooleanArray>(array, type);
    case arrow::Type::INT8: return copied<int8_t, arrow::Int8Array>(array, type);
    case arrow::Type::INT16: return copied<int16_t, arrow::Int16Array>(array, type);
    case arrow::Type::INT32: return copied<int32_t, arrow::Int32Array>(array, type);
    case arrow::Type::INT64: return copied<int64_t, arrow::Int64Array>(array, type);
    case arrow::Type::UINT8: return copied<int16_t, arrow::UInt8Array>(array, type);
    case arrow::Type::UINT16: return copied<int32_t, arrow::UInt16Array>(array, type);
    case arrow::Type::UINT32: return copied<int64_t, arrow::UInt32Array>(array, type);
    case arrow::Type::UINT64: return large_unsigned_column(array, type);
    case arrow::Type::FLOAT: return copied<float, arrow::FloatArray>(array, type);
    case arrow::Type::DOUBLE: return copied<double, arrow::DoubleArray>(array, type);
    case arrow::Type::DECIMAL128: return decimal_column(array, type);
    case arrow::Type::DATE32: return copied<int32_t, arrow::Date32Array>(array, type);
    case arrow::Type::DATE64:
      return converted<int32_t, arrow::Date64Array>(array, type, [](int64_t value) { return floor_divide(value, 86'400'000); });
    case arrow::Type::TIME32:
    case arrow::Type::TIME64: return time_column(array, type);
    case arrow::Type::TIMESTAMP: return timestamp_column(array, type);
    case arrow::Type::INTERVAL_MONTH_DAY_NANO: return interval_column(array);
    case arrow::Type::STRING: return text_column<arrow::StringArray>(array, type);
    case arrow::Type::LARGE_STRING: return text_column<arrow::LargeStringArray>(array, type);
    case arrow::Type::STRING_VIEW: return text_column<arrow::StringViewArray>(array, type);
    case arrow::Type::BINARY: return text_column<arrow::BinaryArray>(array, type);
    case arrow::Type::LARGE_BINARY: return text_column<arrow::LargeBinaryArray>(array, type);
    case arrow::Type::BINARY_VIEW: return text_column<arrow::BinaryViewArray>(array, type);
    case arrow::Type::FIXED_SIZE_BINARY: return text_column<arrow::FixedSizeBinaryArray>(array, type);
    case arrow::Type::DICTIONARY: return dictionary_column(array, type);
    case arrow::Type::NA: {
      const at::Tensor zeros = at::zeros({array.length()}, at::kLong);
      return Column::text(type, at::empty({0}, at::kByte), zeros, zeros, at::zeros({array.length()}, at::kBool));
    }
    default: throw UserError(fmt::format("a column of Arrow's type {} cannot be read", array.type()->ToString()));
  }
}

}  // namespace

std::optional<LogicalType> type_of_arrow(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL: return TypeKind::Boolean;
    case arrow::Type::INT8: return TypeKind::TinyInt;
    case arrow::Type::INT16:
    case arrow::Type::UINT8: return TypeKind::SmallInt;
    case arrow::Type::INT32:
    case arrow::Type::UINT16: return TypeKind::Integer;
    case arrow::Type::INT64:
    case arrow::Type::UINT32: return TypeKind::BigInt;
    case arrow::Type::UINT64: return LogicalType::decimal(20, 0);
    case arrow::Type::FLOAT: return TypeKind::Real;
    case arrow::Type::DOUBLE: return TypeKind::Double;
    case arrow::Type::DECIMAL128: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      const bool fits = decimal.scale() >= 0 && decimal.scale() <= decimal.precision();
      return fits ? std::optional(LogicalType::decimal(decimal.precision(), decimal.scale())) : std::nullopt;
    }
    case arrow::Type::DATE32:
    case arrow::Type::DATE64: return TypeKind::Date;
    case arrow::Type::TIME32: return TypeKind::Time;
    case arrow::Type::TIME64:
      return static_cast<const arrow::Time64Type&>(type).unit() == arrow::TimeUnit::NANO ? TypeKind::TimeNs : TypeKind::Time;
    case arrow::Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
      const LogicalType micros = timestamp.timezone().empty() ? TypeKind::Timestamp : TypeKind::TimestampTz;
      return timestamp.unit() == arrow::TimeUnit::NANO ? in_nanoseconds(micros) : micros;
    }
    case arrow::Type::INTERVAL_MONTH_DAY_NANO: return TypeKind::Interval;
    case arrow::Type::NA:
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW: return TypeKind::Varchar;
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
    case arrow::Type::FIXED_SIZE_BINARY: return TypeKind::Blob;
    case arrow::Type::DICTIONARY: return type_of_arrow(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default: return std::nullopt;
  }
}

Column column_of_arrow(const arrow::Array& array, LogicalType type) {
  const std::optional<LogicalType> stored = type_of_arrow(*array.type());
  if (!stored) throw UserError(fmt::format("a column of Arrow's type {} cannot be read", array.type()->ToString()));
  Column made = stored_column(array, *stored);
  return *stored == type ? made : cast_column(made, type, {});
}

}  // namespace pistachio
