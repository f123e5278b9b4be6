// CPU bodies of radix_count and radix_scatter.
#include <ATen/core/Tensor.h>

#include <bit>
#include <vector>

#include "kernels/cpu/counting_sort.h"
#include "kernels/cpu/line_scatter.h"
#include "kernels/cpu/value16.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cpu {

namespace {

// The partition of a row; shifts by 64 are undefined, so a single partition is found by two.
struct RadixOf {
  RadixOf(const at::Tensor& hashes, int64_t partitions)
      : words(reinterpret_cast<const uint64_t*>(hashes.const_data_ptr<int64_t>())),
        shift(64 - std::bit_width(static_cast<uint64_t>(partitions))) {}

  size_t operator()(int64_t row) const { return words[row] >> 1 >> shift; }

  const uint64_t* words;
  int shift;
};

void radix_count(at::Tensor& counts, const at::Tensor& hashes, const std::optional<at::Tensor>& stop) {
  const std::vector<int64_t> more = count_rows_of_parts(hashes.numel(), counts.numel(), RadixOf(hashes, counts.numel()), StopCheck(stop));
  int64_t* sums = counts.mutable_data_ptr<int64_t>();
  for (size_t part = 0; part < more.size(); ++part) sums[part] += more[part];
}

template <typename T>
void scatter(at::Tensor& out, const at::Tensor& values, const RadixOf& radix_of, std::vector<int64_t> places, const StopCheck& stop) {
  const T* from = static_cast<const T*>(values.const_data_ptr());
  LineScatterOf<T> lines(static_cast<T*>(out.mutable_data_ptr()), std::move(places));
  for_each_strip(values.size(0), stop, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) lines.put(radix_of(row), from[row]);
  });
  lines.finish();
}

void radix_scatter(at::Tensor& out, const at::Tensor& values, const at::Tensor& hashes, const at::Tensor& places,
                   const std::optional<at::Tensor>& stop) {
  const int64_t* first = places.const_data_ptr<int64_t>();
  std::vector<int64_t> begins(first, first + places.numel());
  const RadixOf radix_of(hashes, places.numel());
  const StopCheck check(stop);
  switch (values.element_size() * (is_wide(values) ? 2 : 1)) {
    case 1: return scatter<uint8_t>(out, values, radix_of, std::move(begins), check);
    case 2: return scatter<uint16_t>(out, values, radix_of, std::move(begins), check);
    case 4: return scatter<uint32_t>(out, values, radix_of, std::move(begins), check);
    case 8: return scatter<uint64_t>(out, values, radix_of, std::move(begins), check);
    default: return scatter<Value16>(out, values, radix_of, std::move(begins), check);
  }
}

}  // namespace

REGISTER_BODY(Cpu, "radix_count", radix_count);
REGISTER_BODY(Cpu, "radix_scatter", radix_scatter);

}  // namespace pistachio::kernels::cpu
