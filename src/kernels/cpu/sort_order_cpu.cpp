// CPU body of sort_order. Keys of real columns span far fewer than 64 bits: as many leading bits of the words as fit are packed into one
// number with the row's position, and the numbers are radix-sorted. If bits were left out, runs of equal rows are sorted by the rest in the
// same way, short runs by comparison.

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/cpu/radix_sort.h"
#include "kernels/cpu/sort_keys_simd.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Runs up to this length are sorted by comparison.
constexpr int64_t short_run = 64;

class RowSorter {
 public:
  // Writes to order[0, count).
  RowSorter(std::vector<const int64_t*> words, int64_t* order, int64_t count, StopCheck stop)
      : words_(std::move(words)), order_(order), stop_(stop), numbers_(at::empty({count}, at::kLong)), scratch_(at::empty({count}, at::kLong)) {
    if (count <= short_run) {
      std::iota(order, order + count, int64_t{0});
      sort_short({0, count, 0});
    } else {
      sort_long({0, count, 0}, nullptr);
    }
    while (!runs_.empty()) {
      stop_();
      const Run run = runs_.back();
      runs_.pop_back();
      if (run.count <= short_run) {
        sort_short(run);
      } else {
        sort_long(run, order_ + run.begin);
      }
    }
  }

 private:
  // Rows that are equal in all words before `word`, still in input order.
  struct Run {
    int64_t begin, count;
    size_t word;
  };

  void sort_short(Run run) {
    std::sort(order_ + run.begin, order_ + run.begin + run.count, [&](int64_t left, int64_t right) {
      for (size_t word = run.word; word < words_.size(); ++word) {
        if (words_[word][left] != words_[word][right]) return words_[word][left] < words_[word][right];
      }
      return left < right;
    });
  }

  struct Packed {
    int bits;
    size_t next_word;
  };
  // Packs the leading bits of each row's words above its position in the run. Returns the number of bits and the word to continue with,
  // which is the last one packed if some of its bits did not fit.
  Packed pack(Run run, const int64_t* rows, int index_bits, uint64_t* numbers) const {
    std::fill_n(numbers, run.count, uint64_t{0});
    int room = 64 - index_bits;
    size_t word = run.word;
    for (; word < words_.size() && room > 0; ++word) {
      stop_();
      const WordRange range = range_of_words(words_[word], rows, run.count);
      const int width = std::bit_width(static_cast<uint64_t>(range.greatest) - static_cast<uint64_t>(range.least));
      const int taken = std::min(width, room), dropped = width - taken;
      if (taken == 0) continue;
      append_words(words_[word], rows, run.count, range.least, dropped, taken, numbers);
      room -= taken;
      if (dropped > 0) break;
    }
    append_positions(run.count, index_bits, numbers);
    return {64 - index_bits - room, word};
  }

  // `rows` are the rows of the run; null for all rows.
  void sort_long(Run run, const int64_t* rows) {
    uint64_t* numbers = reinterpret_cast<uint64_t*>(numbers_.mutable_data_ptr<int64_t>());
    int64_t* scratch = scratch_.mutable_data_ptr<int64_t>();
    const int index_bits = std::bit_width(static_cast<uint64_t>(run.count - 1));
    const Packed packed = pack(run, rows, index_bits, numbers);
    radix_sort(numbers, reinterpret_cast<uint64_t*>(scratch), run.count, index_bits, index_bits + packed.bits, stop_);
    stop_();
    if (rows == nullptr) {
      rows_of_positions(numbers, run.count, index_bits, nullptr, order_);
    } else {
      rows_of_positions(numbers, run.count, index_bits, rows, scratch);
      std::copy_n(scratch, run.count, order_ + run.begin);
    }
    if (packed.next_word == words_.size()) return;
    for (int64_t begin = 0; begin < run.count;) {
      int64_t end = begin + 1;
      while (end < run.count && numbers[end] >> index_bits == numbers[begin] >> index_bits) ++end;
      if (end - begin > 1) runs_.push_back({run.begin + begin, end - begin, packed.next_word});
      begin = end;
    }
  }

  std::vector<const int64_t*> words_;
  int64_t* order_;
  StopCheck stop_;
  at::Tensor numbers_, scratch_;
  std::vector<Run> runs_;  // still to be sorted
};

at::Tensor sort_order(at::TensorList words, const std::optional<at::Tensor>& stop) {
  std::vector<const int64_t*> keys;
  for (const at::Tensor& word : words) keys.push_back(word.const_data_ptr<int64_t>());
  const int64_t rows = words[0].numel();
  at::Tensor order = at::empty({rows}, at::kLong);
  RowSorter(std::move(keys), order.mutable_data_ptr<int64_t>(), rows, StopCheck(stop));
  return order;
}

}  // namespace

REGISTER_BODY(Cpu, "sort_order", sort_order);

}  // namespace pistachio::kernels::cpu
