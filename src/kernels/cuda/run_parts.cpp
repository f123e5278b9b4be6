#include "kernels/cuda/run_parts.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "kernels/cuda/decode_status.h"

namespace pistachio::kernels::cuda {

namespace {

// Shorter parts would spend more time skipping earlier runs than decoding their own.
constexpr int64_t min_part_rows = int64_t{32} << 10;
// Enough blocks to fill a large GPU.
constexpr int64_t target_parts = 1024;
// Outputs up to this size are allocated without checking the counts.
constexpr int64_t trusted_output_bytes = int64_t{1} << 30;

}  // namespace

std::vector<RunPart> cut_run_parts(const std::vector<RunPart>& pages) {
  int64_t total = 0;
  for (const RunPart& page : pages) total += page.count;
  const int64_t part_rows = std::max(min_part_rows, total / target_parts + 1);
  std::vector<RunPart> parts;
  parts.reserve(pages.size());
  for (const RunPart& page : pages) {
    if (page.count == 0 && page.skip > 0) parts.push_back(page);  // the skipped values must exist too
    for (int64_t done = 0; done < page.count; done += part_rows) {
      RunPart part = page;
      part.skip += done;
      part.count = std::min(part_rows, page.count - done);
      part.ends_page = page.ends_page && done + part.count == page.count;
      part.hidden = std::clamp<int64_t>(page.hidden - done, 0, part.count);
      part.target += std::max<int64_t>(0, done - page.hidden);
      parts.push_back(part);
    }
  }
  return parts;
}

void check_run_counts(const at::Tensor& bytes, const at::Tensor& page_table, const std::vector<RunPart>& pages, int64_t output_bytes) {
  if (output_bytes <= trusted_output_bytes) return;
  std::vector<RunPart> doubtful;
  for (const RunPart& page : pages) {
    if (page.bit_width == 0 || page.skip + page.count <= (page.end - page.begin) * 8 / page.bit_width) continue;
    doubtful.push_back(page);
    doubtful.back().skip += page.count;
    doubtful.back().count = 0;
  }
  if (doubtful.empty()) return;
  const UploadedTable<RunPart> parts(doubtful);
  DecodeStatus status;
  check_launch(decode_codes(bytes.const_data_ptr<uint8_t>(), parts.data(), parts.size(), nullptr, status.failure(), status.stream()));
  throw_failure(status.finish(), page_table);
}

}  // namespace pistachio::kernels::cuda
