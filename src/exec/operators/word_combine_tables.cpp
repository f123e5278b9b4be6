// Combine tables of words (kernels/ops/combine_rows.h), at a fraction of the cost of a group table. Rows wait, as words, in partitions by the
// top bits of their hashes. A partition is merged once all sources have sent its rows, or when memory is full: in a table made for it, which
// is filled and emptied while it is in the cache.
#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "columns/row_selection.h"
#include "exec/core/growing_reservation.h"
#include "exec/operators/row_words.h"
#include "kernels/ops/combine_rows.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// RowWords turns the bits of the hash that number the partition to the low end, as all rows of a table have the same ones.
constexpr int64_t kPartitionBits = RowWords::kTurn;
constexpr int64_t kPartitions = int64_t{1} << kPartitionBits;
// A direct-mapped table evicts rows long before it is full. Those go to a second table of half the size, indexed by other bits of the hash:
// two keys that keep evicting each other from the first table meet different slots of the second and are merged there. Then they return.
constexpr int64_t kSlotsPerRow = 2;
constexpr int64_t kSlotsPerSecondSlot = 2;
constexpr int64_t kMinSlots = 64;
// A partition that was merged because memory was full stays if that made it smaller by this factor.
constexpr int64_t kWorthKeeping = 2;
// Rows of a chunk in hash order are cut at the boundaries of partitions; with shorter runs of a partition than this, they are sorted.
constexpr int64_t kRowsPerRun = 256;
// Rows inspected per chunk to see which partition its source has reached; and the partitions that a source's lanes may be apart.
constexpr int64_t kInspectedRows = 32;
constexpr int64_t kLanesApart = 2;
// Fewer rows than this are not worth a message.
constexpr int64_t kRowsWorthSending = 4096;

int64_t partition_of(int64_t word) {
  return word & (kPartitions - 1);
}

// How far the sources have come, by the messages that were added without a gap: messages arrive out of order, and lanes add them
// concurrently. A wrong guess costs merged rows, nothing else. Thread-safe.
class SourceProgress {
 public:
  SourceProgress(const std::vector<int>& sources, int lanes) : lanes_(static_cast<size_t>(lanes)) {
    for (int source : sources) sources_[source] = {};
  }

  void begin_message(int lane, int source, int64_t number) {
    if (sources_.contains(source)) lanes_[static_cast<size_t>(lane)] = {source, number};
  }

  // `words`: rows that the lane has added, in the order in which they were sent. Returns the partitions [first, last) whose rows have all
  // arrived and that were not returned before; without `are_wanted` none, and these the next time.
  std::pair<int64_t, int64_t> advance(int lane, const at::Tensor& words, bool are_wanted) {
    if (lane < 0) return {0, 0};
    const std::optional<Message> message = std::exchange(lanes_[static_cast<size_t>(lane)], std::nullopt);
    if (!message) return {0, 0};
    const int64_t lowest = words.size(0) == 0 ? 0 : lowest_partition(words);
    std::lock_guard lock(mutex_);
    Source& source = sources_.at(message->source);
    source.added[message->number] = lowest;
    while (!source.added.empty() && source.added.begin()->first == source.next) {
      source.reached = std::max<int64_t>(source.reached, source.added.begin()->second - kLanesApart);
      source.added.erase(source.added.begin());
      ++source.next;
    }
    if (!are_wanted) return {0, 0};
    int64_t done = kPartitions;
    for (const auto& [rank, one] : sources_) done = std::min(done, one.reached);
    return {std::exchange(done_, done), done};
  }

 private:
  struct Message {
    int source = 0;
    int64_t number = 0;
  };
  struct Source {
    int64_t next = 0;                  // message; all before it were added
    std::map<int64_t, int64_t> added;  // lowest partition of messages after it
    int64_t reached = 0;               // partition
  };

