// A binary search per bound on the GPU. The threads of a warp search neighbouring bounds, which mostly read the same keys.
#include "kernels/cuda/range_search_cuda.h"

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

template <bool after_equal>
struct PlaceOfBound {
  const int64_t* keys;
  const int64_t* bounds;
  const int64_t* begins;
  const int64_t* ends;
  __device__ int64_t operator()(int64_t row) const {
    const int64_t bound = bounds[row];
    int64_t low = begins[row], high = ends[row];
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const bool is_before = after_equal ? keys[middle] <= bound : keys[middle] < bound;
      if (is_before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

}  // namespace

void search_ranges(const int64_t* keys, const int64_t* bounds, const int64_t* begins, const int64_t* ends, bool after_equal, int64_t count,
                   int64_t* places, cudaStream_t stream) {
  if (after_equal) {
    map_rows(count, places, PlaceOfBound<true>{keys, bounds, begins, ends}, stream);
  } else {
    map_rows(count, places, PlaceOfBound<false>{keys, bounds, begins, ends}, stream);
  }
}

}  // namespace pistachio::kernels::cuda
