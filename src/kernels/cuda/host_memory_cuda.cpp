// CUDA bodies of the host memory operations.

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/pinned_upload.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

void* as_address(int64_t number) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(number));
}

bool register_host_memory(const at::Tensor& like, int64_t address, int64_t bytes) {
  const KernelCall call(like);
  const auto flags = cudaHostRegisterPortable | cudaHostRegisterReadOnly;
  const cudaError_t status = cudaHostRegister(as_address(address), static_cast<size_t>(bytes), flags);
  if (status == cudaSuccess) return true;
  (void)cudaGetLastError();  // else the next launch would report it
  return false;
}

void unregister_host_memory(const at::Tensor& like, int64_t address) {
  const KernelCall call(like);
  // Called by destructors. After a failed kernel both report its error, which the query has reported before.
  (void)cudaDeviceSynchronize();
  (void)cudaHostUnregister(as_address(address));
  (void)cudaGetLastError();
}

at::Tensor upload(const at::Tensor& like, const at::Tensor& host) {
  const KernelCall call(like);
  const at::Tensor copy = at::empty(host.sizes(), like.options().dtype(host.scalar_type()));
  upload_to(copy, host.const_data_ptr(), static_cast<int64_t>(host.nbytes()));
  return copy;
}

// To pageable memory.
void download_in_pieces(void* host, const at::Tensor& tensor, cudaStream_t stream) {
  constexpr int64_t kPieceBytes = int64_t{8} << 20;  // bounds the pinned memory that large results take
  const auto bytes = static_cast<int64_t>(tensor.nbytes());
  if (bytes == 0) return;
  const at::Tensor pinned = at::empty({std::min(bytes, kPieceBytes)}, at::TensorOptions(at::kByte).pinned_memory(true));
  const auto* source = static_cast<const uint8_t*>(tensor.const_data_ptr());
  auto* target = static_cast<uint8_t*>(host);
  for (int64_t begin = 0; begin < bytes; begin += kPieceBytes) {
    const auto piece = static_cast<size_t>(std::min(kPieceBytes, bytes - begin));
    check_cuda(cudaMemcpyAsync(pinned.mutable_data_ptr(), source + begin, piece, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
    std::memcpy(target + begin, pinned.const_data_ptr(), piece);
  }
}

at::Tensor download(const at::Tensor& tensor) {
  const KernelCall call(tensor);
  const at::Tensor host = at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()));
  download_in_pieces(host.mutable_data_ptr(), tensor, call.stream());
  return host;
}

void download_ranges(const at::Tensor& target, at::TensorList sources, at::IntArrayRef offsets) {
  const KernelCall call(sources[0]);
  auto* out = target.mutable_data_ptr<uint8_t>();
  const bool is_pinned = target.is_pinned();
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!is_pinned) {
      download_in_pieces(out + offsets[i], sources[i], call.stream());
    } else if (sources[i].numel() > 0) {
      check_cuda(
          cudaMemcpyAsync(out + offsets[i], sources[i].const_data_ptr(), sources[i].nbytes(), cudaMemcpyDeviceToHost, call.stream()));
    }
  }
  if (is_pinned) check_cuda(cudaStreamSynchronize(call.stream()));
}

// CUDA refuses batches of copies on the stream that all threads share, torch's default one. A refused call would do no harm, but
// compute-sanitizer reports it.
bool takes_batches(cudaStream_t stream) {
  return stream != nullptr && stream != cudaStreamLegacy;
}

// One call for all copies: between two calls of cudaMemcpyAsync the copy engine idles for about 4 us, the time of 200 KB.
bool copy_in_one_call(std::vector<void*>& targets, std::vector<const void*>& sources, std::vector<size_t>& sizes, cudaStream_t stream) {
  if (!takes_batches(stream)) return false;
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t first = 0;
  if (cudaMemcpyBatchAsync(targets.data(), sources.data(), sizes.data(), sizes.size(), &attributes, &first, 1, stream) == cudaSuccess)
    return true;
  (void)cudaGetLastError();  // memory that is not registered; else the next launch would report it
  return false;
}

void upload_ranges(const at::Tensor& target, const at::Tensor& copies) {
  const KernelCall call(target);
  uint8_t* out = target.mutable_data_ptr<uint8_t>();
  auto rows = copies.accessor<int64_t, 2>();
  std::vector<void*> targets;
  std::vector<const void*> sources;
  std::vector<size_t> sizes;
  for (int64_t copy = 0; copy < rows.size(0); ++copy) {
    if (rows[copy][1] == 0) continue;
    targets.push_back(out + rows[copy][2]);
    sources.push_back(as_address(rows[copy][0]));
    sizes.push_back(static_cast<size_t>(rows[copy][1]));
  }
  if (sizes.empty() || copy_in_one_call(targets, sources, sizes, call.stream())) return;
  for (size_t copy = 0; copy < sizes.size(); ++copy)
    check_cuda(cudaMemcpyAsync(targets[copy], sources[copy], sizes[copy], cudaMemcpyHostToDevice, call.stream()));
}

}  // namespace

REGISTER_BODY(Cuda, "register_host_memory", register_host_memory);
REGISTER_BODY(Cuda, "unregister_host_memory", unregister_host_memory);
REGISTER_BODY(Cuda, "upload", upload);
REGISTER_BODY(Cuda, "download", download);
REGISTER_BODY(Cuda, "download_ranges", download_ranges);
REGISTER_BODY(Cuda, "upload_ranges", upload_ranges);

}  // namespace pistachio::kernels::cuda
