// Private accumulators for few groups. Consecutive rows of one group would wait for each other's store-to-load forwarding; four copies used
// in round-robin break that dependency. The copies are added to the state at the end. Raw memory, one thread.
#pragma once

#include <array>
#include <cstdint>

namespace pistachio::kernels::cpu {

template <typename Accumulator>
class SegmentCopies {
 public:
  static constexpr int64_t copies = 4;
  static constexpr int64_t most_groups = 512;  // four copies take a third of L1

  // Whether enough rows amortize clearing and merging the copies.
  static bool pays(int64_t groups, int64_t rows) { return groups <= most_groups && rows >= 4 * groups; }

  explicit SegmentCopies(int64_t groups) : groups_(groups) {
    for (int64_t copy = 0; copy < copies; ++copy) {
      for (int64_t group = 0; group < groups; ++group) of(copy)[group] = 0;
    }
  }

  Accumulator* of(int64_t copy) { return accumulators_.data() + copy * stride; }

  // Calls add(group, accumulator) for every group of every copy.
  template <typename Add>
  void add_up(const Add& add) {
    for (int64_t copy = 0; copy < copies; ++copy) {
      for (int64_t group = 0; group < groups_; ++group) add(group, of(copy)[group]);
    }
  }

 private:
  // Not a multiple of 4 KiB, to avoid 4K aliasing: a load falsely depends on a store whose address has the same lowest 12 bits.
  static constexpr int64_t stride = most_groups + 8;

  int64_t groups_;
  std::array<Accumulator, size_t{copies * stride}> accumulators_;
};

// Calls each(row, copy) for all rows, copies in round-robin.
template <typename Each>
[[gnu::always_inline]] inline void for_rows_in_turn(int64_t rows, const Each& each) {
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    each(row, 0);
    each(row + 1, 1);
    each(row + 2, 2);
    each(row + 3, 3);
  }
  for (; row < rows; ++row) each(row, 0);
}

}  // namespace pistachio::kernels::cpu
