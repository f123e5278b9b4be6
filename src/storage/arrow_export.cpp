#include "storage/arrow_export.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"
#include "kernels/ops/two_words.h"

namespace pistachio {

namespace {

constexpr int kParquetIntervalBytes = 12;

std::shared_ptr<arrow::DataType> arrow_type(LogicalType type, IntervalForm intervals) {
  switch (type.kind()) {
    case TypeKind::Boolean: return arrow::boolean();
    case TypeKind::TinyInt: return arrow::int8();
    case TypeKind::SmallInt: return arrow::int16();
    case TypeKind::Integer: return arrow::int32();
    case TypeKind::BigInt: return arrow::int64();
    case TypeKind::Real: return arrow::float32();
    case TypeKind::Double: return arrow::float64();
    case TypeKind::Decimal: return arrow::decimal128(type.precision(), type.scale());
    case TypeKind::Date: return arrow::date32();
    case TypeKind::Time: return arrow::time64(arrow::TimeUnit::MICRO);
    case TypeKind::Timestamp: return arrow::timestamp(arrow::TimeUnit::MICRO);
    case TypeKind::TimestampTz: return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case TypeKind::TimeNs: return arrow::time64(arrow::TimeUnit::NANO);
    case TypeKind::TimestampNs: return arrow::timestamp(arrow::TimeUnit::NANO);
    case TypeKind::TimestampTzNs: return arrow::timestamp(arrow::TimeUnit::NANO, "UTC");
    case TypeKind::Interval:
      return intervals == IntervalForm::Parquet ? arrow::fixed_size_binary(kParquetIntervalBytes) : arrow::month_day_nano_interval();
    case TypeKind::Varchar: return arrow::utf8();
    case TypeKind::Blob: return arrow::binary();
  }
  return nullptr;
}

// Shares a tensor's bytes and keeps the tensor alive.
class TensorBuffer final : public arrow::Buffer {
 public:
  explicit TensorBuffer(at::Tensor tensor)
      : arrow::Buffer(static_cast<const uint8_t*>(tensor.const_data_ptr()), static_cast<int64_t>(tensor.nbytes())),
        tensor_(std::move(tensor)) {}

