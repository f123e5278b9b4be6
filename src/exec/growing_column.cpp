#include "exec/growing_column.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "data/concatenate_columns.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

at::Tensor with_room(const at::Tensor& tensor, int64_t used, int64_t rows) {
  if (tensor.size(0) >= rows) return tensor;
  std::vector<int64_t> shape = tensor.sizes().vec();
  shape[0] = std::max<int64_t>({rows, tensor.size(0) * 2, 64});
  at::Tensor larger = at::zeros(shape, tensor.options());
  if (used > 0) larger.narrow(0, 0, used).copy_(tensor.narrow(0, 0, used));
  return larger;
}

void GrowingColumn::append(const Column& column) {
  if (column.rows() == 0) return;
  Column plain = decode_dictionary(column);
  int64_t total = rows_ + plain.rows();
  if (plain.has_validity() && !validity_.defined()) validity_ = at::ones({total}, at::kBool);
  if (validity_.defined()) {
    validity_ = with_room(validity_, rows_, total);
    at::Tensor target = validity_.narrow(0, rows_, plain.rows());
    if (plain.has_validity()) {
      target.copy_(plain.validity());
    } else {
      target.fill_(true);
    }
  }
  if (type_.is_text()) {
    auto [bytes, offsets] = kernels::text_compact(plain.bytes(), plain.begins(), plain.ends());
    if (!values_.defined()) {
      values_ = at::empty({0}, at::kLong);
      ends_ = at::empty({0}, at::kLong);
      bytes_ = at::empty({0}, at::kByte);
    }
    values_ = with_room(values_, rows_, total);
    ends_ = with_room(ends_, rows_, total);
    bytes_ = with_room(bytes_, text_bytes_, text_bytes_ + bytes.numel());
    values_.narrow(0, rows_, plain.rows()).copy_(offsets.narrow(0, 0, plain.rows())).add_(text_bytes_);
    ends_.narrow(0, rows_, plain.rows()).copy_(offsets.narrow(0, 1, plain.rows())).add_(text_bytes_);
    bytes_.narrow(0, text_bytes_, bytes.numel()).copy_(bytes);
    text_bytes_ += bytes.numel();
  } else {
    if (!values_.defined()) values_ = at::empty_like(plain.values().narrow(0, 0, 0));
    values_ = with_room(values_, rows_, total);
    values_.narrow(0, rows_, plain.rows()).copy_(plain.values());
  }
  rows_ = total;
}

Column GrowingColumn::view() const {
  at::Tensor validity = validity_.defined() ? validity_.narrow(0, 0, rows_) : at::Tensor();
  if (type_.is_text()) {
    if (!values_.defined()) {
      at::Tensor none = at::empty({0}, at::kLong);
      return Column::text(type_, at::empty({0}, at::kByte), none, none);
    }
    return Column::text(type_, bytes_.narrow(0, 0, text_bytes_), values_.narrow(0, 0, rows_), ends_.narrow(0, 0, rows_), validity);
  }
  if (!values_.defined()) return Column::fixed(type_, type_.is_wide() ? at::empty({0, 2}, at::kLong) : at::empty({0}, type_.scalar_type()));
  return Column::fixed(type_, values_.narrow(0, 0, rows_), validity);
}

int64_t GrowingColumn::memory_bytes() const {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : {values_, ends_, bytes_, validity_}) {
    if (tensor.defined()) bytes += static_cast<int64_t>(tensor.nbytes());
  }
  return bytes;
}

}  // namespace pistachio
