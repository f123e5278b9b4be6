// CUDA bodies of partition_rows, route_rows, sort_order and join_build, on torch's current stream. partition_rows never synchronizes;
// route_rows synchronizes once to check its owners, sort_order once for the bits that differ, join_build once for the number of valid rows.
#include "kernels/cuda/row_order_cuda.h"

#include <bit>

#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/gather_rows_cuda.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/row_selection_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cuda {

namespace {

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(hashes);
  ScratchMemory scratch;
  at::Tensor order = empty_words(hashes, hashes.size(0)), offsets = empty_words(hashes, (int64_t{1} << bits) + 1);
  order_by_top_bits(hashes.const_data_ptr<int64_t>(), nullptr, hashes.size(0), static_cast<int>(bits), order.mutable_data_ptr<int64_t>(),
                    offsets.mutable_data_ptr<int64_t>(), scratch, call.stream());
  return {order, offsets};
}

std::tuple<at::Tensor, at::Tensor> route_rows(const at::Tensor& hashes, const at::Tensor& owners, int64_t ranks) {
  const KernelCall call(hashes);
  ScratchMemory scratch;
  const DeviceErrorFlag errors(call.stream());
  const int bits = std::countr_zero(static_cast<uint64_t>(owners.size(0)));
  at::Tensor order = empty_words(hashes, hashes.size(0)), offsets = empty_words(hashes, ranks + 1);
  order_by_owner(hashes.const_data_ptr<int64_t>(), hashes.size(0), owners.const_data_ptr<int64_t>(), bits, ranks,
                 order.mutable_data_ptr<int64_t>(), offsets.mutable_data_ptr<int64_t>(), errors, scratch, call.stream());
  const std::optional<RowFailure> failure = errors.wait_for_failure();
  ENSURE(!failure.has_value(), "the owner of bucket {} is outside of {} ranks", failure->row, ranks);
  return {order, offsets};
}

at::Tensor sort_order(at::TensorList words, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(words[0]);
  ScratchMemory scratch;
  at::Tensor order = empty_words(words[0], words[0].size(0));
  std::vector<const int64_t*> keys;
  for (const at::Tensor& word : words) keys.push_back(word.const_data_ptr<int64_t>());
  order_by_words(keys, order.size(0), order.mutable_data_ptr<int64_t>(), scratch, call.stream());
  return order;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> join_build(const at::Tensor& hashes, const std::optional<at::Tensor>& validity,
                                                          int64_t bits, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(hashes);
  ScratchMemory scratch;
  const int64_t* words = hashes.const_data_ptr<int64_t>();
  int64_t rows = hashes.size(0);
  int64_t* numbers = nullptr;
  if (validity && rows > 0) {
    const bool* valid = mask_of(validity);
    read_back(count_flags(valid, rows, scratch, call.stream()), 1, &rows, call.stream());
    if (rows < hashes.size(0)) {
      numbers = scratch.take<int64_t>(rows);
      select_rows(valid, hashes.size(0), numbers, scratch, call.stream());
    }
  }
  at::Tensor offsets = empty_words(hashes, (int64_t{1} << bits) + 1), order = empty_words(hashes, rows);
  at::Tensor ordered_hashes = empty_words(hashes, rows);
  int64_t* ordered_rows = order.mutable_data_ptr<int64_t>();
  order_by_top_bits(words, numbers, rows, static_cast<int>(bits), ordered_rows, offsets.mutable_data_ptr<int64_t>(), scratch,
                    call.stream());
  gather_value_rows(ValueKind::Int64, words, ordered_rows, rows, ordered_hashes.mutable_data_ptr(), call.stream());
  return {offsets, order, ordered_hashes};
}

}  // namespace

REGISTER_BODY(Cuda, "partition_rows", partition_rows);
REGISTER_BODY(Cuda, "route_rows", route_rows);
REGISTER_BODY(Cuda, "sort_order", sort_order);
REGISTER_BODY(Cuda, "join_build", join_build);

}  // namespace pistachio::kernels::cuda
