#include "exec/core/lane_sort.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <utility>
#include <vector>

#include "columns/row_selection.h"
#include "exec/core/lane_ranges.h"
#include "exec/core/sort_ranges.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/radix_scatter.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/channel.h"
#include "memory/fitting_ranges.h"

namespace pistachio {

namespace {

// More partitions than this would thrash the TLB.
constexpr int64_t kMaxSortBits = 11;

// Lets tasks with consecutive numbers go one after the other.
class Turns {
 public:
  explicit Turns(int64_t count) {
    for (int64_t i = 0; i < count; ++i) ended_.emplace_back(0);
  }
  // Waits for the end of all turns before this one.
  Task<void> begin(int64_t number) {
    if (number == 0) co_return;
    Task<std::optional<int>> waiting = ended_[static_cast<size_t>(number) - 1].receive();
    co_await waiting;
  }
  void end(int64_t number) { ended_[static_cast<size_t>(number)].close(); }

 private:
  std::deque<Channel<int>> ended_;
};

class LaneSort {
 public:
  LaneSort(RunContext& context, const RowOrder& order, const Chunk& rows, SortedOutput output, OperatorMetrics& metrics, ChunkSink& sink)
      : context_(context),
        order_(order),
        rows_(rows),
        step_(output.step),
        count_(std::min(rows.rows(), output.limit.value_or(INT64_MAX))),
        metrics_(metrics),
        sink_(sink),
        lane_ranges_(context, rows.rows()) {}

  Task<void> run() {
    const TaskContext& task = co_await current_context();
    choose_ranges(task.token);
    auto count = [&](int, int64_t range) -> Task<void> {
      count_parts(range, task.token);
      co_return;
    };
    Task<void> counting = for_each_lane(context_, lane_ranges_.count(), count);
    co_await counting;
    ends_ = place_parts(places_);
    numbers_ = at::empty({rows_.rows()}, at::kLong);
    auto scatter = [&](int, int64_t range) -> Task<void> {
      scatter_numbers(range, task.token);
      co_return;
    };
    Task<void> scattering = for_each_lane(context_, lane_ranges_.count(), scatter);
    co_await scattering;
    words_.clear();
    Turns turns(ranges_->count());
    auto sort = [&](int, int64_t range) -> Task<void> {
      Task<void> passing = sort_and_pass_on(range, turns, task.token);
      co_await passing;
    };
    Task<void> sorting = for_each_lane(context_, ranges_->count(), sort);
    co_await sorting;
  }

 private:
  void choose_ranges(const CancelToken& token) {
    WorkTimer timer(metrics_);
    keys_ = order_.key_values(rows_, token);
    // Ranges of about a chunk, which a core sorts within its cache, and at least two for each lane.
    const int64_t wanted = std::max<int64_t>((rows_.rows() - 1) / context_.chunk_rows(), 2 * context_.lanes - 1);
    ranges_.emplace(order_.keys(), keys_, std::min<int64_t>(std::bit_width(static_cast<uint64_t>(wanted)), kMaxSortBits), token);
    places_.resize(static_cast<size_t>(lane_ranges_.count()));
    words_.resize(static_cast<size_t>(lane_ranges_.count()));
  }

  void count_parts(int64_t range, const CancelToken& token) {
    WorkTimer timer(metrics_);
    const auto place = static_cast<size_t>(range);
    const int64_t begin = lane_ranges_.begin(range), rows = lane_ranges_.rows(range), step = context_.chunk_rows();
    words_[place] = at::empty({rows}, at::kLong);
    for (int64_t done = 0; done < rows; done += step) {  // the temporary words of a strip stay in cache
      const int64_t count = std::min(step, rows - done);
      words_[place].narrow(0, done, count).copy_(ranges_->radix_words(begin + done, count, token));
    }
    places_[place] = at::zeros({ranges_->count()}, at::kLong);
    call_stoppable(token, [&](const at::Tensor& stop) { kernels::radix_count(places_[place], words_[place], stop); });
  }

