#include "columns/own_column.h"

#include <ATen/core/Tensor.h>

#include "columns/decode_dictionary.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

namespace {

at::Tensor own_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  // A slice would keep all of its storage alive.
  bool is_whole = tensor.is_contiguous() && static_cast<size_t>(tensor.nbytes()) == tensor.storage().nbytes();
  return is_whole ? tensor : tensor.clone(at::MemoryFormat::Contiguous);
}

}  // namespace

Column own_column(const Column& column) {
  // A few rows must not keep a large dictionary alive.
  bool is_sparse = column.is_dictionary() && column.dictionary_column()->rows() > column.rows();
  if (is_sparse) return own_column(decode_dictionary(column));
  at::Tensor validity = own_tensor(column.validity());
  if (column.is_dictionary()) return Column::dictionary(own_tensor(column.codes()), column.dictionary_column(), validity);
  if (column.type().is_text()) {
    auto [bytes, offsets] = kernels::text_compact(column.bytes(), column.begins(), column.ends());
    return Column::text(column.type(), bytes, offsets.slice(0, 0, column.rows()), offsets.slice(0, 1), validity);
  }
  return Column::fixed(column.type(), own_tensor(column.values()), validity);
}

}  // namespace pistachio
