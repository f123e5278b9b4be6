// Dictionaries that are sent to a rank once and used by many messages of an exchange. The sender numbers them; a message of rows lists the ones it needs,
// and waits on the receiver until they have arrived (exchange_hub).
// The sender bounds the receiver's memory: it retires old dictionaries, together with the number of messages that referred to each, and the
// receiver drops a retired one when it has consumed that many messages. So message order does not matter. Both ends count a dictionary against the
// window until the receiver has dropped it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/column.h"
#include "network/block_compression.h"

namespace pistachio {

using DictionaryNumber = uint32_t;

struct RetiredDictionary {
  DictionaryNumber number = 0;
  uint32_t references = 0;  // messages of rows that named it
};

// What stands in the heads of messages; reading throws PeerError.
std::string numbers_to_bytes(const std::vector<DictionaryNumber>& numbers);
std::vector<DictionaryNumber> numbers_of_bytes(std::string_view bytes);
std::string retired_to_bytes(const std::vector<RetiredDictionary>& retired);
std::vector<RetiredDictionary> retired_of_bytes(std::string_view bytes);

// A dictionary as a block, and back. Unpacking throws PeerError.
at::Tensor pack_dictionary(const Column& dictionary);
std::shared_ptr<const Column> unpack_dictionary(const at::Tensor& block);

// What one rank knows of the dictionaries it has sent to another in one exchange. For one task. Memory: nothing of the dictionaries.
class SentDictionaries {
 public:
  // Live ones have so many bytes together at most, or there is only one.
  explicit SentDictionaries(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // The next message of rows refers to the dictionary: its number if the receiver has it or will have it.
  std::optional<DictionaryNumber> refer(const std::shared_ptr<const Column>& dictionary);

  struct Added {
    DictionaryNumber number = 0;
    std::vector<RetiredDictionary> retired;  // to be sent along
  };
  // It does not have it, but gets it now, in so many bytes; the next message of rows refers to it.
  Added add(const std::shared_ptr<const Column>& dictionary, int64_t bytes);

  int64_t count() const { return next_number_; }

 private:
  static constexpr size_t kMostLive = 64;

  struct Live {
    std::weak_ptr<const Column> dictionary;  // an address may be used again when this is gone
    DictionaryNumber number = 0;
    uint32_t references = 0;
    int64_t bytes = 0;
  };

  const int64_t most_bytes_;
  std::vector<Live> live_;  // the one referred to last is last
  int64_t live_bytes_ = 0;
  DictionaryNumber next_number_ = 0;
};

// A dictionary that has come; unpacked by the first lane that needs it. Thread-safe.
class ReceivedDictionary {
 public:
  explicit ReceivedDictionary(WireBlock block) : block_(std::move(block)) {}
  // Throws PeerError.
  std::shared_ptr<const Column> column();

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  WireBlock block_;  // until it is unpacked
  std::shared_ptr<const Column> column_;
};

// Those that have come from one rank in one exchange and are still needed. Not thread-safe: the exchange's lock guards it.
class ReceivedDictionaries {
 public:
  // Throws PeerError: it has come already.
  void add(DictionaryNumber number, WireBlock block);
  // Those with these numbers; nothing if one of them has not come yet.
  std::optional<std::vector<std::shared_ptr<ReceivedDictionary>>> find(const std::vector<DictionaryNumber>& numbers) const;
  // A message that named these was worked up; the bytes of those that are dropped because of it.
  int64_t release(const std::vector<DictionaryNumber>& numbers);
  // The bytes of those that are dropped because of it.
  int64_t retire(const std::vector<RetiredDictionary>& retired);

  int64_t count() const { return count_; }

 private:
  struct Entry {
    std::shared_ptr<ReceivedDictionary> dictionary;  // null: has not come, but was heard of
    int64_t bytes = 0;
    uint32_t released = 0;
    std::optional<uint32_t> references;  // known once it is retired
  };
  int64_t drop_if_done(DictionaryNumber number);

  std::map<DictionaryNumber, Entry> entries_;
  int64_t count_ = 0;  // that have come, ever
};

}  // namespace pistachio
