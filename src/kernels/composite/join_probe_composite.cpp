// Reference body of join_probe: stock ATen calls or scalar loops, slow and simple, on any device.

#include <vector>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

// The table and the probe rows, on the CPU.
struct Probe {
  Probe(const at::Tensor& offset_words, const at::Tensor& order_words, const at::Tensor& ordered_hash_words, const at::Tensor& probe_words,
        const std::optional<at::Tensor>& probe_validity)
      : offsets(offset_words.cpu()),
        order(order_words.cpu()),
        ordered_hashes(ordered_hash_words.cpu()),
        hashes(probe_words.cpu()),
        validity(probe_validity ? probe_validity->cpu() : at::ones({probe_words.size(0)}, at::kBool)) {}

  // Calls found(build row) for each match of the row.
  template <typename Found>
  void look_up(int64_t row, const Found& found) const {
    if (!validity.const_data_ptr<bool>()[row]) return;
    const int64_t hash = hashes.const_data_ptr<int64_t>()[row];
    int64_t bits = 0;
    while ((int64_t{1} << bits) < offsets.numel() - 1) ++bits;
    const int64_t bucket = bits == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(hash) >> (64 - bits));
    const int64_t* bounds = offsets.const_data_ptr<int64_t>() + bucket;
    for (int64_t i = bounds[0]; i < bounds[1]; ++i) {
      if (ordered_hashes.const_data_ptr<int64_t>()[i] == hash) found(order.const_data_ptr<int64_t>()[i]);
    }
  }

  at::Tensor offsets, order, ordered_hashes, hashes, validity;
};

std::tuple<at::Tensor, at::Tensor, int64_t> join_probe(const at::Tensor& offsets, const at::Tensor& order, const at::Tensor& ordered_hashes,
                                                       const at::Tensor& probe_hashes, const std::optional<at::Tensor>& probe_validity,
                                                       int64_t begin, int64_t most_pairs) {
  const Probe probe(offsets, order, ordered_hashes, probe_hashes, probe_validity);
  std::vector<int64_t> probe_rows, build_rows;
  int64_t row = begin;
  for (; row < probe_hashes.size(0) && static_cast<int64_t>(probe_rows.size()) < most_pairs; ++row) {
    probe.look_up(row, [&](int64_t build_row) {
      probe_rows.push_back(row);
      build_rows.push_back(build_row);
    });
  }
  const at::Device device = probe_hashes.device();
  return {at::tensor(probe_rows, at::kLong).to(device), at::tensor(build_rows, at::kLong).to(device), row};
}

}  // namespace

REGISTER_BODY(Composite, "join_probe", join_probe);

}  // namespace pistachio::kernels::composite
