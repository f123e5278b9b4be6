// Bounds of segments on the GPU by two scans: the last start up to each row, and, from the last row to the first, the next start behind it.
#include "kernels/cuda/segment_bounds_cuda.h"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

struct StartAtRow {
  const bool* starts;
  __host__ __device__ int64_t operator()(int64_t row) const { return starts[row] ? row : 0; }
};

// `place` counts from the last row.
struct StartBehindRow {
  const bool* starts;
  int64_t rows;
  __host__ __device__ int64_t operator()(int64_t place) const {
    const int64_t next = rows - place;
    return next < rows && starts[next] ? next : rows;
  }
};

struct Later {
  __host__ __device__ int64_t operator()(int64_t left, int64_t right) const { return left > right ? left : right; }
};

struct Earlier {
  __host__ __device__ int64_t operator()(int64_t left, int64_t right) const { return left < right ? left : right; }
};

template <typename StartOf, typename Out, typename Choose>
void scan(const StartOf& start_of, Out out, const Choose& choose, int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  const auto found = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), start_of);
  size_t bytes = 0;
  check_cuda(cub::DeviceScan::InclusiveScan(nullptr, bytes, found, out, choose, rows, stream));
  void* temporary = scratch.take_bytes(bytes);
  check_cuda(cub::DeviceScan::InclusiveScan(temporary, bytes, found, out, choose, rows, stream));
}

}  // namespace

void find_segment_bounds(const bool* starts, int64_t rows, int64_t* begins, int64_t* ends, ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  scan(StartAtRow{starts}, begins, Later{}, rows, scratch, stream);
  scan(StartBehindRow{starts, rows}, thrust::make_reverse_iterator(ends + rows), Earlier{}, rows, scratch, stream);
}

}  // namespace pistachio::kernels::cuda
