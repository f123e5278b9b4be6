#include "tests/parquet/arrow_compare.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "data/scalar_value.h"
#include "tests/parquet/arrow_status.h"

namespace pistachio::test {

namespace {

__int128 join_words(int64_t low, int64_t high) {
  return static_cast<__int128>(static_cast<unsigned __int128>(static_cast<uint64_t>(high)) << 64 | static_cast<uint64_t>(low));
}

// Microseconds; nanoseconds are kept.
int64_t engine_units(int64_t value, arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND: return value * 1'000'000;
    case arrow::TimeUnit::MILLI: return value * 1000;
    case arrow::TimeUnit::MICRO:
    case arrow::TimeUnit::NANO: return value;
  }
  throw std::runtime_error("no such time unit");
}

std::string uuid_text(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<uint8_t>(bytes[i]));
  }
  return text;
}

// 12 bytes, little-endian: months, days, milliseconds -> both words of an INTERVAL.
__int128 interval_words(std::string_view bytes) {
  uint32_t parts[3];
  std::memcpy(parts, bytes.data(), sizeof(parts));
  int64_t months_and_days = static_cast<int64_t>(static_cast<uint64_t>(parts[0]) << 32 | parts[1]);
  return join_words(int64_t{parts[2]} * 1000, months_and_days);
}

template <typename ArrayType>
const ArrayType& as(const arrow::Array& values) {
  return static_cast<const ArrayType&>(values);
}

__int128 decimal_number(const arrow::Array& values, int64_t row) {
  if (values.type_id() == arrow::Type::DECIMAL128) {
    arrow::Decimal128 value(as<arrow::Decimal128Array>(values).GetValue(row));
    return join_words(static_cast<int64_t>(value.low_bits()), value.high_bits());
  }
  if (values.type_id() == arrow::Type::DECIMAL32) return arrow::Decimal32(as<arrow::Decimal32Array>(values).GetValue(row)).value();
  return arrow::Decimal64(as<arrow::Decimal64Array>(values).GetValue(row)).value();
}

// The value of one row of a column represented by numbers.
__int128 number_of(const arrow::Array& values, int64_t row) {
  using arrow::Type;
  switch (values.type_id()) {
    case Type::BOOL: return as<arrow::BooleanArray>(values).Value(row);
    case Type::INT8: return as<arrow::Int8Array>(values).Value(row);
    case Type::INT16: return as<arrow::Int16Array>(values).Value(row);
    case Type::INT32: return as<arrow::Int32Array>(values).Value(row);
    case Type::INT64: return as<arrow::Int64Array>(values).Value(row);
    case Type::UINT8: return as<arrow::UInt8Array>(values).Value(row);
    case Type::UINT16: return as<arrow::UInt16Array>(values).Value(row);
    case Type::UINT32: return as<arrow::UInt32Array>(values).Value(row);
    case Type::UINT64: return as<arrow::UInt64Array>(values).Value(row);
    case Type::HALF_FLOAT: {
      auto half = arrow::util::Float16::FromBits(as<arrow::HalfFloatArray>(values).Value(row));
      return std::bit_cast<uint32_t>(half.ToFloat());
    }
    case Type::FLOAT: return std::bit_cast<uint32_t>(as<arrow::FloatArray>(values).Value(row));
    case Type::DOUBLE: return std::bit_cast<uint64_t>(as<arrow::DoubleArray>(values).Value(row));
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128: return decimal_number(values, row);
    case Type::DATE32: return as<arrow::Date32Array>(values).Value(row);
    case Type::TIME32:
      return engine_units(as<arrow::Time32Array>(values).Value(row), static_cast<const arrow::Time32Type&>(*values.type()).unit());
    case Type::TIME64:
      return engine_units(as<arrow::Time64Array>(values).Value(row), static_cast<const arrow::Time64Type&>(*values.type()).unit());
    case Type::TIMESTAMP:
      return engine_units(as<arrow::TimestampArray>(values).Value(row), static_cast<const arrow::TimestampType&>(*values.type()).unit());
    case Type::FIXED_SIZE_BINARY: return interval_words(as<arrow::FixedSizeBinaryArray>(values).GetView(row));
    default: throw std::runtime_error("numbers cannot come from Arrow's " + values.type()->ToString());
  }
}

