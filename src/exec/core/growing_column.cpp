#include "exec/core/growing_column.h"

#include <algorithm>

#include "columns/decode_dictionary.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

namespace {

constexpr int64_t kBytesPerStrip = 64 << 20;

}  // namespace

at::Tensor with_room(const at::Tensor& tensor, int64_t used, int64_t rows, const CancelToken& token) {
  if (tensor.size(0) >= rows) return tensor;
  std::vector<int64_t> shape = tensor.sizes().vec();
  shape[0] = std::max<int64_t>({rows, tensor.size(0) * 2, 64});
  at::Tensor larger = at::empty(shape, tensor.options());
  // Copied and cleared in strips with a poll between them: the first touch of gigabytes of memory takes seconds.
  const int64_t row_bytes = static_cast<int64_t>(larger.nbytes()) / shape[0];
  const int64_t step = std::max<int64_t>(1, kBytesPerStrip / row_bytes);
  for (int64_t begin = 0; begin < used; begin += step) {
    token.throw_if_cancelled();
    const int64_t count = std::min(step, used - begin);
    larger.narrow(0, begin, count).copy_(tensor.narrow(0, begin, count));
  }
  for (int64_t begin = used; begin < shape[0]; begin += step) {
    token.throw_if_cancelled();
    larger.narrow(0, begin, std::min(step, shape[0] - begin)).zero_();
  }
  return larger;
}

GrowingColumn::GrowingColumn(LogicalType type, at::Device device) : type_(type) {
  auto none_of = [&](at::IntArrayRef shape, at::ScalarType scalar) { return at::empty(shape, at::TensorOptions(scalar).device(device)); };
  if (type_.is_text()) {
    values_ = none_of({0}, at::kLong);
    ends_ = none_of({0}, at::kLong);
    bytes_ = none_of({0}, at::kByte);
  } else {
    values_ = type_.is_wide() ? none_of({0, 2}, at::kLong) : none_of({0}, type_.scalar_type());
  }
}

void GrowingColumn::append(const Column& column, const CancelToken& token) {
  if (column.rows() == 0) return;
  Column plain = decode_dictionary(column);
  int64_t total = rows_ + plain.rows();
  if (plain.has_validity() && !validity_.defined()) validity_ = at::ones({total}, plain.validity().options());
  if (validity_.defined()) {
    validity_ = with_room(validity_, rows_, total, token);
    at::Tensor target = validity_.narrow(0, rows_, plain.rows());
    if (plain.has_validity()) {
      target.copy_(plain.validity());
    } else {
      target.fill_(true);
    }
  }
  if (type_.is_text()) {
    auto [bytes, offsets] = kernels::text_compact(plain.bytes(), plain.begins(), plain.ends());
    values_ = with_room(values_, rows_, total, token);
    ends_ = with_room(ends_, rows_, total, token);
    bytes_ = with_room(bytes_, text_bytes_, text_bytes_ + bytes.numel(), token);
    values_.narrow(0, rows_, plain.rows()).copy_(offsets.narrow(0, 0, plain.rows())).add_(text_bytes_);
    ends_.narrow(0, rows_, plain.rows()).copy_(offsets.narrow(0, 1, plain.rows())).add_(text_bytes_);
    bytes_.narrow(0, text_bytes_, bytes.numel()).copy_(bytes);
    text_bytes_ += bytes.numel();
  } else {
    values_ = with_room(values_, rows_, total, token);
    values_.narrow(0, rows_, plain.rows()).copy_(plain.values());
  }
  rows_ = total;
}

Column GrowingColumn::view() const {
  at::Tensor validity = validity_.defined() ? validity_.narrow(0, 0, rows_) : at::Tensor();
  if (type_.is_text()) {
    return Column::text(type_, bytes_.narrow(0, 0, text_bytes_), values_.narrow(0, 0, rows_), ends_.narrow(0, 0, rows_), validity);
  }
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
