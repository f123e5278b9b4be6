// Places of key combinations on the GPU: one row per thread and step.
#include "kernels/cuda/key_places_cuda.h"

#include <type_traits>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

// Arithmetic wraps: values under a NULL may be anything.
template <typename T>
struct AppendDigit {
  const int32_t* places;
  const T* values;
  const bool* valid;
  uint32_t first, size;
  __device__ int32_t operator()(int64_t row) const {
    const uint32_t base = places == nullptr ? 0 : static_cast<uint32_t>(places[row]) * size;
    const uint32_t digit = valid == nullptr || valid[row] ? static_cast<uint32_t>(values[row]) - first : 0;
    return static_cast<int32_t>(base + digit);
  }
};

// Reads first: most rows repeat a place, and reads of one byte by many threads are cheaper than writes.
struct MarkPlace {
  const int32_t* places;
  bool* is_present;
  __device__ void operator()(int64_t row) const {
    bool* mark = is_present + places[row];
    if (!*mark) *mark = true;
  }
};

}  // namespace

void append_digits(ValueKind kind, const int32_t* places, const void* values, const bool* valid, int64_t rows, uint32_t first,
                   uint32_t size, int32_t* out, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      map_rows(rows, out, AppendDigit<T>{places, static_cast<const T*>(values), valid, first, size}, stream);
    }
  });
}

void mark_places(const int32_t* places, int64_t rows, bool* is_present, cudaStream_t stream) {
  for_rows(rows, MarkPlace{places, is_present}, stream);
}

}  // namespace pistachio::kernels::cuda