std::string text_of(const arrow::Array& values, int64_t row, bool is_varchar) {
  using arrow::Type;
  switch (values.type_id()) {
    case Type::STRING:
    case Type::BINARY: return std::string(as<arrow::BinaryArray>(values).GetView(row));
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY: return std::string(as<arrow::LargeBinaryArray>(values).GetView(row));
    case Type::FIXED_SIZE_BINARY: {
      std::string_view bytes = as<arrow::FixedSizeBinaryArray>(values).GetView(row);
      return is_varchar ? uuid_text(bytes) : std::string(bytes);
    }
    default: throw std::runtime_error("text cannot come from Arrow's " + values.type()->ToString());
  }
}

bool is_nan(LogicalType type, __int128 bits) {
  if (type.kind() == TypeKind::Real) return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return type.kind() == TypeKind::Double && std::isnan(std::bit_cast<double>(static_cast<uint64_t>(bits)));
}

// Reads values of the engine's columns in any form. Makes tensors contiguous once, not per row.
class ColumnValues {
 public:
  explicit ColumnValues(const Column& column) : type_(column.type()) {
    if (column.has_validity()) validity_ = column.validity().contiguous();
    const Column* plain = &column;
    if (column.is_dictionary()) {
      codes_ = column.codes().contiguous();
      plain = column.dictionary_column().get();
      entries_ = plain->rows();
      if (plain->is_dictionary()) throw std::runtime_error("a dictionary of a dictionary");
      if (plain->has_validity()) entry_validity_ = plain->validity().contiguous();
    }
    if (type_.is_text()) {
      bytes_ = plain->bytes().contiguous();
      begins_ = plain->begins().to(at::kLong).contiguous();
      ends_ = plain->ends().to(at::kLong).contiguous();
    } else {
      values_ = plain->values().contiguous();
    }
  }

  bool is_null(int64_t row) const {
    if (validity_.defined() && !validity_.const_data_ptr<bool>()[row]) return true;
    return entry_validity_.defined() && !entry_validity_.const_data_ptr<bool>()[position(row)];
  }

  __int128 number(int64_t row) const {
    row = position(row);
    switch (values_.scalar_type()) {
      case at::kBool: return values_.const_data_ptr<bool>()[row];
      case at::kChar: return values_.const_data_ptr<int8_t>()[row];
      case at::kShort: return values_.const_data_ptr<int16_t>()[row];
      case at::kInt: return values_.const_data_ptr<int32_t>()[row];
      case at::kFloat: return std::bit_cast<uint32_t>(values_.const_data_ptr<float>()[row]);
      case at::kDouble: return std::bit_cast<uint64_t>(values_.const_data_ptr<double>()[row]);
      default: break;
    }
    const int64_t* words = values_.const_data_ptr<int64_t>();
    return type_.is_wide() ? join_words(words[2 * row], words[2 * row + 1]) : words[row];
  }

  std::string_view text(int64_t row) const {
    row = position(row);
    int64_t begin = begins_.const_data_ptr<int64_t>()[row];
    int64_t end = ends_.const_data_ptr<int64_t>()[row];
    if (begin < 0 || begin > end || end > bytes_.numel()) throw std::runtime_error("a text value outside its bytes");
    return {reinterpret_cast<const char*>(bytes_.const_data_ptr<uint8_t>()) + begin, static_cast<size_t>(end - begin)};
  }

  // NULL rows must be safe to access too: codes inside the dictionary, begins <= ends.
  void touch(int64_t row) const { type_.is_text() ? static_cast<void>(text(row)) : static_cast<void>(number(row)); }

 private:
  int64_t position(int64_t row) const {
    if (!codes_.defined()) return row;
    int64_t code = codes_.const_data_ptr<int32_t>()[row];
    if (code < 0 || code >= entries_) throw std::runtime_error("a code outside its dictionary");
    return code;
  }

  LogicalType type_;
  int64_t entries_ = 0;
  at::Tensor validity_, entry_validity_, codes_, values_, bytes_, begins_, ends_;
};