 private:
  at::Tensor tensor_;
};

std::shared_ptr<arrow::Buffer> share(const at::Tensor& tensor) {
  return std::make_shared<TensorBuffer>(tensor.cpu().contiguous());
}

// Arrow packs booleans into bits, least significant first.
std::shared_ptr<arrow::Buffer> pack_bits(const at::Tensor& truths) {
  at::Tensor own = truths.cpu().contiguous();
  const bool* values = own.const_data_ptr<bool>();
  int64_t count = own.numel();
  at::Tensor packed = at::zeros({(count + 7) / 8}, at::kByte);
  uint8_t* bytes = packed.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < count; ++i) bytes[i / 8] = static_cast<uint8_t>(bytes[i / 8] | (values[i] ? 1 << (i % 8) : 0));
  return share(packed);
}

// The parts of an interval; data/logical_type.h describes its representation.
struct IntervalParts {
  int32_t months;
  int32_t days;
  int64_t micros;
};

IntervalParts interval_parts(const int64_t* words) {
  return {static_cast<int32_t>(words[1] >> 32), static_cast<int32_t>(words[1]), words[0]};
}

[[noreturn]] void refuse_interval(const std::string& name, std::string_view format) {
  throw UserError(fmt::format("column {} has an INTERVAL that {} cannot hold; cast it to VARCHAR", name, format));
}

std::shared_ptr<arrow::Buffer> intervals_of_arrow(const std::string& name, const at::Tensor& values, const bool* valid) {
  int64_t rows = values.size(0);
  at::Tensor made = at::zeros({rows, 2}, at::kLong);
  auto* target = reinterpret_cast<arrow::MonthDayNanoIntervalType::MonthDayNanos*>(made.mutable_data_ptr<int64_t>());
  for (int64_t row = 0; row < rows; ++row) {
    if (valid != nullptr && !valid[row]) continue;
    IntervalParts parts = interval_parts(values.const_data_ptr<int64_t>() + 2 * row);
    int64_t nanos = 0;
    if (__builtin_mul_overflow(parts.micros, int64_t{1000}, &nanos)) refuse_interval(name, "Arrow, which counts nanoseconds,");
    target[row] = {parts.months, parts.days, nanos};
  }
  return share(made);
}

std::shared_ptr<arrow::Buffer> intervals_of_parquet(const std::string& name, const at::Tensor& values, const bool* valid) {
  int64_t rows = values.size(0);
  at::Tensor made = at::zeros({rows, 3}, at::kInt);
  int32_t* target = made.mutable_data_ptr<int32_t>();
  for (int64_t row = 0; row < rows; ++row) {
    if (valid != nullptr && !valid[row]) continue;
    IntervalParts parts = interval_parts(values.const_data_ptr<int64_t>() + 2 * row);
    bool fits = parts.months >= 0 && parts.days >= 0 && parts.micros >= 0 && parts.micros % 1000 == 0 &&
                parts.micros / 1000 <= std::numeric_limits<uint32_t>::max();
    if (!fits) refuse_interval(name, "Parquet, which has no signs and nothing finer than milliseconds,");
    target[3 * row] = parts.months;
    target[3 * row + 1] = parts.days;
    target[3 * row + 2] = static_cast<int32_t>(static_cast<uint32_t>(parts.micros / 1000));
  }
  return share(made);
}

std::shared_ptr<arrow::Buffer> fixed_values(const std::string& name, const Column& column, IntervalForm intervals) {
  at::Tensor values = column.values().cpu().contiguous();
  switch (column.type().kind()) {
    case TypeKind::Boolean: return pack_bits(values);
    case TypeKind::Decimal:
      return share(kernels::two_words(values));  // 128 bits
    case TypeKind::Interval: {
      at::Tensor validity = column.has_validity() ? column.validity().cpu().contiguous() : at::Tensor();
      const bool* valid = validity.defined() ? validity.const_data_ptr<bool>() : nullptr;
      return intervals == IntervalForm::Parquet ? intervals_of_parquet(name, values, valid) : intervals_of_arrow(name, values, valid);
    }
    default: return share(values);
  }
}

std::shared_ptr<arrow::Array> arrow_array(const arrow::Field& field, const Column& column, IntervalForm intervals) {
  std::shared_ptr<arrow::Buffer> validity = column.has_validity() ? pack_bits(column.validity()) : nullptr;
  int64_t nulls = column.has_validity() ? arrow::kUnknownNullCount : 0;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {std::move(validity)};
  if (column.type().is_text()) {
    auto [bytes, offsets] = kernels::text_compact(column.bytes(), column.begins(), column.ends());
    buffers.push_back(share(offsets.to(at::kInt)));
    buffers.push_back(share(bytes));
  } else {
    buffers.push_back(fixed_values(field.name(), column, intervals));
  }
  std::shared_ptr<arrow::Array> made = arrow::MakeArray(arrow::ArrayData::Make(field.type(), column.rows(), std::move(buffers), nulls));
  // The engine passes invalid UTF-8 of input files through, but readers of our output rely on valid text.
  if (column.type().kind() == TypeKind::Varchar && !static_cast<const arrow::StringArray&>(*made).ValidateUTF8().ok())
    throw UserError(
        fmt::format("column {} has text that is not UTF-8, which Parquet and Arrow do not allow; cast it to BLOB", field.name()));
  return made;
}

// Rows [begin, begin + count), halved until the text of each column fits 32-bit offsets.
void add_batches(const std::shared_ptr<arrow::Schema>& schema, const Chunk& chunk, IntervalForm intervals,
                 std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  std::vector<Column> plain;
  for (const Column& column : chunk.columns()) plain.push_back(decode_dictionary(column));
  for (size_t i = 0; i < plain.size(); ++i) {
    if (!plain[i].type().is_text() || chunk.rows() == 0) continue;
    if ((plain[i].ends() - plain[i].begins()).sum().item<int64_t>() <= std::numeric_limits<int32_t>::max()) continue;
    if (chunk.rows() == 1)
      throw UserError(fmt::format("column {} has a value of more than 2 GB", schema->field(static_cast<int>(i))->name()));
    int64_t half = chunk.rows() / 2;
    add_batches(schema, chunk.slice(0, half), intervals, batches);
    add_batches(schema, chunk.slice(half, chunk.rows() - half), intervals, batches);
    return;
  }
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (size_t i = 0; i < plain.size(); ++i) arrays.push_back(arrow_array(*schema->field(static_cast<int>(i)), plain[i], intervals));
  batches.push_back(arrow::RecordBatch::Make(schema, chunk.rows(), std::move(arrays)));
}

}  // namespace

std::shared_ptr<arrow::Schema> arrow_schema(const std::vector<NamedType>& columns, IntervalForm intervals) {
  arrow::FieldVector fields;
  for (const NamedType& column : columns) fields.push_back(arrow::field(column.name, arrow_type(column.type, intervals)));
  return arrow::schema(std::move(fields));
}

std::vector<std::shared_ptr<arrow::RecordBatch>> arrow_batches(const std::shared_ptr<arrow::Schema>& schema, const Chunk& chunk,
                                                               IntervalForm intervals) {
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  add_batches(schema, chunk, intervals, batches);
  return batches;
}

}  // namespace pistachio
