#include "network/exchange_dictionaries.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "base/byte_stream.h"
#include "columns/chunk_packing.h"
#include "columns/device_copy.h"
#include "data/chunk.h"

namespace pistachio {

std::string numbers_to_bytes(const std::vector<DictionaryNumber>& numbers) {
  ByteWriter writer;
  writer.put<uint64_t>(numbers.size());
  for (DictionaryNumber number : numbers) writer.put(number);
  return writer.take();
}

std::vector<DictionaryNumber> numbers_of_bytes(std::string_view bytes) {
  ByteReader reader(bytes);
  std::vector<DictionaryNumber> numbers(reader.get_count(sizeof(DictionaryNumber)));
  for (DictionaryNumber& number : numbers) number = reader.get<DictionaryNumber>();
  return numbers;
}

std::string retired_to_bytes(const std::vector<RetiredDictionary>& retired) {
  ByteWriter writer;
  writer.put<uint64_t>(retired.size());
  for (const RetiredDictionary& one : retired) {
    writer.put(one.number);
    writer.put(one.references);
  }
  return writer.take();
}

std::vector<RetiredDictionary> retired_of_bytes(std::string_view bytes) {
  ByteReader reader(bytes);
  std::vector<RetiredDictionary> retired(reader.get_count(sizeof(RetiredDictionary)));
  for (RetiredDictionary& one : retired) {
    one.number = reader.get<DictionaryNumber>();
    one.references = reader.get<uint32_t>();
  }
  return retired;
}

at::Tensor pack_dictionary(const Column& dictionary) {
  return pack_chunk(Chunk({to_device(dictionary, at::kCPU)}, dictionary.rows()));
}

std::shared_ptr<const Column> unpack_dictionary(const at::Tensor& block) {
  Chunk chunk = unpack_chunk(block);
  bool is_dictionary = chunk.column_count() == 1 && !chunk.column(0).is_dictionary();
  if (!is_dictionary) throw PeerError("a dictionary from another rank is damaged: it is not a dictionary");
  return std::make_shared<const Column>(chunk.column(0));
}

std::optional<DictionaryNumber> SentDictionaries::refer(const std::shared_ptr<const Column>& dictionary) {
  auto found = std::find_if(live_.begin(), live_.end(), [&](const Live& live) {
    return !live.dictionary.owner_before(dictionary) && !dictionary.owner_before(live.dictionary);
  });
  if (found == live_.end()) return std::nullopt;
  ++found->references;
  std::rotate(found, found + 1, live_.end());
  return live_.back().number;
}

SentDictionaries::Added SentDictionaries::add(const std::shared_ptr<const Column>& dictionary, int64_t bytes) {
  Added added{.number = next_number_++};
  auto retire = [&](std::vector<Live>::iterator live) {
    added.retired.push_back({live->number, live->references});
    live_bytes_ -= live->bytes;
    return live_.erase(live);
  };
  // Nothing can refer to dictionaries that no longer exist here.
  for (auto live = live_.begin(); live != live_.end();) live = live->dictionary.expired() ? retire(live) : live + 1;
  while (!live_.empty() && (live_.size() >= kMaxLive || live_bytes_ + bytes > most_bytes_)) retire(live_.begin());
  live_.push_back({dictionary, added.number, 1, bytes});
  live_bytes_ += bytes;
  return added;
}

std::shared_ptr<const Column> ReceivedDictionary::column() {
  WireBlock block;
  {
    std::lock_guard lock(mutex_);
    if (column_ != nullptr) return column_;
    block = block_;
  }
  // Outside the lock: another lane may repeat the work, but none waits for it.
  at::Tensor bytes = block.is_compressed ? decompress_block(block.bytes) : block.bytes;
  std::shared_ptr<const Column> made = unpack_dictionary(bytes);
  std::lock_guard lock(mutex_);
  if (column_ == nullptr) {
    column_ = std::move(made);
    block_ = {};
  }
  return column_;
}

void ReceivedDictionaries::add(DictionaryNumber number, WireBlock block) {
  Entry& entry = entries_[number];
  if (entry.dictionary != nullptr || !block.bytes.defined())
    throw PeerError("a message from another rank is damaged: its dictionary is missing or came before");
  entry.bytes = block.bytes.numel();
  entry.dictionary = std::make_shared<ReceivedDictionary>(std::move(block));
  ++count_;
}

std::optional<std::vector<std::shared_ptr<ReceivedDictionary>>> ReceivedDictionaries::find(
    const std::vector<DictionaryNumber>& numbers) const {
  std::vector<std::shared_ptr<ReceivedDictionary>> all;
  for (DictionaryNumber number : numbers) {
    auto found = entries_.find(number);
    if (found == entries_.end() || found->second.dictionary == nullptr) return std::nullopt;
    all.push_back(found->second.dictionary);
  }
  return all;
}

int64_t ReceivedDictionaries::release(const std::vector<DictionaryNumber>& numbers) {
  int64_t dropped = 0;
  for (DictionaryNumber number : numbers) {
    auto found = entries_.find(number);
    if (found == entries_.end()) continue;
    ++found->second.released;
    dropped += drop_if_done(number);
  }
  return dropped;
}

int64_t ReceivedDictionaries::retire(const std::vector<RetiredDictionary>& retired) {
  int64_t dropped = 0;
  for (const RetiredDictionary& one : retired) {
    entries_[one.number].references = one.references;
    dropped += drop_if_done(one.number);
  }
  return dropped;
}

int64_t ReceivedDictionaries::drop_if_done(DictionaryNumber number) {
  const Entry& entry = entries_.at(number);
  bool is_done = entry.dictionary != nullptr && entry.references && entry.released >= *entry.references;
  if (!is_done) return 0;
  int64_t bytes = entry.bytes;
  entries_.erase(number);
  return bytes;
}

}  // namespace pistachio
