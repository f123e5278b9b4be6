// Row gather on the GPU: coalesced reads of row numbers, random reads of values.
#include "kernels/cuda/gather_rows_cuda.h"

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

template <typename T>
struct ValueOfRow {
  const T* values;
  const int64_t* rows;
  __device__ T operator()(int64_t i) const {
    const int64_t row = rows[i];
    return row < 0 ? T{} : values[row];
  }
};

}  // namespace

void gather_value_rows(ValueKind kind, const void* values, const int64_t* rows, int64_t count, void* out, cudaStream_t stream) {
  with_size(kind, [&](auto type) {
    using T = decltype(type);
    map_rows(count, static_cast<T*>(out), ValueOfRow<T>{static_cast<const T*>(values), rows}, stream);
  });
}

}  // namespace pistachio::kernels::cuda
