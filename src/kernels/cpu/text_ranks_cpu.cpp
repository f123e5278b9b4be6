// CPU body of text_ranks. Values are sorted by eight bytes at a time: the leading bits of those bytes and the value's position form a
// number, and the numbers are radix-sorted. Runs of equal values continue with the next bytes, short runs by comparison. Bytes past a
// value's end count as zeros, so values equal to the end may still differ in length, which is the last sort key.

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/cpu/radix_sort.h"
#include "kernels/cpu/text_key.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Runs up to this length are sorted by comparison.
constexpr int64_t short_text_run = 32;

class TextSorter {
 public:
  TextSorter(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, StopCheck stop)
      : data_(bytes.const_data_ptr<uint8_t>()),
        data_end_(data_ + bytes.numel()),
        begins_(begins.const_data_ptr<int64_t>()),
        ends_(ends.const_data_ptr<int64_t>()),
        stop_(stop),
        words_(at::empty({4, begins.numel()}, at::kLong)),
        flags_(at::zeros({begins.numel()}, at::kByte)),
        rows_(words_.mutable_data_ptr<int64_t>(), static_cast<size_t>(begins.numel())),
        is_new_(flags_.mutable_data_ptr<uint8_t>(), rows_.size()),
        keys_(words_of(1)),
        numbers_(words_of(2)),
        scratch_(words_of(3)) {
    std::iota(rows_.begin(), rows_.end(), int64_t{0});
    if (!rows_.empty()) tasks_.push_back({0, begins.numel(), 0});
  }

  void sort() {
    while (!tasks_.empty()) {
      stop_();
      const Run run = tasks_.back();
      tasks_.pop_back();
      if (run.count <= short_text_run) {
        sort_short(run);
      } else {
        sort_long(run);
      }
    }
  }

  // The first value has rank 0.
  void write_ranks(int64_t* ranks) const {
    int64_t rank = 0;
    for_each_strip(static_cast<int64_t>(rows_.size()), stop_, [&](int64_t begin, int64_t end) {
      for (size_t place = static_cast<size_t>(begin); place < static_cast<size_t>(end); ++place) {
        rank += is_new_[place];
        ranks[rows_[place]] = rank;
      }
    });
  }

 private:
  // Rows whose first `skip` bytes are equal.
  struct Run {
    int64_t begin, count, skip;
  };

  std::span<uint64_t> words_of(int64_t part) {
    return {reinterpret_cast<uint64_t*>(words_[part].mutable_data_ptr<int64_t>()), rows_.size()};
  }

  TextSpan text(int64_t row) const { return {data_ + begins_[row], ends_[row] - begins_[row]}; }

  void sort_short(Run run) {
    const auto first = rows_.begin() + run.begin, last = first + run.count;
    std::sort(first, last, [&](int64_t left, int64_t right) {
      const uint64_t left_key = text_key(text(left), data_end_, run.skip), right_key = text_key(text(right), data_end_, run.skip);
      return left_key != right_key ? left_key < right_key : compare_text(text(left), text(right)) < 0;
    });
    for (int64_t place = run.begin + 1; place < run.begin + run.count; ++place) {
      is_new_[static_cast<size_t>(place)] = compare_text(text(row_at(place - 1)), text(row_at(place))) != 0;
    }
  }

  int64_t row_at(int64_t place) const { return rows_[static_cast<size_t>(place)]; }

  // Finds the keys that split the run and advances its skip to them: the next eight bytes that differ or, if none do, the lengths. False if
  // all values are equal.
  struct Keys {
    uint64_t least;
    int width;  // significant bits of key - least
    bool are_lengths;
  };
  bool find_keys(Run& run, Keys& found) {
    int64_t longest = 0;
    for_each_strip(run.count, stop_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) longest = std::max(longest, text(row_at(run.begin + i)).length);
    });
    while (true) {
      found.are_lengths = run.skip >= longest;
      uint64_t least = ~uint64_t{0}, greatest = 0;
      for_each_strip(run.count, stop_, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const TextSpan value = text(row_at(run.begin + i));
          const uint64_t key = found.are_lengths ? static_cast<uint64_t>(value.length) : text_key(value, data_end_, run.skip);
          keys_[static_cast<size_t>(i)] = key;
          least = std::min(least, key);
          greatest = std::max(greatest, key);
        }
      });
      found.least = least;
      found.width = std::bit_width(greatest - least);
      if (found.width > 0) return true;
      if (found.are_lengths) return false;
      run.skip += 8;
    }
  }

  void sort_long(Run run) {
    Keys keys;
    if (!find_keys(run, keys)) return;
    const int index_bits = std::bit_width(static_cast<uint64_t>(run.count - 1));
    const int taken = std::min(keys.width, 64 - index_bits), dropped = keys.width - taken;
    for (size_t i = 0; i < static_cast<size_t>(run.count); ++i) numbers_[i] = (keys_[i] - keys.least) >> dropped << index_bits | i;
    radix_sort(numbers_.data(), scratch_.data(), run.count, index_bits, index_bits + taken, stop_);
    const uint64_t index_mask = (uint64_t{1} << index_bits) - 1;
    for_each_strip(run.count, stop_, [&](int64_t begin, int64_t end) {
      for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        scratch_[i] = static_cast<uint64_t>(row_at(run.begin + static_cast<int64_t>(numbers_[i] & index_mask)));
      }
    });
    stop_();
    std::copy_n(scratch_.begin(), run.count, rows_.begin() + run.begin);

    const auto key_at = [&](int64_t place) { return numbers_[static_cast<size_t>(place)] >> index_bits; };
    const bool equal_to_the_end = keys.are_lengths && dropped == 0;
    const int64_t skip = dropped == 0 ? run.skip + 8 : run.skip;
    for (int64_t begin = 0; begin < run.count;) {
      int64_t end = begin + 1;
      while (end < run.count && key_at(end) == key_at(begin)) ++end;
      if (begin > 0) is_new_[static_cast<size_t>(run.begin + begin)] = true;
      if (end - begin > 1 && !equal_to_the_end) tasks_.push_back({run.begin + begin, end - begin, skip});
      begin = end;
    }
  }

  const uint8_t* data_;
  const uint8_t* data_end_;
  const int64_t* begins_;
  const int64_t* ends_;
  StopCheck stop_;
  // Tensors, whose allocator enforces the memory limit: they may take gigabytes.
  at::Tensor words_;
  at::Tensor flags_;
  std::span<int64_t> rows_;
  std::span<uint8_t> is_new_;  // whether the value differs from its predecessor in sorted order
  std::span<uint64_t> keys_, numbers_, scratch_;
  std::vector<Run> tasks_;
};

at::Tensor text_ranks(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const std::optional<at::Tensor>& stop) {
  at::Tensor ranks = at::empty({begins.numel()}, at::kLong);
  TextSorter sorter(bytes, begins, ends, StopCheck(stop));
  sorter.sort();
  sorter.write_ranks(ranks.mutable_data_ptr<int64_t>());
  return ranks;
}

}  // namespace

REGISTER_BODY(Cpu, "text_ranks", text_ranks);

}  // namespace pistachio::kernels::cpu
