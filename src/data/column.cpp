#include "data/column.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"

namespace pistachio {

namespace {

void check_validity(const at::Tensor& validity, int64_t rows) {
  if (!validity.defined()) return;
  ENSURE(validity.scalar_type() == at::kBool);
  ENSURE_EQ(validity.size(0), rows);
}

}  // namespace

Column Column::fixed(LogicalType type, at::Tensor values, at::Tensor validity) {
  ENSURE(!type.is_text());
  ENSURE(values.scalar_type() == type.scalar_type(), "{} in a tensor of {}", type.to_string(), c10::toString(values.scalar_type()));
  ENSURE_EQ(values.dim(), type.is_wide() ? 2 : 1);
  Column column(type, values.size(0));
  check_validity(validity, column.rows_);
  column.main_ = std::move(values);
  column.validity_ = std::move(validity);
  return column;
}

Column Column::text(LogicalType type, at::Tensor bytes, at::Tensor begins, at::Tensor ends, at::Tensor validity) {
  ENSURE(type.is_text());
  ENSURE(bytes.scalar_type() == at::kByte && begins.scalar_type() == at::kLong && ends.scalar_type() == at::kLong);
  ENSURE_EQ(begins.size(0), ends.size(0));
  Column column(type, begins.size(0));
  check_validity(validity, column.rows_);
  column.main_ = std::move(bytes);
  column.begins_ = std::move(begins);
  column.ends_ = std::move(ends);
  column.validity_ = std::move(validity);
  return column;
}

Column Column::dictionary(at::Tensor codes, std::shared_ptr<const Column> dictionary, at::Tensor validity) {
  ENSURE(codes.scalar_type() == at::kInt);
  ENSURE(dictionary != nullptr && !dictionary->is_dictionary());
  Column column(dictionary->type(), codes.size(0));
  check_validity(validity, column.rows_);
  column.main_ = std::move(codes);
  column.dictionary_ = std::move(dictionary);
  column.validity_ = std::move(validity);
  return column;
}

const at::Tensor& Column::values() const {
  ENSURE(!is_dictionary() && !type_.is_text());
  return main_;
}

const at::Tensor& Column::bytes() const {
  ENSURE(!is_dictionary() && type_.is_text());
  return main_;
}

const at::Tensor& Column::begins() const {
  ENSURE(!is_dictionary() && type_.is_text());
  return begins_;
}

const at::Tensor& Column::ends() const {
  ENSURE(!is_dictionary() && type_.is_text());
  return ends_;
}

const at::Tensor& Column::codes() const {
  ENSURE(is_dictionary());
  return main_;
}

const std::shared_ptr<const Column>& Column::dictionary_column() const {
  ENSURE(is_dictionary());
  return dictionary_;
}

Column Column::slice(int64_t begin, int64_t count) const {
  ENSURE(begin >= 0 && count >= 0 && begin + count <= rows_, "rows {} to {} of {}", begin, begin + count, rows_);
  if (begin == 0 && count == rows_) return *this;
  Column part = *this;
  part.rows_ = count;
  if (begins_.defined()) {
    part.begins_ = begins_.narrow(0, begin, count);
    part.ends_ = ends_.narrow(0, begin, count);
  } else {
    part.main_ = main_.narrow(0, begin, count);
  }
  if (validity_.defined()) part.validity_ = validity_.narrow(0, begin, count);
  return part;
}

int64_t Column::memory_bytes() const {
  int64_t total = entry_hashes_.memory_bytes();
  for (const at::Tensor& tensor : {main_, begins_, ends_, validity_}) {
    if (tensor.defined()) total += static_cast<int64_t>(tensor.nbytes());
  }
  return total;
}

}  // namespace pistachio
