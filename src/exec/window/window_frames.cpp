#include "exec/window/window_frames.h"

#include <algorithm>

#include "base/check.h"
#include "columns/concatenate_columns.h"
#include "columns/order_words.h"
#include "columns/row_selection.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/range_search.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

using Kind = FrameBound::Kind;

at::Tensor limited(at::Tensor places, const Segments& to) {
  return places.clamp_(to.begins, to.ends);
}

// Groups of peers, numbered in order.
struct PeerGroups {
  at::Tensor group;   // of each place
  at::Tensor begins;  // of each group
  at::Tensor ends;
};

PeerGroups groups_of(const OrderedWindow& window, size_t keys) {
  const at::Tensor& starts = window.peer_starts(keys);
  const Segments& peers = window.peers(keys);
  return {starts.cumsum(0) - 1, kernels::compress(peers.begins, starts), kernels::compress(peers.ends, starts)};
}

class FrameBuilder {
 public:
  FrameBuilder(const WindowCall& call, const WindowPlan::CallPlaces& places, bool descending, bool nulls_first, const OrderedWindow& window)
      : call_(call),
        call_places_(places),
        descending_(descending),
        nulls_first_(nulls_first),
        window_(window),
        partitions_(window.partitions()) {}

  Segments bounds() {
    const WindowFrame& frame = call_.frame;
    if (call_places_.range_key >= 0) search_values();
    return {place_of(frame.begin, false), place_of(frame.end, true)};
  }

 private:
  const Segments& peers() const { return window_.peers(call_.order_keys); }

  // `is_end`: the place behind the bound, else the place of the bound.
  at::Tensor place_of(const FrameBound& bound, bool is_end) {
    if (bound.kind == Kind::UnboundedPreceding) return partitions_.begins;
    if (bound.kind == Kind::UnboundedFollowing) return partitions_.ends;
    const bool counts_rows = call_.frame.unit == WindowFrame::Unit::Rows;
    if (bound.kind == Kind::CurrentRow) {
      if (counts_rows) return is_end ? window_.places() + 1 : window_.places();
      return is_end ? peers().ends : peers().begins;
    }
    // More rows than there are make no difference.
    const int64_t count = std::min(bound.count, window_.rows()) * (bound.kind == Kind::Preceding ? -1 : 1);
    if (counts_rows) return limited(window_.places() + (count + (is_end ? 1 : 0)), partitions_);
    if (call_.frame.unit == WindowFrame::Unit::Groups) return place_of_group(count, is_end);
    return is_end ? searched_.ends : searched_.begins;
  }

  at::Tensor place_of_group(int64_t distance, bool is_end) const {
    const PeerGroups groups = groups_of(window_, call_.order_keys);
    const at::Tensor wanted = groups.group + distance;
    const at::Tensor first = kernels::gather_rows(groups.group, partitions_.begins);
    const at::Tensor last = kernels::gather_rows(groups.group, partitions_.ends - 1);
    const at::Tensor known = wanted.clamp(0, groups.begins.numel() - 1);
    at::Tensor places = kernels::gather_rows(is_end ? groups.ends : groups.begins, known);
    places = at::where(wanted.lt(first), partitions_.begins, places);
    return at::where(wanted.gt(last), partitions_.ends, places);
  }

  // Frames of RANGE that end at values: the order keys of the partition are searched for them.
  void search_values() {
    const Column key = window_.values_in_order(call_places_.range_key);
    std::vector<Column> columns{key};
    for (int place : {call_places_.range_begin, call_places_.range_end}) {
      if (place >= 0) columns.push_back(window_.values_in_order(place));
    }
    std::vector<at::Tensor> words = comparable_words(columns);
    Segments within = partitions_;
    if (key.has_validity()) within = rows_with_key(key.validity());
    size_t next = 1;
    auto search = [&](bool is_end) {
      at::Tensor places = call_stoppable(window_.token(), [&](const at::Tensor& stop) {
        return kernels::range_search(words[0], words[next], within.begins, within.ends, is_end, stop);
      });
      ++next;
      // Rows without a key have their peers, as far as a value ends the frame.
      return key.has_validity() ? at::where(key.validity(), places, is_end ? peers().ends : peers().begins) : places;
    };
    if (call_places_.range_begin >= 0) searched_.begins = search(false);
    if (call_places_.range_end >= 0) searched_.ends = search(true);
  }

