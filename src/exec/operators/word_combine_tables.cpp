// Combine tables of words (kernels/ops/combine_rows.h): direct-mapped, at a fraction of the cost of a group table.
#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "columns/row_selection.h"
#include "exec/core/growing_reservation.h"
#include "exec/operators/partition_order.h"
#include "exec/operators/row_words.h"
#include "kernels/ops/combine_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

constexpr int64_t kFirstSlots = 1 << 12;
// A direct-mapped table evicts rows long before it is full, so it begins with room for a first chunk and grows, up to its limit, once a
// third of it is in use or it evicts much. With the second table, one row in a hundred that come into a table so full evicts another.
// Evicted rows go to a second table of half the size, indexed by other bits of the hash: two keys that keep evicting each other from the
// first table meet different slots of the second and are merged there.
constexpr int64_t kFirstSlotsPerRow = 4;
constexpr int64_t kSlotsPerRow = 3;
constexpr int64_t kTableGrowth = 2;
constexpr int64_t kSlotsPerSecondSlot = 2;
constexpr int64_t kFewRowsPerEviction = 32;
constexpr int64_t kSmallestBatch = 256;

// Ranks emit the groups of one partition of hashes after the other (partition_order.h), in partitions of any size; this is that of those
// that are taken out of a table. RowWords turns the first bits of the hash to the low end; the next ones select a region of the table. So
// several partitions have the same region, and more of the table serves the few partitions that ranks are sending now.
constexpr int64_t kTrackedBits = 6;
constexpr int64_t kPartitions = int64_t{1} << kTrackedBits;
constexpr int64_t kRegions = kPartitions >> RowWords::kTurn;
constexpr int64_t kTurnedMask = (int64_t{1} << RowWords::kTurn) - 1;
// Rows inspected per chunk to see which place its source has reached; and the places that a source's lanes may be apart.
constexpr int64_t kInspectedRows = 512;
constexpr int64_t kLanesApart = 2;
// Looking for the rows of a partition costs more than waiting for more of them, if there are fewer rows in all tables.
constexpr int64_t kRowsWorthSending = 4096;

int64_t partition_of(int64_t word) {
  const auto hash = std::rotr(static_cast<uint64_t>(word), RowWords::kTurn);
  return static_cast<int64_t>(hash >> (64 - kTrackedBits));
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

  // `words`: rows that the lane has added, in the order in which they were sent. Returns the partitions whose rows have all arrived and
  // that were not returned before; without `are_wanted` none, and these the next time. Partitions of which few rows were added may be left
  // out: most have no rows for this rank.
  std::vector<int64_t> advance(int lane, const at::Tensor& words, bool are_wanted) {
    if (lane < 0) return {};
    const std::optional<Message> message = std::exchange(lanes_[static_cast<size_t>(lane)], std::nullopt);
    if (!message) return {};
    const uint64_t places = places_of(words);
    std::lock_guard lock(mutex_);
    places_ |= places;
    Source& source = sources_.at(message->source);
    source.added[message->number] = places == 0 ? 0 : std::countr_zero(places);
    while (!source.added.empty() && source.added.begin()->first == source.next) {
      source.reached = std::max<int64_t>(source.reached, source.added.begin()->second - kLanesApart);
      source.added.erase(source.added.begin());
      ++source.next;
    }
    if (!are_wanted) return {};
    int64_t done = kPartitions;
    for (const auto& [rank, one] : sources_) done = std::min(done, one.reached);
    std::vector<int64_t> partitions;
    for (; done_ < done; ++done_) {
      if ((places_ >> done_ & 1) != 0) partitions.push_back(partition_at(done_, kTrackedBits));
    }
    return partitions;
  }

 private:
  struct Message {
    int source = 0;
    int64_t number = 0;
  };
  struct Source {
    int64_t next = 0;                  // message; all before it were added
    std::map<int64_t, int64_t> added;  // first place of messages after it
    int64_t reached = 0;               // place
  };

  // A bit for the place of each partition that occurs in a sample of the rows.
  static uint64_t places_of(const at::Tensor& words) {
    uint64_t places = 0;
    const int64_t rows = words.size(0), width = words.size(1), step = std::max<int64_t>(1, rows / kInspectedRows);
    const int64_t* word = words.const_data_ptr<int64_t>();
    for (int64_t row = 0; row < rows; row += step)
      places |= uint64_t{1} << place_of_partition(partition_of(word[row * width]), kTrackedBits);
    return places;
  }

  std::vector<std::optional<Message>> lanes_;  // what each lane is adding; only touched by the lane
  std::mutex mutex_;
  // Guarded by mutex_; the keys never change.
  std::map<int, Source> sources_;
  uint64_t places_ = 0;  // of all rows so far
  int64_t done_ = 0;     // place
};

