// Combine tables of words (kernels/ops/combine_rows.h): direct-mapped, at a fraction of the cost of a group table.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <shared_mutex>

#include "columns/row_selection.h"
#include "exec/core/growing_reservation.h"
#include "exec/operators/row_words.h"
#include "kernels/ops/combine_rows.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

constexpr int64_t kFirstSlots = 1 << 12;
// A direct-mapped table evicts rows long before it is full, so it grows, up to its limit, once a quarter is in use. Evicted rows go to a
// second table of half the size, indexed by other bits of the hash: two keys that keep evicting each other from the first table meet
// different slots of the second and are merged there.
constexpr int64_t kSlotsPerRow = 4;
constexpr int64_t kGrowth = 4;
constexpr int64_t kSlotsPerSecondSlot = 2;

// Swaps the halves of the hashes, which turns words of the first table into words of the second, and back.
void swap_tables(at::Tensor& words) {
  at::Tensor hashes = words.select(1, 0);
  hashes.copy_(hashes.bitwise_left_shift(32).bitwise_or_(hashes.bitwise_right_shift(32).bitwise_and_(0xffffffff)));
}

class WordCombineTables final : public CombineTables {
 public:
  WordCombineTables(RowWords words, const CombineLimits& limits, const MemoryAccount& account)
      : words_(std::move(words)),
        bits_(combine_table_bits(limits.lanes)),
        most_text_bytes_(limits.bytes / 2),
        account_(account),
        text_memory_(account),
        tables_(size_t{1} << bits_) {
    while (bytes_of(2 * most_slots_) <= limits.bytes >> bits_) most_slots_ *= 2;
  }

  std::vector<Chunk> add(const Chunk& chunk, const CancelToken& token) override {
    std::vector<Chunk> leaving;
    added_ += chunk.rows();
    bool has_too_many_texts = false;
    {
      std::shared_lock lock(texts_mutex_);
      Chunk rows = chunk;
      if (const at::Tensor without = words_.without_words(chunk); without.defined()) {
        leaving.push_back(select_rows(chunk, without));
        rows = select_rows(chunk, without.logical_not());
      }
      if (std::vector<at::Tensor> evicted = add_words(words_.words_of(rows, token)); !evicted.empty())
        leaving.push_back(words_.chunk_of(evicted.size() == 1 ? evicted[0] : kernels::concatenate_tensors(evicted)));
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
    at::Tensor second;   // takes what `entries` evicts
    Reservation memory;
    int64_t rows = 0;
    bool may_grow = true;
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
      std::vector<at::Tensor> rows;
      {
        std::lock_guard lock(table.mutex);
        if (!table.entries.defined() || table.last_added >= since) continue;
        for (at::Tensor* entries : {&table.entries, &table.second}) {
          rows.push_back(kernels::combine_flush(*entries));
          bytes_ -= static_cast<int64_t>(entries->nbytes());
          *entries = at::Tensor();
        }
        table.memory.release();
        table.rows = 0;
      }
      for (const at::Tensor& words : rows) leaving.push_back(words_.chunk_of(words));
    }
    return leaving;
  }

  std::vector<at::Tensor> add_words(const at::Tensor& words) {
    std::vector<at::Tensor> evicted;
    if (bits_ == 0) {
      add_to(tables_[0], words, evicted);
      return evicted;
    }
    const auto [order, offsets] = kernels::partition_rows(words.select(1, 0).contiguous(), bits_);
    const at::Tensor ordered = words.index_select(0, order);
    const int64_t* offset = offsets.const_data_ptr<int64_t>();
    // Tables locked by other lanes are visited last.
    std::vector<size_t> busy;
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (offset[i] == offset[i + 1]) continue;
      if (!tables_[i].mutex.try_lock()) {
        busy.push_back(i);
        continue;
      }
      std::lock_guard lock(tables_[i].mutex, std::adopt_lock);
      add_under_lock(tables_[i], ordered.slice(0, offset[i], offset[i + 1]), evicted);
    }
    for (size_t i : busy) add_to(tables_[i], ordered.slice(0, offset[i], offset[i + 1]), evicted);
    return evicted;
  }

  void add_to(Table& table, const at::Tensor& words, std::vector<at::Tensor>& evicted) {
    std::lock_guard lock(table.mutex);
    add_under_lock(table, words, evicted);
  }

  void add_under_lock(Table& table, const at::Tensor& words, std::vector<at::Tensor>& evicted) {
    table.last_added = std::chrono::steady_clock::now();
    if (!table.entries.defined()) {
      const int64_t slots = std::min(kFirstSlots, most_slots_);
      table.memory = account_.reserve_now(bytes_of(slots), ReservationKind::Held);
      set_slots(table, slots);
    }
    for (int64_t begin = 0; begin < words.size(0);) {
      // While the table can grow, rows are added in small batches, so that it grows before it evicts much.
      const int64_t slots = table.entries.size(0);
      const int64_t count = std::min(words.size(0) - begin, table.may_grow ? slots / kSlotsPerRow : words.size(0));
      combine(table, words.slice(0, begin, begin + count), evicted);
      begin += count;
      if (table.may_grow && table.rows * kSlotsPerRow > slots) grow(table, evicted);
    }
  }

  void combine(Table& table, const at::Tensor& words, std::vector<at::Tensor>& evicted) {
    auto [displaced, merged] = kernels::combine_rows(table.entries, words, words_.key_words(), words_.merges());
    int64_t left = 0;
    if (displaced.size(0) > 0) {
      swap_tables(displaced);
      auto [leaving, merged_later] = kernels::combine_rows(table.second, displaced, words_.key_words(), words_.merges());
      merged += merged_later;
      left = leaving.size(0);
      if (left > 0) evicted.push_back(std::move(leaving));
    }
    merged_ += merged;
    table.rows += words.size(0) - merged - left;
  }

  // Bytes of both tables.
  int64_t bytes_of(int64_t slots) const { return (slots + second_slots(slots)) * row_bytes(); }
  static int64_t second_slots(int64_t slots) { return std::max<int64_t>(2, slots / kSlotsPerSecondSlot); }
  int64_t row_bytes() const { return words_.width() * static_cast<int64_t>(sizeof(int64_t)); }

  void set_slots(Table& table, int64_t slots) {
    table.entries = at::zeros({slots, words_.width()}, at::kLong);
    table.second = at::zeros({second_slots(slots), words_.width()}, at::kLong);
    table.may_grow = slots < most_slots_;
    bytes_ += bytes_of(slots);
  }

  // Without memory for a larger table, this one stays.
  void grow(Table& table, std::vector<at::Tensor>& evicted) {
    const int64_t slots = std::min(table.entries.size(0) * kGrowth, most_slots_);
    std::optional<Reservation> memory = account_.try_reserve(bytes_of(slots), ReservationKind::Held);
    if (!memory) {
      table.may_grow = false;
      return;
    }
    at::Tensor of_second = kernels::combine_flush(table.second);
    swap_tables(of_second);
    const at::Tensor rows = kernels::concatenate_tensors({kernels::combine_flush(table.entries), of_second});
    bytes_ -= static_cast<int64_t>(table.entries.nbytes() + table.second.nbytes());
    set_slots(table, slots);
    table.memory = std::move(*memory);
    table.rows = 0;
    combine(table, rows, evicted);
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
