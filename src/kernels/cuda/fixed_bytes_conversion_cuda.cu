// Conversions of fixed-width byte strings on the GPU: one row per thread in a grid-stride loop. Rows are not aligned, so they are read byte
// by byte; the cache lines that a warp shares stay in L1.
#include <cuda_fp16.h>

#include <algorithm>

#include "kernels/cuda/fixed_bytes_conversion_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int64_t max_blocks = 65536;  // the grid-stride loop covers further rows

unsigned blocks_for(int64_t rows) {
  return static_cast<unsigned>(std::min<int64_t>(max_blocks, (rows + block_threads - 1) / block_threads));
}

__device__ int64_t first_row() {
  return static_cast<int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

__device__ int64_t row_stride() {
  return static_cast<int64_t>(gridDim.x) * block_threads;
}

__device__ uint64_t little_endian(const uint8_t* bytes, int count) {
  uint64_t value = 0;
  for (int byte = 0; byte < count; ++byte) value |= static_cast<uint64_t>(bytes[byte]) << (8 * byte);
  return value;
}

// Bytes first .. first + 7, counted from the row's last (least significant) byte; `sign` beyond the row.
__device__ uint64_t word_from_end(const uint8_t* row, int64_t width, int64_t first, uint8_t sign) {
  uint64_t word = 0;
  for (int byte = 0; byte < 8; ++byte) {
    const int64_t place = width - 1 - (first + byte);
    word |= static_cast<uint64_t>(place >= 0 ? row[place] : sign) << (8 * byte);
  }
  return word;
}

__global__ void __launch_bounds__(block_threads)
    decimal_kernel(const uint8_t* __restrict__ bytes, int64_t rows, int64_t width, int words, int64_t* __restrict__ out,
                   FailureWord failure) {
  const int64_t extra = width > 8 * words ? width - 8 * words : 0;  // leading bytes, which must be sign extension
  for (int64_t i = first_row(); i < rows; i += row_stride()) {
    const uint8_t* row = bytes + i * width;
    const uint8_t sign = (row[extra] & 0x80) != 0 ? 0xff : 0;
    bool fits = true;
    for (int64_t byte = 0; byte < extra; ++byte) fits &= row[byte] == sign;
    if (!fits) failure.report(DecodeProblem::RowOutOfRange, 0, i);
    for (int word = 0; word < words; ++word) out[i * words + word] = static_cast<int64_t>(word_from_end(row, width, 8 * word, sign));
  }
}

__device__ int64_t floor_divide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0);
}

__global__ void __launch_bounds__(block_threads)
    int96_kernel(const uint8_t* __restrict__ bytes, int64_t rows, int64_t* __restrict__ out, FailureWord failure) {
  constexpr int64_t julian_day_of_1970 = 2440588, micros_of_a_day = 86400000000;
  // The ends of the range as a day and microseconds within that day.
  constexpr int64_t last_day = INT64_MAX / micros_of_a_day, last_rest = INT64_MAX % micros_of_a_day;
  constexpr int64_t first_day = -last_day - 1, first_rest = micros_of_a_day - last_rest - 1;
  for (int64_t i = first_row(); i < rows; i += row_stride()) {
    const uint8_t* row = bytes + i * 12;
    const int64_t nanos = static_cast<int64_t>(little_endian(row, 8));
    const int64_t stored_day = static_cast<int32_t>(static_cast<uint32_t>(little_endian(row + 8, 4)));
    const int64_t micros = floor_divide(nanos, 1000), whole_days = floor_divide(micros, micros_of_a_day);
    const int64_t day = stored_day - julian_day_of_1970 + whole_days, rest = micros - whole_days * micros_of_a_day;
    if (day > last_day || (day == last_day && rest > last_rest) || day < first_day || (day == first_day && rest < first_rest)) {
      failure.report(DecodeProblem::RowOutOfRange, 0, i);
    }
    // On the first day the product alone is out of range but the sum is not: unsigned arithmetic.
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(day) * static_cast<uint64_t>(micros_of_a_day) + static_cast<uint64_t>(rest));
  }
}

__global__ void __launch_bounds__(block_threads)
    float16_kernel(const uint8_t* __restrict__ bytes, int64_t rows, float* __restrict__ out) {
  for (int64_t i = first_row(); i < rows; i += row_stride()) {
    out[i] = __half2float(__ushort_as_half(static_cast<unsigned short>(little_endian(bytes + i * 2, 2))));
  }
}

}  // namespace

cudaError_t convert_decimals(const uint8_t* bytes, int64_t rows, int64_t width, int words, int64_t* out, FailureWord failure,
                             cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  decimal_kernel<<<blocks_for(rows), block_threads, 0, stream>>>(bytes, rows, width, words, out, failure);
  return cudaGetLastError();
}

cudaError_t convert_int96(const uint8_t* bytes, int64_t rows, int64_t* out, FailureWord failure, cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  int96_kernel<<<blocks_for(rows), block_threads, 0, stream>>>(bytes, rows, out, failure);
  return cudaGetLastError();
}

cudaError_t convert_float16(const uint8_t* bytes, int64_t rows, float* out, cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  float16_kernel<<<blocks_for(rows), block_threads, 0, stream>>>(bytes, rows, out);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
