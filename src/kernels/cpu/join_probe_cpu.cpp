// CPU body of join_probe: runs the inner loops on batches of rows, grows the memory for pairs, and handles what the inner loops do not:
// buckets of many rows and tables of very few.

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/cpu/join_table_simd.h"
#include "kernels/cpu/pair_buffer.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Small enough for L1, large enough for cache misses to overlap.
constexpr int64_t batch_rows = 256;

JoinTable table_of(const at::Tensor& offsets, const at::Tensor& ordered_hashes) {
  return {offsets.const_data_ptr<int64_t>(), std::countr_zero(static_cast<uint64_t>(offsets.numel() - 1)),
          ordered_hashes.const_data_ptr<int64_t>(), ordered_hashes.numel()};
}

// Adds all matches of a row, one position at a time.
void add_pairs(const JoinTable& table, const JoinSearch& search, PairBuffer& pairs) {
  pairs.reserve(search.last - search.first + 1);
  int64_t* rows = pairs.probe_rows();
  int64_t* found = pairs.build_rows();
  int64_t count = pairs.size;
  for (int64_t place = search.first; place < search.last; ++place) {
    rows[count] = search.row;
    found[count] = place;
    count += table.hashes[place] == search.hash;
  }
  pairs.size = count;
}

// Maps the table positions of the pairs starting at `first` to build rows.
void resolve(const int64_t* order, int64_t first, PairBuffer& pairs) {
  int64_t* rows = pairs.build_rows();
  for (int64_t i = first; i < pairs.size; ++i) rows[i] = order[rows[i]];
}

// The inner loops compare join_width positions at once; a smaller table is searched one position at a time.
bool is_tiny(const JoinTable& table) {
  return table.rows < join_width;
}

// Prepares the searches of the valid rows in [begin, end); returns their number.
int64_t start_batch(const JoinTable& table, const int64_t* hashes, const bool* validity, int64_t begin, int64_t end, JoinSearch* searches) {
  if (!is_tiny(table)) return start_searches(table, hashes, validity, begin, end, searches);
  int64_t count = 0;
  for (int64_t row = begin; row < end; ++row) {
    if (validity == nullptr || validity[row]) searches[count++] = {row, hashes[row], 0, table.rows};
  }
  return count;
}

// Runs the searches of a batch until there are most_pairs pairs; returns the number of completed searches.
int64_t run_batch(const JoinTable& table, const JoinSearch* searches, int64_t count, int64_t most_pairs, PairBuffer& pairs) {
  int64_t done = 0;
  while (done < count && pairs.size < most_pairs) {
    if (!is_tiny(table)) {
      pairs.reserve(join_width * (count - done) + 1);
      const JoinProgress progress =
          find_pairs(table, searches + done, count - done, pairs.size, most_pairs, pairs.probe_rows(), pairs.build_rows());
      done += progress.searches;
      pairs.size = progress.pairs;
      if (done == count || pairs.size >= most_pairs) break;
    }
    add_pairs(table, searches[done++], pairs);
  }
  return done;
}

std::tuple<at::Tensor, at::Tensor, int64_t> join_probe(const at::Tensor& offsets, const at::Tensor& order, const at::Tensor& ordered_hashes,
                                                       const at::Tensor& probe_hashes, const std::optional<at::Tensor>& probe_validity,
                                                       int64_t begin, int64_t most_pairs) {
  const JoinTable table = table_of(offsets, ordered_hashes);
  const int64_t* hashes = probe_hashes.const_data_ptr<int64_t>();
  const bool* validity = probe_validity ? probe_validity->const_data_ptr<bool>() : nullptr;
  const int64_t rows = probe_hashes.numel();
  PairBuffer pairs(std::min(most_pairs, rows - begin) + join_width * batch_rows + 1);
  std::array<JoinSearch, batch_rows> searches;
  int64_t next = begin;
  while (next < rows && pairs.size < most_pairs) {
    const int64_t end = std::min(rows, next + batch_rows), former = pairs.size;
    const int64_t count = start_batch(table, hashes, validity, next, end, searches.data());
    const int64_t done = run_batch(table, searches.data(), count, most_pairs, pairs);
    next = pairs.size >= most_pairs ? searches[static_cast<size_t>(done - 1)].row + 1 : end;
    resolve(order.const_data_ptr<int64_t>(), former, pairs);
  }
  return pairs.result(next);
}

}  // namespace

REGISTER_BODY(Cpu, "join_probe", join_probe);

}  // namespace pistachio::kernels::cpu
