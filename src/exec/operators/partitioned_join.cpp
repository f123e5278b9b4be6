#include "exec/operators/partitioned_join.h"

#include "exec/core/lane_concatenation.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// A partition with more than this share of the rows it was split from is not split again: a single key has most of them.
constexpr double kFrequentShare = 0.8;

}  // namespace

PartitionedJoin::PartitionedJoin(const JoinShape& shape, RunContext& context, OperatorMetrics& metrics, ChunkSink& sink)
    : shape_(shape),
      context_(context),
      metrics_(metrics),
      sink_(sink),
      account_(context.memory.make_child("join")),
      left_keys_(keys_of(shape.plan, &JoinKey::left), shape.left_layout),
      build_keys_(keys_of(shape.plan, &JoinKey::right), shape.right_layout) {}

Task<void> PartitionedJoin::run(const SpilledPartitions& build, const SpilledPartitions& left) {
  int64_t rows = 0;
  for (size_t i = 0; i < build.count(); ++i) rows += build.at(i).rows();
  for (size_t i = 0; i < build.count() && !sink_.is_full(); ++i) {
    Task<void> joining = join(build.at(i), left.at(i), 1, rows);
    co_await joining;
  }
}

Task<void> PartitionedJoin::join(const SpilledChunks& build, const SpilledChunks& left, int level, int64_t rows_above) {
  if (build.rows() == 0 && !(left.rows() > 0 && shape_.wants_left_rows(0))) co_return;
  if (left.rows() == 0 && !shape_.asks_for_matched_build_rows()) co_return;
  const bool has_frequent_key = static_cast<double>(build.rows()) > kFrequentShare * static_cast<double>(rows_above);
  const int64_t wanted = build.bytes() + shape_.bytes_of_table(build.bytes(), build.rows());
  Task<void> making = context_.spill.make_room(wanted);
  co_await making;
  if (context_.spill.fits(wanted) || shape_.plan.keys.empty() || level > SpilledPartitions::kMaxLevels || (has_frequent_key && level > 1)) {
    Task<void> joining = join_by_blocks(build, left);
    co_await joining;
    co_return;
  }
  SpilledPartitions build_parts(context_.spill.make_file(), SpilledPartitions::kBitsPerLevel, level);
  SpilledPartitions left_parts(context_.spill.make_file(), SpilledPartitions::kBitsPerLevel, level);
  Task<void> splitting_build = split(build, build_keys_, build_parts);
  co_await splitting_build;
  Task<void> splitting_left = split(left, left_keys_, left_parts);
  co_await splitting_left;
  for (size_t i = 0; i < build_parts.count() && !sink_.is_full(); ++i) {
    Task<void> joining = join(build_parts.at(i), left_parts.at(i), level + 1, build.rows());
    co_await joining;
  }
}

Task<void> PartitionedJoin::split(const SpilledChunks& from, const ExpressionEvaluator& keys, SpilledPartitions& to) {
  const TaskContext& task = co_await current_context();
  auto split_piece = [&](int, int64_t piece) -> Task<void> {
    Task<Chunk> reading = from.read(static_cast<size_t>(piece), context_.device);
    Chunk rows = co_await reading;
    from.release(static_cast<size_t>(piece));
    const SpilledPartitions::Hash hash = [&](const Chunk& part) { return partition_hashes(keys, part, task.token); };
    Task<int64_t> writing = to.add(std::move(rows), hash);
    metrics_.spilled += co_await writing;
  };
  Task<void> all = for_each_lane(context_, static_cast<int64_t>(from.pieces().size()), split_piece);
  co_await all;
}

PartitionedJoin::Block PartitionedJoin::next_block(const SpilledChunks& build, size_t begin) const {
  Block block{begin, begin};
  int64_t bytes = 0;
  int64_t rows = 0;
  for (; block.end < build.pieces().size(); ++block.end) {
    bytes += build.pieces()[block.end].bytes();
    rows += build.pieces()[block.end].rows;
    // Leaves half of the memory to left rows and pairs.
    if (block.end > begin && !context_.spill.fits(2 * (bytes + shape_.bytes_of_table(bytes, rows)))) break;
  }
  return block;
}

Task<void> PartitionedJoin::load(const SpilledChunks& from, Block block, BuildSide& to) {
  int64_t bytes = 0;
  for (size_t i = block.begin; i < block.end; ++i) bytes += from.pieces()[i].bytes();
  std::vector<Reservation> memory;
  Task<Reservation> reserving_rows = context_.spill.reserve(account_, bytes);
  memory.push_back(co_await reserving_rows);
  // For the pieces, which exist until they are concatenated.
  Task<Reservation> reserving_pieces = context_.spill.reserve(account_, bytes);
  const Reservation pieces = co_await reserving_pieces;
  std::vector<Chunk> chunks(block.end - block.begin);
  auto read_piece = [&](int, int64_t piece) -> Task<void> {
    Task<Chunk> reading = from.read(block.begin + static_cast<size_t>(piece), context_.device);
    chunks[static_cast<size_t>(piece)] = co_await reading;
    from.release(block.begin + static_cast<size_t>(piece));
  };
  Task<void> all = for_each_lane(context_, static_cast<int64_t>(chunks.size()), read_piece);
  co_await all;
  Task<Chunk> concatenating = concatenate_on_lanes(context_, std::exchange(chunks, {}), shape_.right_types, metrics_);
  Chunk rows = co_await concatenating;
  Task<void> building = to.build_on_lanes(context_, std::move(rows), std::move(memory), metrics_);
  co_await building;
}

Task<void> PartitionedJoin::join_by_blocks(const SpilledChunks& build, const SpilledChunks& left) {
  // One per piece of the left side, if there are several blocks.
  std::vector<JoinProbe::LeftState> states;
  Reservation memory_of_states;
  size_t next = 0;
  do {
    const Block block = next_block(build, next);
    const bool is_first = block.begin == 0;
    const bool is_last = block.end == build.pieces().size();
    if (is_first && !is_last) {
      memory_of_states = account_.reserve_now(2 * left.rows(), ReservationKind::Held);
      states.resize(left.pieces().size());
    }
    BuildSide side(shape_, account_);
    Task<void> loading = load(build, block, side);
    co_await loading;
    JoinProbe probe(shape_, side, context_, metrics_, sink_);
    auto match_piece = [&](int lane, int64_t number) -> Task<void> {
      const auto piece = static_cast<size_t>(number);
      if (sink_.is_full()) co_return;
      Task<Chunk> reading = left.read(piece, context_.device);
      const Chunk rows = co_await reading;
      JoinProbe::LeftState state = is_first ? probe.no_matches(rows.rows()) : std::move(states[piece]);
      Task<void> matching = probe.match(lane, rows, state);
      co_await matching;
      if (is_last) {
        left.release(piece);
        Task<void> finishing = probe.finish(lane, rows, state);
        co_await finishing;
      } else {
        states[piece] = std::move(state);
      }
    };
    Task<void> matching = for_each_lane(context_, static_cast<int64_t>(left.pieces().size()), match_piece);
    co_await matching;
    Task<void> producing = side.produce_rows_by_match(context_, metrics_, sink_);
    co_await producing;
    next = block.end;
  } while (next < build.pieces().size() && !sink_.is_full());
}

}  // namespace pistachio
