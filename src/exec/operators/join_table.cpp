#include "exec/operators/join_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "exec/core/lane_ranges.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/join_build.h"
#include "kernels/ops/radix_scatter.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Buckets of a partition, which stay in the cache of a core while its rows are sorted into them.
constexpr int64_t kBucketBits = 13;
// Most tables have at least this many partitions, for all lanes to have some. Beyond 2^11, scattering would thrash the TLB.
constexpr int64_t kMinPartBits = 3;
constexpr int64_t kMaxPartBits = 11;

class LaneBuild {
 public:
  LaneBuild(const RunContext& context, const RowHashes& hashes, int64_t rows, const at::Tensor& valid)
      : hashes_(hashes),
        valid_(valid),
        lane_ranges_(context, rows),
        bits_(kernels::join_bucket_bits(rows)),
        part_bits_(std::clamp(bits_ - kBucketBits, std::min(bits_, kMinPartBits), kMaxPartBits)),
        ranges_(static_cast<size_t>(lane_ranges_.count())),
        places_(ranges_.size()) {}

  int64_t ranges() const { return lane_ranges_.count(); }
  int64_t parts() const { return int64_t{1} << part_bits_; }

  // Hashes the rows of a range and counts those of each partition.
  void count(int64_t number, const CancelToken& token) {
    const int64_t begin = lane_ranges_.begin(number), rows = lane_ranges_.rows(number);
    Range& range = ranges_[static_cast<size_t>(number)];
    at::Tensor& counts = places_[static_cast<size_t>(number)];
    range.hashes = hashes_(begin, rows);
    if (valid_.defined()) {
      const at::Tensor mask = valid_.narrow(0, begin, rows);
      range.hashes = kernels::compress(range.hashes, mask);
      range.rows = mask.nonzero().view({-1}).add_(begin);
    }
    counts = at::zeros({parts()}, at::kLong);
    call_stoppable(token, [&](const at::Tensor& stop) { kernels::radix_count(counts, range.hashes, stop); });
  }

  // After all ranges were counted: chooses where their rows go and allocates the table.
  void place() {
    ends_ = place_parts(places_);
    const int64_t rows = ends_[-1].item<int64_t>();
    table_.offsets = at::empty({(int64_t{1} << bits_) + 1}, at::kLong);
    table_.offsets.narrow(0, 0, 1).zero_();
    table_.order = at::empty({rows}, at::kLong);
    table_.hashes = at::empty({rows}, at::kLong);
  }

  void scatter(int64_t number, const CancelToken& token) {
    Range range = std::exchange(ranges_[static_cast<size_t>(number)], {});
    const at::Tensor& places = places_[static_cast<size_t>(number)];
    const int64_t begin = lane_ranges_.begin(number);
    if (!range.rows.defined()) range.rows = at::arange(begin, begin + range.hashes.numel(), at::kLong);
    call_stoppable(token, [&](const at::Tensor& stop) {
      kernels::radix_scatter(table_.order, range.rows, range.hashes, places, stop);
      kernels::radix_scatter(table_.hashes, range.hashes, range.hashes, places, stop);
    });
  }

  void sort(int64_t part) {
    const int64_t* ends = ends_.const_data_ptr<int64_t>();
    kernels::join_sort_part(table_.offsets, table_.order, table_.hashes, part_bits_, part, part == 0 ? 0 : ends[part - 1], ends[part]);
  }

  JoinTable take_table() { return std::move(table_); }

 private:
  struct Range {
    at::Tensor hashes;  // of the rows that can match
    at::Tensor rows;    // their numbers; undefined: all rows of the range
  };

  const RowHashes& hashes_;
  const at::Tensor valid_;
  const LaneRanges lane_ranges_;
  const int64_t bits_;
  const int64_t part_bits_;
  std::vector<Range> ranges_;
  std::vector<at::Tensor> places_;  // of each range: its rows of each partition, then where they go in the table
  at::Tensor ends_;                 // int64 [parts]
  JoinTable table_;
};

}  // namespace

JoinTable build_join_table(const RowHashes& hashes, int64_t rows, const at::Tensor& valid, const CancelToken& token) {
  JoinTable table;
  std::tie(table.offsets, table.order, table.hashes) =
      call_stoppable(token, [&](const at::Tensor& stop) { return kernels::join_build(hashes(0, rows), valid, stop); });
  return table;
}

Task<JoinTable> build_join_table_on_lanes(RunContext& context, const RowHashes& hashes, int64_t rows, at::Tensor valid,
                                          OperatorMetrics& metrics) {
  const TaskContext& task = co_await current_context();
  if (!context.needs_all_lanes(rows)) {
    WorkTimer timer(metrics);
    co_return build_join_table(hashes, rows, valid, task.token);
  }
  LaneBuild build(context, hashes, rows, valid);
  auto count = [&](int, int64_t range) -> Task<void> {
    WorkTimer timer(metrics);
    build.count(range, task.token);
    co_return;
  };
  Task<void> counting = for_each_lane(context, build.ranges(), count);
  co_await counting;
  build.place();
  auto scatter = [&](int, int64_t range) -> Task<void> {
    WorkTimer timer(metrics);
    build.scatter(range, task.token);
    co_return;
  };
  Task<void> scattering = for_each_lane(context, build.ranges(), scatter);
  co_await scattering;
  auto sort = [&](int, int64_t part) -> Task<void> {
    WorkTimer timer(metrics);
    build.sort(part);
    co_return;
  };
  Task<void> sorting = for_each_lane(context, build.parts(), sort);
  co_await sorting;
  co_return build.take_table();
}

}  // namespace pistachio