  static int64_t lowest_partition(const at::Tensor& words) {
    int64_t lowest = kPartitions;
    const int64_t rows = words.size(0), width = words.size(1), step = std::max<int64_t>(1, rows / kInspectedRows);
    const int64_t* word = words.const_data_ptr<int64_t>();
    for (int64_t row = 0; row < rows; row += step) lowest = std::min(lowest, partition_of(word[row * width]));
    return lowest;
  }

  std::vector<std::optional<Message>> lanes_;  // what each lane is adding; only touched by the lane
  std::mutex mutex_;
  // Guarded by mutex_; the keys never change.
  std::map<int, Source> sources_;
  int64_t done_ = 0;
};

class WordCombineTables final : public CombineTables {
 public:
  WordCombineTables(RowWords words, const CombineLimits& limits, const MemoryAccount& account)
      : words_(std::move(words)),
        most_bytes_(limits.bytes),
        most_text_bytes_(limits.bytes / 2),
        account_(account),
        text_memory_(account),
        progress_(limits.sources, limits.lanes),
        partitions_(kPartitions) {}

  void begin_message(int lane, int source, int64_t number) override { progress_.begin_message(lane, source, number); }

  std::vector<Chunk> add(const Chunk& chunk, const CancelToken& token, int lane) override {
    std::vector<Chunk> leaving;
    added_ += chunk.rows();
    bool has_too_many_texts = false;
    {
      std::shared_lock lock(texts_mutex_);
      std::vector<at::Tensor> pieces;
      at::Tensor words = at::empty({0, words_.width()}, at::kLong);
      if (chunk.rows() > 0) {
        Chunk rows = chunk;
        if (const at::Tensor without = words_.without_words(chunk); without.defined()) {
          leaving.push_back(select_rows(chunk, without));
          rows = select_rows(chunk, without.logical_not());
        }
        words = std::get<0>(words_.words_of(rows, 0, token));
        add_words(words, pieces);
      }
      const auto [first, last] = progress_.advance(lane, words, held() >= kRowsWorthSending);
      for (int64_t partition = first; partition < last; ++partition) {
        token.throw_if_cancelled();
        empty(partitions_[static_cast<size_t>(partition)], pieces);
      }
      if (!pieces.empty()) leaving.push_back(words_.chunk_of(pieces));
      const int64_t text_bytes = words_.text_bytes();
      has_too_many_texts = text_bytes > most_text_bytes_;
      if (text_bytes > 0) {
        std::lock_guard memory_lock(text_memory_mutex_);
        text_memory_->cover(text_bytes);
      }
    }
    for (const Chunk& rows : leaving) evicted_ += rows.rows();
    if (has_too_many_texts) renew_texts(leaving);
    return leaving;
  }

  int64_t parts() const override { return kPartitions; }

  int64_t bytes() const override {
    std::shared_lock lock(texts_mutex_);
    return bytes_ + words_.text_bytes();
  }

 private:
  // Rows that wait. Those of one chunk in hash order share their memory.
  struct Piece {
    at::Tensor words;
    std::shared_ptr<const Reservation> memory;
  };

  struct Table {
    at::Tensor entries;
    std::optional<Reservation> memory;
  };

  struct Partition {
    std::mutex mutex;
    // Guarded by mutex.
    std::vector<Piece> pieces;
    int64_t rows = 0;
    SteadyTime last_added;
  };

  std::vector<Chunk> take_part(int64_t part, SteadyTime since) override {
    std::shared_lock lock(texts_mutex_);
    return take_partition(partitions_[static_cast<size_t>(part)], since);
  }

  // Requires texts_mutex_.
  std::vector<Chunk> take_partition(Partition& partition, SteadyTime since) {
    {
      std::lock_guard lock(partition.mutex);
      if (partition.rows == 0 || partition.last_added >= since) return {};
    }
    std::vector<at::Tensor> pieces;
    empty(partition, pieces);
    if (pieces.empty()) return {};
    return {words_.chunk_of(pieces)};
  }