std::string show_value(LogicalType type, __int128 number, std::string_view text) {
  if (type.is_text()) return fmt::format("'{}' ({} bytes)", text.substr(0, 60), text.size());
  if (type.kind() == TypeKind::Real) return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(number)));
  if (type.kind() == TypeKind::Double) return fmt::format("{}", std::bit_cast<double>(static_cast<uint64_t>(number)));
  return format_scaled_integer(number, type.kind() == TypeKind::Decimal ? type.scale() : 0);
}

}  // namespace

ExpectedColumn::ExpectedColumn(const arrow::ChunkedArray& values, LogicalType type) : type_(type) {
  for (const auto& chunk : values.chunks()) append(*chunk);
}

void ExpectedColumn::append(const arrow::Array& values) {
  for (int64_t row = 0; row < values.length(); ++row) append_value(values, row);
}

void ExpectedColumn::append_value(const arrow::Array& values, int64_t row) {
  bool valid = values.IsValid(row);
  valid_.push_back(valid);
  if (type_.is_text()) {
    texts_.push_back(valid ? text_of(values, row, type_.kind() == TypeKind::Varchar) : std::string());
  } else {
    numbers_.push_back(valid ? number_of(values, row) : 0);
  }
}

double ExpectedColumn::floating(int64_t row) const {
  __int128 bits = number(row);
  return type_.kind() == TypeKind::Real ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                                        : std::bit_cast<double>(static_cast<uint64_t>(bits));
}

std::string ExpectedColumn::show(int64_t row) const {
  if (is_null(row)) return "NULL";
  return type_.is_text() ? show_value(type_, 0, text(row)) : show_value(type_, number(row), {});
}

std::optional<std::string> ExpectedColumn::first_difference(const Column& column, int64_t first_row) const {
  std::vector<int64_t> rows(static_cast<size_t>(column.rows()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = first_row + static_cast<int64_t>(i);
  return first_difference(column, rows);
}

std::optional<std::string> ExpectedColumn::first_difference(const Column& column, const std::vector<int64_t>& chosen) const {
  if (column.type() != type_) return fmt::format("type {} instead of {}", column.type().to_string(), type_.to_string());
  if (column.rows() != static_cast<int64_t>(chosen.size())) return fmt::format("{} rows instead of {}", column.rows(), chosen.size());
  ColumnValues values(column);
  for (int64_t i = 0; i < column.rows(); ++i) {
    int64_t row = chosen[static_cast<size_t>(i)];
    if (row < 0 || row >= rows()) return fmt::format("row {} is past the {} expected ones", row, rows());
    bool null = values.is_null(i);
    values.touch(i);
    bool same = null == is_null(row);
    if (same && !null) {
      if (type_.is_text()) {
        same = values.text(i) == text(row);
      } else {
        same = values.number(i) == number(row) || (is_nan(type_, values.number(i)) && is_nan(type_, number(row)));
      }
    }
    if (same) continue;
    std::string got = null ? "NULL" : type_.is_text() ? show_value(type_, 0, values.text(i)) : show_value(type_, values.number(i), {});
    return fmt::format("row {}: {} instead of {}", row, got, show(row));
  }
  return std::nullopt;
}

std::shared_ptr<arrow::Table> read_with_arrow(const std::shared_ptr<arrow::Buffer>& file) {
  parquet::arrow::FileReaderBuilder builder;
  check(builder.Open(std::make_shared<arrow::io::BufferReader>(file)));
  parquet::ArrowReaderProperties properties;
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  std::unique_ptr<parquet::arrow::FileReader> reader;
  check(builder.properties(properties)->Build(&reader));
  return check(reader->ReadTable());
}

std::shared_ptr<arrow::ChunkedArray> flat_leaf(const arrow::Table& table, const std::string& path) {
  std::string rest = path;
  size_t dot = rest.find('.');
  std::shared_ptr<arrow::ChunkedArray> column = table.GetColumnByName(rest.substr(0, dot));
  while (column && dot != std::string::npos) {
    rest = rest.substr(dot + 1);
    dot = rest.find('.');
    const auto& type = static_cast<const arrow::StructType&>(*column->type());
    int index = type.GetFieldIndex(rest.substr(0, dot));
    if (column->type()->id() != arrow::Type::STRUCT || index < 0) throw std::runtime_error("no leaf " + path);
    column = check(column->Flatten())[static_cast<size_t>(index)];
  }
  if (!column) throw std::runtime_error("no column " + path);
  return column;
}

}  // namespace pistachio::test
