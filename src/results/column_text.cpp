#include "results/column_text.h"

#include <ATen/core/Tensor.h>

#include <cmath>

#include "columns/decode_dictionary.h"
#include "data/value_text.h"

namespace pistachio {

namespace {

at::Tensor readable(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.cpu().contiguous() : tensor;
}

// Calls `append(row)` for every value that is not NULL and `append_null()` for the others.
template <typename Append, typename AppendNull>
void for_each_row(int64_t rows, const at::Tensor& validity, Append append, AppendNull append_null) {
  if (!validity.defined()) {
    for (int64_t row = 0; row < rows; ++row) append(row);
    return;
  }
  const bool* valid = validity.const_data_ptr<bool>();
  for (int64_t row = 0; row < rows; ++row) {
    if (valid[row]) {
      append(row);
    } else {
      append_null();
    }
  }
}

}  // namespace

void ColumnText::assign(const Column& column, WorkPoll& poll) {
  codes_.clear();
  // Formatting a dictionary larger than the chunk does not pay off.
  if (!column.is_dictionary() || column.dictionary_column()->rows() > column.rows()) {
    dictionary_.reset();
    bytes_.clear();
    ends_.clear();
    format(decode_dictionary(column), poll);
    return;
  }
  if (dictionary_ != column.dictionary_column()) {
    bytes_.clear();
    ends_.clear();
    dictionary_.reset();  // in case that formatting is cancelled
    format(decode_dictionary(*column.dictionary_column()), poll);
    bytes_ += style_.null_text;
    end_value();
    dictionary_ = column.dictionary_column();
  }
  at::Tensor codes = readable(column.codes());
  const int32_t* code = codes.const_data_ptr<int32_t>();
  int32_t null_code = static_cast<int32_t>(dictionary_->rows());
  codes_.reserve(static_cast<size_t>(column.rows()));
  for_each_row(
      column.rows(), readable(column.validity()), [&](int64_t row) { codes_.push_back(code[row]); }, [&] { codes_.push_back(null_code); });
}

size_t ColumnText::total_bytes() const {
  if (codes_.empty()) return bytes_.size();
  size_t total = 0;
  for (int32_t code : codes_) total += length(static_cast<size_t>(code));
  return total;
}

template <typename Append>
void ColumnText::append_each(const Column& plain, Append append) {
  ends_.reserve(ends_.size() + static_cast<size_t>(plain.rows()) + 1);
  for_each_row(
      plain.rows(), readable(plain.validity()),
      [&](int64_t row) {
        append(row);
        end_value();
      },
      [&] {
        bytes_ += style_.null_text;
        end_value();
      });
}

void ColumnText::format_text(const Column& plain, WorkPoll& poll) {
  at::Tensor bytes = readable(plain.bytes());
  at::Tensor begins = readable(plain.begins());
  at::Tensor ends = readable(plain.ends());
  const char* base = reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>());
  const int64_t* begin = begins.const_data_ptr<int64_t>();
  const int64_t* end = ends.const_data_ptr<int64_t>();
  auto text_of = [=](int64_t row) { return std::string_view(base + begin[row], static_cast<size_t>(end[row] - begin[row])); };
  if (plain.type().kind() == TypeKind::Varchar)
    return append_each(plain, [&](int64_t row) { style_.append_text(bytes_, text_of(row), poll); });
  std::string shown;
  append_each(plain, [&](int64_t row) {
    shown.clear();
    for_each_block(text_of(row), poll, [&](std::string_view block) {
      size_t before = shown.size();
      append_bytes(shown, block);
      if (before > 0) shown.erase(before, 2);  // only the first block starts with \x
    });
    style_.append_text(bytes_, shown, poll);
  });
}

void ColumnText::format(const Column& plain, WorkPoll& poll) {
  if (plain.type().is_text()) return format_text(plain, poll);
  auto each = [&](auto append) { append_each(plain, append); };
  auto quoted = [&](auto append) {
    each([&, append](int64_t row) {
      bytes_ += style_.quote;
      append(row);
      bytes_ += style_.quote;
    });
  };
  LogicalType type = plain.type();
  at::Tensor values = readable(plain.values());
  auto wide_at = [&](int64_t row) {
    const int64_t* words = values.const_data_ptr<int64_t>() + 2 * row;
    return (Int128{words[1]} << 64) | static_cast<Int128>(static_cast<uint64_t>(words[0]));
  };
  auto integers = [&](const auto* numbers) { each([&, numbers](int64_t row) { append_integer(bytes_, numbers[row]); }); };
  auto finite = [&](bool is_finite, auto append) {
    if (!is_finite) bytes_ += style_.quote;
    append();
    if (!is_finite) bytes_ += style_.quote;
  };
  const void* data = values.const_data_ptr();
  const auto* longs = static_cast<const int64_t*>(data);
  switch (type.kind()) {
    case TypeKind::Boolean: return each([&](int64_t row) { bytes_ += static_cast<const bool*>(data)[row] ? "true" : "false"; });
    case TypeKind::TinyInt: return integers(static_cast<const int8_t*>(data));
    case TypeKind::SmallInt: return integers(static_cast<const int16_t*>(data));
    case TypeKind::Integer: return integers(static_cast<const int32_t*>(data));
    case TypeKind::BigInt: return integers(longs);
    case TypeKind::Real:
      return each([&](int64_t row) {
        float value = static_cast<const float*>(data)[row];
        finite(std::isfinite(value), [&] { append_real(bytes_, value); });
      });
    case TypeKind::Double:
      return each([&](int64_t row) {
        double value = static_cast<const double*>(data)[row];
        finite(std::isfinite(value), [&] { append_double(bytes_, value); });
      });
    case TypeKind::Decimal:
      if (type.is_wide()) return each([&](int64_t row) { append_scaled_integer(bytes_, wide_at(row), type.scale()); });
      return each([&](int64_t row) { append_scaled_integer(bytes_, longs[row], type.scale()); });
    case TypeKind::Date: return quoted([&](int64_t row) { append_date(bytes_, static_cast<const int32_t*>(data)[row]); });
    case TypeKind::Time: return quoted([&](int64_t row) { append_time(bytes_, longs[row]); });
    case TypeKind::Timestamp: return quoted([&](int64_t row) { append_timestamp(bytes_, longs[row], ""); });
    case TypeKind::TimestampTz: return quoted([&](int64_t row) { append_timestamp(bytes_, longs[row], "+00"); });
    case TypeKind::TimeNs: return quoted([&](int64_t row) { append_time_ns(bytes_, longs[row]); });
    case TypeKind::TimestampNs: return quoted([&](int64_t row) { append_timestamp_ns(bytes_, longs[row], ""); });
    case TypeKind::TimestampTzNs: return quoted([&](int64_t row) { append_timestamp_ns(bytes_, longs[row], "+00"); });
    case TypeKind::Interval: return quoted([&](int64_t row) { append_interval(bytes_, wide_at(row)); });
    default: return;
  }
}

}  // namespace pistachio