  // One word for each value of columns of one type, in the direction of the order.
  std::vector<at::Tensor> comparable_words(const std::vector<Column>& columns) const {
    std::vector<at::Tensor> words;
    for (const Column& column : columns) {
      const std::vector<at::Tensor> own = order_words(column);
      if (own.size() > 1) return ranks_of_all(columns);
      words.push_back(descending_ ? own[0].bitwise_not() : own[0]);
    }
    return words;
  }

  // Values of several words are ranked together.
  std::vector<at::Tensor> ranks_of_all(const std::vector<Column>& columns) const {
    at::Tensor ranks = dense_ranks(concatenate_columns(columns, window_.token()), window_.token());
    if (descending_) ranks = ranks.bitwise_not();
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < columns.size(); ++i) parts.push_back(ranks.narrow(0, static_cast<int64_t>(i) * window_.rows(), window_.rows()));
    return parts;
  }

  // Of each partition, the places of rows whose key is not NULL.
  Segments rows_with_key(const at::Tensor& validity) const {
    const at::Tensor before = counts_before(validity);
    const at::Tensor count = take_numbers(before, partitions_.ends) - take_numbers(before, partitions_.begins);
    if (nulls_first_) return {partitions_.ends - count, partitions_.ends};
    return {partitions_.begins, partitions_.begins + count};
  }

  const WindowCall& call_;
  const WindowPlan::CallPlaces& call_places_;
  const bool descending_;
  const bool nulls_first_;
  const OrderedWindow& window_;
  const Segments& partitions_;
  Segments searched_;
};

FrameRanges one_range(const Segments& bounds) {
  return {bounds.begins.unsqueeze(0), bounds.ends.unsqueeze(0)};
}

// What is left of the range without the places [hole.begins, hole.ends), and, with `places`, with each row's own place in it.
FrameRanges without_hole(const Segments& bounds, const Segments& hole, const at::Tensor& places) {
  std::vector<at::Tensor> begins{bounds.begins};
  std::vector<at::Tensor> ends{bounds.ends.minimum(hole.begins)};
  if (places.defined()) {
    begins.push_back(bounds.begins.maximum(places));
    ends.push_back(bounds.ends.minimum(places + 1));
  }
  begins.push_back(bounds.begins.maximum(hole.ends));
  ends.push_back(bounds.ends);
  return {at::stack(begins), at::stack(ends)};
}

}  // namespace

FrameRanges frames_of(const WindowCall& call, const WindowPlan::CallPlaces& places, bool descending, bool nulls_first,
                      const OrderedWindow& window) {
  const Segments bounds = FrameBuilder(call, places, descending, nulls_first, window).bounds();
  using Exclusion = WindowFrame::Exclusion;
  switch (call.frame.exclusion) {
    case Exclusion::NoOthers: return one_range(bounds);
    case Exclusion::CurrentRow: return without_hole(bounds, {window.places(), window.places() + 1}, {});
    case Exclusion::Group: return without_hole(bounds, window.peers(call.order_keys), {});
    case Exclusion::Ties: return without_hole(bounds, window.peers(call.order_keys), window.places());
  }
  fail_check(__FILE__, __LINE__, "unknown exclusion");
}

at::Tensor counts_before(const at::Tensor& counted) {
  at::Tensor before = at::zeros({counted.numel() + 1}, counted.options().dtype(at::kLong));
  before.slice(0, 1).copy_(counted.cumsum(0));
  return before;
}

at::Tensor take_numbers(const at::Tensor& numbers, const at::Tensor& places) {
  return kernels::gather_rows(numbers, places.reshape({-1})).view(places.sizes());
}

at::Tensor count_in_frames(const FrameRanges& frames, const at::Tensor& counted) {
  if (!counted.defined()) return (frames.ends - frames.begins).clamp_min(0).sum(0);
  const at::Tensor before = counts_before(counted);
  return (take_numbers(before, frames.ends) - take_numbers(before, frames.begins)).clamp_min(0).sum(0);
}

}  // namespace pistachio
