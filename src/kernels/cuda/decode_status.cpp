#include "kernels/cuda/decode_status.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "kernels/cuda/pinned_upload.h"
#include "kernels/ops/deferred_checks.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

at::TensorOptions on_current_device(at::ScalarType type) {
  return at::TensorOptions(type).device(at::kCUDA, c10::cuda::current_device());
}

std::string problem_text(const DecodeFailure& failure, const at::Tensor& pages) {
  switch (failure.problem) {
    case DecodeProblem::EndsEarly: return "the page ends before its values";
    case DecodeProblem::NumberTooLong: return "a number of more than 64 bits";
    case DecodeProblem::ValueTooWide: return "a repeated value is wider than its bit width";
    case DecodeProblem::RunTooLong: return "a bit-packed run of absurd length";
    case DecodeProblem::CodeAboveLimit: return fmt::format("a code beyond a dictionary of {}", pages[failure.page][3].item<int64_t>());
    case DecodeProblem::LevelAboveMax: return fmt::format("a definition level above {}", pages[failure.page][2].item<int64_t>());
    case DecodeProblem::TextCrossesEnd: return "a value crosses the end of the page";
    case DecodeProblem::DeltaBlockSize: return "a delta stream with absurd block sizes";
    case DecodeProblem::DeltaTooFewValues: return "a delta stream with fewer values than its page";
    case DecodeProblem::Surplus: return "the page holds more values than its levels";
    case DecodeProblem::DeltaBitWidth: return "deltas of more than 64 bits";
    default: return fmt::format("problem {}", static_cast<int>(failure.problem));
  }
}

}  // namespace

DecodeStatus::DecodeStatus(int64_t results)
    : stream_(c10::cuda::getCurrentCUDAStream()), device_words_(at::empty({1 + results}, on_current_device(at::kLong))) {
  check_launch(cudaMemsetAsync(device_words_.mutable_data_ptr(), 0, device_words_.nbytes(), stream_));
}

DecodeStatus::DecodeStatus(at::Tensor device_words, bool is_deferred)
    : stream_(c10::cuda::getCurrentCUDAStream()), device_words_(std::move(device_words)), is_deferred_(is_deferred) {}

DecodeStatus DecodeStatus::deferrable() {
  at::Tensor shared = DeferredChecks::word_on(at::kCUDA);
  return shared.defined() ? DecodeStatus(std::move(shared), true) : DecodeStatus();
}

FailureWord DecodeStatus::failure() const {
  return FailureWord(static_cast<unsigned long long*>(device_words_.mutable_data_ptr()));
}

int64_t* DecodeStatus::results() {
  return device_words_.mutable_data_ptr<int64_t>() + 1;
}

DecodeFailure DecodeStatus::finish() {
  if (is_deferred_) return {};
  host_words_ = at::empty({device_words_.numel()}, at::TensorOptions(at::kLong).pinned_memory(true));
  check_launch(cudaMemcpyAsync(host_words_.mutable_data_ptr(), device_words_.const_data_ptr(), device_words_.nbytes(),
                               cudaMemcpyDeviceToHost, stream_));
  stream_.synchronize();
  return FailureWord::unpack(static_cast<unsigned long long>(*host_words_.const_data_ptr<int64_t>()));
}

at::Tensor DecodeStatus::host_results() const {
  ENSURE(host_words_.defined());
  return host_words_.slice(0, 1);
}

void throw_failure(const DecodeFailure& failure, const at::Tensor& pages) {
  if (failure.problem == DecodeProblem::None) return;
  ENSURE_LT(failure.page, pages.size(0));
  throw DataError(problem_text(failure, pages), {.offset = pages[failure.page][0].item<int64_t>() + failure.offset});
}

void check_launch(cudaError_t error) {
  ENSURE(error == cudaSuccess, "{}", cudaGetErrorString(error));
}

at::Tensor upload_bytes(const void* source, int64_t bytes) {
  at::Tensor copy = at::empty({bytes}, on_current_device(at::kByte));
  upload_to(copy, source, bytes);
  return copy;
}

}  // namespace pistachio::kernels::cuda
