// The pairs that a join probe has found so far; grows as needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

class PairBuffer {
 public:
  explicit PairBuffer(int64_t capacity)
      : capacity_(capacity), probe_rows_(at::empty({capacity}, at::kLong)), build_rows_(at::empty({capacity}, at::kLong)) {
    find_data();
  }

  int64_t size = 0;
  // Valid until the next call of reserve().
  int64_t* probe_rows() { return probe_data_; }
  int64_t* build_rows() { return build_data_; }

  void reserve(int64_t more) {
    if (size + more <= capacity_) return;
    capacity_ = std::max(2 * capacity_, size + more);
    for (at::Tensor* tensor : {&probe_rows_, &build_rows_}) {
      at::Tensor larger = at::empty({capacity_}, at::kLong);
      std::copy_n(tensor->const_data_ptr<int64_t>(), size, larger.mutable_data_ptr<int64_t>());
      *tensor = larger;
    }
    find_data();
  }

  // `next`: the first row not yet probed.
  std::tuple<at::Tensor, at::Tensor, int64_t> result(int64_t next) const { return {part_of(probe_rows_), part_of(build_rows_), next}; }

 private:
  // A view is free but keeps the whole allocation alive: acceptable unless most of it is unused.
  at::Tensor part_of(const at::Tensor& rows) const {
    const at::Tensor part = rows.slice(0, 0, size);
    return size < capacity_ / 2 ? part.clone() : part;
  }

  void find_data() {
    probe_data_ = probe_rows_.mutable_data_ptr<int64_t>();
    build_data_ = build_rows_.mutable_data_ptr<int64_t>();
  }

  int64_t capacity_;
  at::Tensor probe_rows_, build_rows_;
  int64_t* probe_data_;
  int64_t* build_data_;
};

}  // namespace pistachio::kernels::cpu