  // Rows that have no room, or that have none in their partition, end up in `pieces`.
  void add_words(const at::Tensor& words, std::vector<at::Tensor>& pieces) {
    auto add = [&](int64_t partition, at::Tensor rows, std::shared_ptr<const Reservation> memory) {
      add_rows(partitions_[static_cast<size_t>(partition)], {std::move(rows), std::move(memory)}, pieces);
    };
    const std::vector<int64_t> begins = begins_of_runs(words);
    if (static_cast<int64_t>(begins.size()) > 1 + words.size(0) / kRowsPerRun + kPartitions) {
      const auto [order, offsets] = kernels::partition_rows(words.select(1, 0).bitwise_left_shift(64 - kPartitionBits), kPartitionBits);
      const int64_t* offset = offsets.const_data_ptr<int64_t>();
      // Copied one by one: a partition that is emptied early must not wait for the memory of the others.
      for (int64_t partition = 0; partition < kPartitions; ++partition) {
        if (offset[partition] == offset[partition + 1]) continue;
        at::Tensor rows = words.index_select(0, order.slice(0, offset[partition], offset[partition + 1]));
        std::shared_ptr<const Reservation> memory = reserve(rows);
        if (memory != nullptr)
          add(partition, std::move(rows), std::move(memory));
        else
          pieces.push_back(merged(rows));
      }
      return;
    }
    const std::shared_ptr<const Reservation> memory = reserve(words);
    if (memory == nullptr) {
      pieces.push_back(merged(words));
      return;
    }
    const int64_t* word = words.const_data_ptr<int64_t>();
    for (size_t i = 0; i + 1 < begins.size(); ++i)
      add(partition_of(word[begins[i] * words.size(1)]), words.slice(0, begins[i], begins[i + 1]), memory);
  }

  // Null if there is no memory.
  std::shared_ptr<const Reservation> reserve(const at::Tensor& words) const {
    std::optional<Reservation> memory = account_.try_reserve(static_cast<int64_t>(words.nbytes()), ReservationKind::Held);
    return memory ? std::make_shared<const Reservation>(std::move(*memory)) : nullptr;
  }

