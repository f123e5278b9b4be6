// Rows of whole partitions in the order of a window, and the values of its expressions. One piece of work of one lane; device-free. The rows
// themselves are not moved: positions in the order ("places") are mapped to rows by `order`.
#pragma once

#include <optional>
#include <vector>

#include "exec/window/window_plan.h"

namespace pistachio {

// For each place, int64: the first place of its segment, and the one behind its last.
struct Segments {
  at::Tensor begins;
  at::Tensor ends;
};

class OrderedWindow {
 public:
  // Sorts the rows. Both outlive it. Throws Cancelled soon after the token is cancelled, now and later.
  OrderedWindow(const WindowPlan& plan, const Chunk& rows, const CancelToken& token);

  int64_t rows() const { return rows_; }
  const CancelToken& token() const { return token_; }
  // int64 [rows]: the row at each place, 0 .. rows - 1.
  const at::Tensor& order() const { return order_; }
  const at::Tensor& places() const { return places_; }
  const Segments& partitions() const { return partitions_; }
  // Rows that the first `keys` order keys do not tell apart; at most WindowPlan::keys_of_peers().
  const Segments& peers(size_t keys) const;
  // bool [rows]: whether a group of such peers begins.
  const at::Tensor& peer_starts(size_t keys) const { return starts_[keys]; }

  // Values of the plan's expressions: by row, and by place.
  const Column& values(int expression) const { return values_[static_cast<size_t>(expression)]; }
  Column values_in_order(int expression) const;

 private:
  const CancelToken& token_;
  int64_t rows_;
  std::vector<Column> values_;
  at::Tensor order_;
  at::Tensor places_;
  Segments partitions_;
  std::vector<at::Tensor> starts_;  // by the number of order keys: none are the partitions
  mutable std::vector<std::optional<Segments>> peers_;
};

// int64 [rows], from 0: equal for equal values, in their order. Any type; arbitrary for NULLs.
at::Tensor dense_ranks(const Column& column, const CancelToken& token);
// The same of rows of words, the most significant first.
at::Tensor ranks_of_words(const std::vector<at::Tensor>& words, const CancelToken& token);

}  // namespace pistachio
