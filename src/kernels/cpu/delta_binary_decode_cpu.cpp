// CPU body of delta_binary_decode: allocates, walks the page table, turns problems into DataError.
#include "base/error.h"
#include "kernels/cpu/delta_binary_simd.h"
#include "kernels/cpu/rle_runs.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

const char* problem_text(DeltaProblem problem) {
  switch (problem) {
    case DeltaProblem::None: break;
    case DeltaProblem::EndsEarly: return "the page ends before its delta-coded values";
    case DeltaProblem::NumberTooLong: return "a number of more than 64 bits";
    case DeltaProblem::BlockSize: return "a delta stream with absurd block sizes";
    case DeltaProblem::TooFewValues: return "a delta stream with fewer values than its page";
    case DeltaProblem::BitWidth: return "deltas of more than 64 bits";
  }
  return "no problem";
}

// Upper bound of the values in a stream, from its header and its length: every block starts with a varint and one byte per miniblock. 0 if
// the header is unreadable.
int64_t capacity_of(const uint8_t* begin, const uint8_t* end) {
  uint64_t block_size = 0, miniblocks = 0;
  if (read_varint(begin, end, block_size) != RleProblem::None || read_varint(begin, end, miniblocks) != RleProblem::None) return 0;
  constexpr uint64_t most = uint64_t{1} << 20;
  if (block_size > most || miniblocks > most) return 0;
  return 1 + (end - begin) / static_cast<int64_t>(1 + miniblocks) * static_cast<int64_t>(block_size) + static_cast<int64_t>(block_size);
}

// Rejects bogus counts before anything is allocated for them.
void check_counts(const uint8_t* data, const at::Tensor& pages) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], needed = rows[page][3] + rows[page][4];
    if (needed > 0 && needed > capacity_of(data + begin, data + rows[page][1]))
      throw DataError(problem_text(DeltaProblem::EndsEarly), {.offset = begin});
  }
}

std::tuple<at::Tensor, at::Tensor> delta_binary_decode(const at::Tensor& bytes, const at::Tensor& pages, bool is_32_bit) {
  check_counts(bytes.const_data_ptr<uint8_t>(), pages);
  at::Tensor values = at::empty({total_take(pages)}, at::kLong);
  at::Tensor ends = at::empty({pages.size(0)}, at::kLong);
  int64_t* out = values.mutable_data_ptr<int64_t>();
  int64_t* end_out = ends.mutable_data_ptr<int64_t>();
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], take = rows[page][4];
    const DeltaOutcome outcome = decode_delta(data + begin, data + rows[page][1], rows[page][3], take, is_32_bit, out);
    if (outcome.problem != DeltaProblem::None) throw DataError(problem_text(outcome.problem), {.offset = begin + outcome.length});
    end_out[page] = begin + outcome.length;
    out += take;
  }
  return {values, ends};
}

}  // namespace

REGISTER_BODY(Cpu, "delta_binary_decode", delta_binary_decode);

}  // namespace pistachio::kernels::cpu