  void scatter_numbers(int64_t range, const CancelToken& token) {
    WorkTimer timer(metrics_);
    const auto place = static_cast<size_t>(range);
    const int64_t begin = lane_ranges_.begin(range);
    const at::Tensor own = at::arange(begin, begin + lane_ranges_.rows(range), at::kLong);
    call_stoppable(token, [&](const at::Tensor& stop) { kernels::radix_scatter(numbers_, own, words_[place], places_[place], stop); });
    words_[place].reset();
  }

  Task<void> sort_and_pass_on(int64_t range, Turns& turns, const CancelToken& token) {
    const int64_t* ends = ends_.const_data_ptr<int64_t>();
    const int64_t begin = range == 0 ? 0 : ends[range - 1], end = std::min(ends[range], count_);
    at::Tensor order;
    Chunk next;
    if (begin < end && !sink_.is_full()) {
      WorkTimer timer(metrics_);
      const at::Tensor unsorted = numbers_.slice(0, begin, ends[range]);
      order = unsorted.index_select(0, order_.order_of_keys(take_rows(keys_, unsorted), token)).slice(0, 0, end - begin);
      next = take_rows(rows_, order.slice(0, 0, step_));
    }
    Task<void> waiting = turns.begin(range);
    co_await waiting;
    for (int64_t place = step_; next.rows() > 0 && !sink_.is_full(); place += step_) {
      Task<void> passing = pass_on(metrics_, sink_, 0, std::exchange(next, {}));
      co_await passing;
      if (place >= order.numel() || sink_.is_full()) break;
      WorkTimer timer(metrics_);
      next = take_rows(rows_, order.slice(0, place, std::min(place + step_, order.numel())));
    }
    turns.end(range);
  }

  RunContext& context_;
  const RowOrder& order_;
  const Chunk& rows_;
  const int64_t step_;
  const int64_t count_;  // rows to pass on
  OperatorMetrics& metrics_;
  ChunkSink& sink_;
  const LaneRanges lane_ranges_;
  Chunk keys_;
  std::optional<SortRanges> ranges_;
  // Of each range of rows: the sort range of each row, and the places of its rows.
  std::vector<at::Tensor> words_;
  std::vector<at::Tensor> places_;
  at::Tensor ends_;     // of the sort ranges
  at::Tensor numbers_;  // of the rows, by sort range
};

}  // namespace

Task<void> pass_on_sorted(RunContext& context, const RowOrder& order, const Chunk& rows, SortedOutput output, OperatorMetrics& metrics,
                          ChunkSink& sink) {
  if (context.needs_all_lanes(rows.rows())) {
    LaneSort sort(context, order, rows, output, metrics, sink);
    Task<void> running = sort.run();
    co_await running;
    co_return;
  }
  const TaskContext& task = co_await current_context();
  at::Tensor sorted;
  {
    WorkTimer timer(metrics);
    sorted = order.order_of(rows, task.token);
  }
  Task<void> passing = pass_on_in_order(rows, std::move(sorted), output, metrics, sink);
  co_await passing;
}

Task<void> pass_on_in_order(const Chunk& rows, at::Tensor order, SortedOutput output, OperatorMetrics& metrics, ChunkSink& sink) {
  if (output.limit) order = order.slice(0, 0, *output.limit);
  auto gather = [&](int64_t begin, int64_t count) {
    WorkTimer timer(metrics);
    return take_rows(rows, order.narrow(0, begin, count));
  };
  FittingRanges ranges(order.numel(), output.step);
  while (!ranges.is_done() && !sink.is_full()) {
    std::optional<Chunk> next = ranges.try_next(gather);
    if (!next) continue;
    Task<void> passing = pass_on(metrics, sink, 0, std::move(*next));
    co_await passing;
  }
}

}  // namespace pistachio
