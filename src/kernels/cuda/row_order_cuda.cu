// Row orders on the GPU, with CUB's stable radix sort. Only bits that can differ are sorted.
#include "kernels/cuda/row_order_cuda.h"

#include <bit>

#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/sorted_keys.h"

namespace pistachio::kernels::cuda {

namespace {

struct TopBits {
  const int64_t* hashes;
  const int64_t* numbers;
  int bits;
  __device__ uint32_t operator()(int64_t i) const {
    if (bits == 0) return 0;
    return static_cast<uint32_t>(static_cast<uint64_t>(hashes[numbers == nullptr ? i : numbers[i]]) >> (64 - bits));
  }
};

struct OwnerOfRow {
  const int64_t* hashes;
  const int64_t* owners;
  int bits;
  __device__ uint32_t operator()(int64_t row) const {
    const uint64_t bucket = bits == 0 ? 0 : static_cast<uint64_t>(hashes[row]) >> (64 - bits);
    return static_cast<uint32_t>(owners[bucket]);
  }
};

struct CheckOwner {
  const int64_t* owners;
  int64_t ranks;
  unsigned long long* error_word;
  __device__ void operator()(int64_t bucket) const {
    if (owners[bucket] < 0 || owners[bucket] >= ranks) report_failure(error_word, bucket, 0);
  }
};

// Sorts `numbers` (all rows if null) by the low `bits` of their keys and finds the segment bounds.
void order_by_keys(const uint32_t* keys, const int64_t* numbers, int64_t rows, int bits, int64_t segments, int64_t* order, int64_t* offsets,
                   ScratchMemory& scratch, cudaStream_t stream) {
  auto* sorted_keys = scratch.take<uint32_t>(rows);
  if (numbers == nullptr) {
    auto* all_rows = scratch.take<int64_t>(rows);
    fill_row_numbers(all_rows, rows, stream);
    numbers = all_rows;
  }
  sort_pairs(keys, sorted_keys, numbers, order, rows, 0, bits, scratch, stream);
  find_segments(sorted_keys, rows, segments, offsets, stream);
}

// The bits in which any word differs from the first.
__global__ void __launch_bounds__(threads_per_block)
    differing_bits_kernel(const int64_t* __restrict__ words, int64_t rows, unsigned long long* out) {
  const int64_t first = words[0];
  unsigned long long bits = 0;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x; row < rows; row += stride) {
    bits |= static_cast<unsigned long long>(words[row] ^ first);
  }
  for (int offset = 16; offset > 0; offset /= 2) bits |= __shfl_down_sync(0xffffffff, bits, offset);
  if (threadIdx.x % 32 == 0 && bits != 0) atomicOr(out, bits);
}

// Bits [shift, shift + width) of a word, as an unsigned number of the same order, at bit `place` of a sort key.
struct KeyField {
  const int64_t* words;
  int shift, width, place;
};

constexpr int most_fields = 8;

// The key of the i-th row in the current order.
struct PackKey {
  KeyField fields[most_fields];
  int count;
  const int64_t* order;
  __device__ uint64_t operator()(int64_t i) const {
    const int64_t row = order == nullptr ? i : order[i];
    uint64_t key = 0;
    for (int field = 0; field < count; ++field) {
      const KeyField& part = fields[field];
      const uint64_t word = static_cast<uint64_t>(part.words[row]) ^ uint64_t{1} << 63;
      const uint64_t mask = part.width == 64 ? ~uint64_t{0} : (uint64_t{1} << part.width) - 1;
      key |= (word >> part.shift & mask) << part.place;
    }
    return key;
  }
};

// Packs adjacent words into one key as long as their differing bits fit; the least significant key comes first.
std::vector<PackKey> plan_keys(const std::vector<const int64_t*>& words, const std::vector<int64_t>& differing) {
  std::vector<PackKey> keys;
  int used = 64;
  for (size_t i = words.size(); i-- > 0;) {
    const auto bits = static_cast<uint64_t>(differing[i]);
    if (bits == 0) continue;
    const int shift = std::countr_zero(bits), width = 64 - std::countl_zero(bits) - shift;
    if (used + width > 64 || keys.back().count == most_fields) {
      keys.push_back({});
      used = 0;
    }
    keys.back().fields[keys.back().count++] = {words[i], shift, width, used};
    used += width;
  }
  return keys;
}

int width_of(const PackKey& key) {
  const KeyField& last = key.fields[key.count - 1];
  return last.place + last.width;
}

}  // namespace

void order_by_top_bits(const int64_t* hashes, const int64_t* numbers, int64_t rows, int bits, int64_t* order, int64_t* offsets,
                       ScratchMemory& scratch, cudaStream_t stream) {
  auto* keys = scratch.take<uint32_t>(rows);
  map_rows(rows, keys, TopBits{hashes, numbers, bits}, stream);
  order_by_keys(keys, numbers, rows, bits, int64_t{1} << bits, order, offsets, scratch, stream);
}

void order_by_owner(const int64_t* hashes, int64_t rows, const int64_t* owners, int bits, int64_t ranks, int64_t* order, int64_t* offsets,
                    const DeviceErrorFlag& errors, ScratchMemory& scratch, cudaStream_t stream) {
  for_rows(int64_t{1} << bits, CheckOwner{owners, ranks, errors.device_word()}, stream);
  auto* keys = scratch.take<uint32_t>(rows);
  map_rows(rows, keys, OwnerOfRow{hashes, owners, bits}, stream);
  order_by_keys(keys, nullptr, rows, bits_of(static_cast<uint64_t>(ranks - 1)), ranks, order, offsets, scratch, stream);
}

void order_by_words(const std::vector<const int64_t*>& words, int64_t rows, int64_t* order, ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  auto* bits = scratch.take<unsigned long long>(static_cast<int64_t>(words.size()));
  check_cuda(cudaMemsetAsync(bits, 0, words.size() * sizeof(*bits), stream));
  const unsigned blocks = std::min(blocks_for(rows, 4 * threads_per_block), 2048u);
  for (size_t i = 0; i < words.size(); ++i) {
    differing_bits_kernel<<<blocks, threads_per_block, 0, stream>>>(words[i], rows, bits + i);
    check_cuda(cudaGetLastError());
  }
  std::vector<int64_t> differing(words.size());
  read_back(reinterpret_cast<const int64_t*>(bits), static_cast<int64_t>(words.size()), differing.data(), stream);

  const std::vector<PackKey> plan = plan_keys(words, differing);
  if (plan.empty()) return fill_row_numbers(order, rows, stream);
  auto* keys = scratch.take<uint64_t>(rows);
  auto* sorted_keys = scratch.take<uint64_t>(rows);
  auto* former_order = scratch.take<int64_t>(rows);
  fill_row_numbers(former_order, rows, stream);
  int64_t* from = former_order;
  int64_t* to = order;
  for (size_t i = 0; i < plan.size(); ++i) {
    PackKey key = plan[i];
    key.order = i == 0 ? nullptr : from;
    map_rows(rows, keys, key, stream);
    sort_pairs(keys, sorted_keys, from, to, rows, 0, width_of(key), scratch, stream);
    std::swap(from, to);
  }
  if (from != order) {
    check_cuda(cudaMemcpyAsync(order, from, static_cast<size_t>(rows) * sizeof(*order), cudaMemcpyDeviceToDevice, stream));
  }
}

}  // namespace pistachio::kernels::cuda