class WordCombineTables final : public CombineTables {
 public:
  WordCombineTables(RowWords words, const CombineLimits& limits, const MemoryAccount& account)
      : words_(std::move(words)),
        bits_(combine_table_bits(limits.lanes)),
        most_text_bytes_(limits.bytes / 2),
        account_(account),
        text_memory_(account),
        progress_(limits.sources, limits.lanes),
        tables_(size_t{1} << bits_) {
    while (bytes_of(2 * most_slots_) <= limits.bytes >> bits_) most_slots_ *= 2;
  }

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
        at::Tensor offsets;
        std::tie(words, offsets) = words_.words_of(rows, bits_, token);
        add_words(words, offsets, pieces);
      }
      for (const int64_t partition : progress_.advance(lane, words, held() >= kRowsWorthSending)) take_partition(partition, pieces);
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

  int64_t bytes() const override {
    std::shared_lock lock(texts_mutex_);
    return bytes_ + words_.text_bytes();
  }

 private:
  struct Table {
    std::mutex mutex;
    // Guarded by mutex.
    at::Tensor entries;  // undefined: empty
    at::Tensor second;   // takes what `entries` evicts, with turned hashes
    Reservation memory;
    int64_t rows = 0;
    bool may_grow = true;
    int64_t batch = 0;  // rows to add before it is checked whether the table must grow
    SteadyTime last_added;
  };

  std::vector<Chunk> take_idle(SteadyTime since) override {
    std::shared_lock lock(texts_mutex_);
    return take_idle_tables(since);
  }

  // Requires texts_mutex_.
  std::vector<Chunk> take_idle_tables(SteadyTime since) {
    std::vector<Chunk> leaving;
    for (Table& table : tables_) {
      std::vector<at::Tensor> pieces;
      {
        std::lock_guard lock(table.mutex);
        if (!table.entries.defined() || table.last_added >= since) continue;
        take_slots(table, {}, pieces);
        for (at::Tensor* entries : {&table.entries, &table.second}) {
          bytes_ -= static_cast<int64_t>(entries->nbytes());
          *entries = at::Tensor();
        }
        table.memory.release();
        table.rows = 0;
      }
      if (!pieces.empty()) leaving.push_back(words_.chunk_of(pieces));
    }
    return leaving;
  }

  // Moves the rows of a partition, or all rows, out of the table. Requires its mutex.
  static void take_slots(Table& table, std::optional<int64_t> partition, std::vector<at::Tensor>& pieces) {
    for (at::Tensor* entries : {&table.entries, &table.second}) {
      at::Tensor rows;
      if (partition) {
        const int64_t slots = entries->size(0), region = *partition % kRegions;
        const int low = entries == &table.second ? kernels::kTurnedHalf : 0;  // where the lowest bits of unturned hashes are
        rows = kernels::combine_flush(*entries, slots * region / kRegions, slots * (region + 1) / kRegions, kTurnedMask << low,
                                      *partition / kRegions << low);
      } else {
        rows = kernels::combine_flush(*entries);
      }
      if (rows.size(0) == 0) continue;
      table.rows -= rows.size(0);
      if (entries == &table.second) kernels::turn_hashes(rows);
      pieces.push_back(std::move(rows));
    }
  }

  void take_partition(int64_t partition, std::vector<at::Tensor>& pieces) {
    for (Table& table : tables_) {
      std::lock_guard lock(table.mutex);
      if (table.entries.defined()) take_slots(table, partition, pieces);
    }
  }

  // Tables locked by other lanes are visited last. Lanes start at different tables.
  void add_words(const at::Tensor& words, const at::Tensor& offsets, std::vector<at::Tensor>& pieces) {
    const int64_t* offset = offsets.const_data_ptr<int64_t>();
    const size_t first = next_first_++;
    std::vector<size_t> busy;
    for (size_t i = 0; i < tables_.size(); ++i) {
      const size_t at = (first + i) % tables_.size();
      if (offset[at] == offset[at + 1]) continue;
      if (!tables_[at].mutex.try_lock()) {
        busy.push_back(at);
        continue;
      }
      std::lock_guard lock(tables_[at].mutex, std::adopt_lock);
      add_under_lock(tables_[at], words.slice(0, offset[at], offset[at + 1]), pieces);
    }
    for (size_t at : busy) {
      std::lock_guard lock(tables_[at].mutex);
      add_under_lock(tables_[at], words.slice(0, offset[at], offset[at + 1]), pieces);
    }
  }

  void add_under_lock(Table& table, const at::Tensor& words, std::vector<at::Tensor>& pieces) {
    table.last_added = std::chrono::steady_clock::now();
    if (!table.entries.defined()) make_slots(table, words.size(0));
    for (int64_t begin = 0; begin < words.size(0);) {
      const int64_t slots = table.entries.size(0);
      const int64_t count = std::min(words.size(0) - begin, table.may_grow ? table.batch : words.size(0));
      const int64_t left = combine(table, words.slice(0, begin, begin + count), pieces);
      begin += count;
      table.batch = std::min(2 * table.batch, std::max(kSmallestBatch, slots / kRegions));
      if (table.may_grow && (table.rows * kSlotsPerRow > slots || left * kFewRowsPerEviction > count)) grow(table, pieces);
    }
  }

  // Returns the number of rows that left the table.
  int64_t combine(Table& table, const at::Tensor& words, std::vector<at::Tensor>& pieces) {
    auto [displaced, merged] = kernels::combine_rows(table.entries, words, words_.key_words(), words_.merges());
    int64_t left = 0;
    if (displaced.size(0) > 0) {
      kernels::turn_hashes(displaced);
      auto [leaving, merged_later] = kernels::combine_rows(table.second, displaced, words_.key_words(), words_.merges());
      merged += merged_later;
      left = leaving.size(0);
      if (left > 0) {
        kernels::turn_hashes(leaving);
        pieces.push_back(std::move(leaving));
      }
    }
    merged_ += merged;
    table.rows += words.size(0) - merged - left;
    return left;
  }

  // Bytes of both tables.
  int64_t bytes_of(int64_t slots) const { return (slots + second_slots(slots)) * row_bytes(); }
  static int64_t second_slots(int64_t slots) { return std::max<int64_t>(2, slots / kSlotsPerSecondSlot); }
  int64_t row_bytes() const { return words_.width() * static_cast<int64_t>(sizeof(int64_t)); }

  // For `rows` rows, if there is memory.
  void make_slots(Table& table, int64_t rows) {
    const auto wanted = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows * kFirstSlotsPerRow)));
    int64_t slots = std::min(std::max(kFirstSlots, wanted), most_slots_);
    std::optional<Reservation> memory = account_.try_reserve(bytes_of(slots), ReservationKind::Held);
    if (!memory) {
      slots = std::min(kFirstSlots, most_slots_);
      memory = account_.reserve_now(bytes_of(slots), ReservationKind::Held);
    }
    table.memory = std::move(*memory);
    set_slots(table, slots);
  }

  void set_slots(Table& table, int64_t slots) {
    table.entries = at::zeros({slots, words_.width()}, at::kLong);
    table.second = at::zeros({second_slots(slots), words_.width()}, at::kLong);
    table.may_grow = slots < most_slots_;
    // Small at first, so that the table grows before it evicts much, even if all rows belong into one region.
    table.batch = std::max(kSmallestBatch, slots / kSlotsPerRow / kRegions);
    bytes_ += bytes_of(slots);
  }

  // Without memory for a larger table, this one stays.
  void grow(Table& table, std::vector<at::Tensor>& pieces) {
    const int64_t slots = std::min(table.entries.size(0) * kTableGrowth, most_slots_);
    std::optional<Reservation> memory = account_.try_reserve(bytes_of(slots), ReservationKind::Held);
    if (!memory) {
      table.may_grow = false;
      return;
    }
    std::vector<at::Tensor> rows;
    take_slots(table, {}, rows);
    bytes_ -= static_cast<int64_t>(table.entries.nbytes() + table.second.nbytes());
    set_slots(table, slots);
    table.memory = std::move(*memory);
    for (const at::Tensor& words : rows) combine(table, words, pieces);
  }

  // Once there are too many texts, empties the tables and restarts the numbering.
  void renew_texts(std::vector<Chunk>& leaving) {
    std::lock_guard lock(texts_mutex_);
    if (words_.text_bytes() <= most_text_bytes_) return;
    for (Chunk& rows : take_idle_tables(SteadyTime::max())) {
      evicted_ += rows.rows();
      leaving.push_back(std::move(rows));
    }
    words_.forget_texts();
    text_memory_.emplace(account_);
  }

  mutable std::shared_mutex texts_mutex_;  // exclusive while the text numbering is cleared, which invalidates words
  RowWords words_;
  const int64_t bits_;
  const int64_t most_text_bytes_;
  int64_t most_slots_ = 2;  // of a table
  const MemoryAccount account_;
  std::mutex text_memory_mutex_;
  std::optional<GrowingReservation> text_memory_;  // guarded by it
  SourceProgress progress_;
  std::atomic<size_t> next_first_ = 0;
  std::vector<Table> tables_;
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
