// How a decode kernel reports to the host: whether a page was bad, and the few numbers that callers need on the CPU (counts, stream ends,
// output sizes). All of it is one small block of device memory, copied to pinned memory at once; finish() is the only place where decoding
// synchronizes with the device. One object per operation call, used by one thread, for the stream current at construction.
// A status of page errors alone can be deferred (kernels/ops/deferred_checks.h) if the output is safe to compute with when a page is bad:
// filled beforehand, and within its limits.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <vector>

#include "kernels/cuda/decode_problem.h"

namespace pistachio::kernels::cuda {

class DecodeStatus {
 public:
  // The caller must have made the device current (CUDAGuard). `results` is the number of int64 result words, initialized to zero.
  explicit DecodeStatus(int64_t results = 0);
  // For page errors, deferred if this thread does so.
  static DecodeStatus deferrable();

  FailureWord failure() const;
  int64_t* results();  // device memory
  cudaStream_t stream() const { return stream_; }

  bool is_deferred() const { return is_deferred_; }
  // Copies everything back and synchronizes with the stream; if deferred, returns no failure at once.
  DecodeFailure finish();
  // int64 CPU [results], valid after finish().
  at::Tensor host_results() const;

 private:
  DecodeStatus(at::Tensor device_words, bool is_deferred);

  c10::cuda::CUDAStream stream_;
  at::Tensor device_words_;  // failure word, then results
  at::Tensor host_words_;
  bool is_deferred_ = false;
};

// Throws DataError if there is a failure, located by its offset in the bytes that `pages` describes.
void throw_failure(const DecodeFailure& failure, const at::Tensor& pages);

// Throws InternalError if the launch failed.
void check_launch(cudaError_t error);

// Copies `bytes` bytes to the current device through pinned memory, without synchronizing.
at::Tensor upload_bytes(const void* source, int64_t bytes);

// Copies rows of a plain struct to device memory for a kernel.
template <typename Row>
class UploadedTable {
 public:
  explicit UploadedTable(const std::vector<Row>& rows)
      : memory_(upload_bytes(rows.data(), static_cast<int64_t>(rows.size() * sizeof(Row)))), size_(static_cast<int64_t>(rows.size())) {}

  const Row* data() const { return static_cast<const Row*>(memory_.const_data_ptr()); }
  int64_t size() const { return size_; }

 private:
  at::Tensor memory_;
  int64_t size_;
};

}  // namespace pistachio::kernels::cuda