  // Where rows of another partition begin, and the end.
  static std::vector<int64_t> begins_of_runs(const at::Tensor& words) {
    const int64_t rows = words.size(0), width = words.size(1);
    const int64_t* word = words.const_data_ptr<int64_t>();
    std::vector<int64_t> begins;
    int64_t last = -1;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t partition = partition_of(word[row * width]);
      if (partition != last) begins.push_back(row);
      last = partition;
    }
    begins.push_back(rows);
    return begins;
  }

  void add_rows(Partition& partition, Piece piece, std::vector<at::Tensor>& pieces) {
    std::vector<Piece> full;
    {
      std::lock_guard lock(partition.mutex);
      partition.last_added = std::chrono::steady_clock::now();
      partition.rows += piece.words.size(0);
      bytes_ += static_cast<int64_t>(piece.words.nbytes());
      partition.pieces.push_back(std::move(piece));
      if (bytes_ <= most_bytes_ || !has_its_share(partition.rows)) return;
      full = take_pieces(partition);
    }
    const int64_t rows_before = rows_of(full);
    at::Tensor rows = merged(joined(std::move(full)));
    const auto row_count = rows.size(0);
    if (row_count * kWorthKeeping > rows_before || has_its_share(row_count * kWorthKeeping)) {
      pieces.push_back(std::move(rows));
      return;
    }
    std::shared_ptr<const Reservation> memory = reserve(rows);
    if (memory == nullptr) {
      pieces.push_back(std::move(rows));
      return;
    }
    std::lock_guard lock(partition.mutex);
    partition.rows += row_count;
    bytes_ += static_cast<int64_t>(rows.nbytes());
    partition.pieces.push_back({std::move(rows), std::move(memory)});
  }

  bool has_its_share(int64_t rows) const { return rows * row_bytes() > most_bytes_ / kPartitions; }

  // Requires the mutex of the partition.
  std::vector<Piece> take_pieces(Partition& partition) {
    bytes_ -= partition.rows * row_bytes();
    partition.rows = 0;
    return std::exchange(partition.pieces, {});
  }

  void empty(Partition& partition, std::vector<at::Tensor>& pieces) {
    std::vector<Piece> all;
    {
      std::lock_guard lock(partition.mutex);
      all = take_pieces(partition);
    }
    if (!all.empty()) pieces.push_back(merged(joined(std::move(all))));
  }

  static int64_t rows_of(const std::vector<Piece>& pieces) {
    int64_t rows = 0;
    for (const Piece& piece : pieces) rows += piece.words.size(0);
    return rows;
  }

  static at::Tensor joined(std::vector<Piece> pieces) {
    std::vector<at::Tensor> words;
    for (Piece& piece : pieces) words.push_back(std::move(piece.words));
    return words.size() == 1 ? words[0] : kernels::concatenate_tensors(words);
  }

  // The rows, of which those with equal keys are merged, but for a few.
  at::Tensor merged(const at::Tensor& words) {
    const int64_t most_slots = std::max(kMinSlots, most_bytes_ / row_bytes());
    const int64_t wanted = std::clamp(words.size(0) * kSlotsPerRow, kMinSlots, most_slots);
    const auto slots = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted)));
    Table first = make_table(slots);
    at::Tensor displaced = combine(first, words);
    std::vector<at::Tensor> rows;
    if (displaced.size(0) > 0) {
      Table second = make_table(slots / kSlotsPerSecondSlot);
      kernels::turn_hashes(displaced);
      at::Tensor left = kernels::concatenate_tensors({combine(second, displaced), kernels::combine_flush(second.entries)});
      kernels::turn_hashes(left);
      // The last row of a key that was displaced is in the first table.
      rows.push_back(combine(first, left));
    }
    rows.push_back(kernels::combine_flush(first.entries));
    return rows.size() == 1 ? rows[0] : kernels::concatenate_tensors(rows);
  }

  // Returns the rows that leave the table.
  at::Tensor combine(Table& table, const at::Tensor& words) {
    const auto [left, count] = kernels::combine_rows(table.entries, words, words_.key_words(), words_.merges());
    merged_ += count;
    return left;
  }

  // With fewer slots if there is no memory for so many.
  Table make_table(int64_t slots) const {
    std::optional<Reservation> memory = account_.try_reserve(slots * row_bytes(), ReservationKind::Held);
    if (!memory) slots = std::min(slots, kMinSlots);
    Table table{at::empty({slots, words_.width()}, at::kLong), std::move(memory)};
    table.entries.select(1, 0).zero_();
    return table;
  }

  int64_t row_bytes() const { return words_.width() * static_cast<int64_t>(sizeof(int64_t)); }

  // Once there are too many texts, empties the partitions and restarts the numbering.
  void renew_texts(std::vector<Chunk>& leaving) {
    std::lock_guard lock(texts_mutex_);
    if (words_.text_bytes() <= most_text_bytes_) return;
    for (Partition& partition : partitions_) {
      for (Chunk& rows : take_partition(partition, SteadyTime::max())) {
        evicted_ += rows.rows();
        leaving.push_back(std::move(rows));
      }
    }
    words_.forget_texts();
    text_memory_.emplace(account_);
  }

  mutable std::shared_mutex texts_mutex_;  // exclusive while the text numbering is cleared, which invalidates words
  RowWords words_;
  const int64_t most_bytes_;  // of all partitions; each may have its share even if others have more
  const int64_t most_text_bytes_;
  const MemoryAccount account_;
  std::mutex text_memory_mutex_;
  std::optional<GrowingReservation> text_memory_;  // guarded by it
  SourceProgress progress_;
  std::vector<Partition> partitions_;
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace

std::unique_ptr<CombineTables> make_word_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                        const MemoryAccount& account) {
  std::optional<RowWords> words = RowWords::of(columns);
  if (!words) return nullptr;
  return std::make_unique<WordCombineTables>(std::move(*words), limits, account);
}

}  // namespace pistachio
