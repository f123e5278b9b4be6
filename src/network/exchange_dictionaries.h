// Dictionaries that are sent to a rank once and used by many messages of an exchange. The sender numbers them; a message of rows lists the
// ones it needs, and waits on the receiver until they have arrived (exchange_hub). The sender bounds the receiver's memory: it retires old
// dictionaries, together with the number of messages that referred to each, and the receiver drops a retired one when it has consumed that
// many messages. So message order does not matter. Both ends count a dictionary against the window until the receiver has dropped it.
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
  uint32_t references = 0;  // row messages that referred to it
};

// Serialized in message heads; reading throws PeerError.
std::string numbers_to_bytes(const std::vector<DictionaryNumber>& numbers);
std::vector<DictionaryNumber> numbers_of_bytes(std::string_view bytes);
std::string retired_to_bytes(const std::vector<RetiredDictionary>& retired);
std::vector<RetiredDictionary> retired_of_bytes(std::string_view bytes);

// Packs a dictionary into a block, and back. Unpacking throws PeerError.
at::Tensor pack_dictionary(const Column& dictionary);
std::shared_ptr<const Column> unpack_dictionary(const at::Tensor& block);

// The dictionaries that one rank has sent to another in one exchange. For one task. Memory: none of the dictionaries themselves.
class SentDictionaries {
 public:
  // Live dictionaries have at most this many bytes in total, unless there is only one.
  explicit SentDictionaries(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // Called when the next row message refers to the dictionary: its number if the receiver has it or will get it.
  std::optional<DictionaryNumber> refer(const std::shared_ptr<const Column>& dictionary);

  struct Added {
    DictionaryNumber number = 0;
    std::vector<RetiredDictionary> retired;  // to be sent along
  };
  // Called when the receiver gets the dictionary now, in `bytes` bytes; the next row message refers to it.
  Added add(const std::shared_ptr<const Column>& dictionary, int64_t bytes);

  int64_t count() const { return next_number_; }

 private:
  static constexpr size_t kMaxLive = 64;

  struct Live {
    std::weak_ptr<const Column> dictionary;  // detects an address that was reused
    DictionaryNumber number = 0;
    uint32_t references = 0;
    int64_t bytes = 0;
  };

  const int64_t most_bytes_;
  std::vector<Live> live_;  // least recently used first
  int64_t live_bytes_ = 0;
  DictionaryNumber next_number_ = 0;
};

// A received dictionary; unpacked by the first lane that needs it. Thread-safe.
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

// The dictionaries received from one rank in one exchange that are still needed. Not thread-safe: guarded by the exchange's lock.
class ReceivedDictionaries {
 public:
  // Throws PeerError if it has already arrived.
  void add(DictionaryNumber number, WireBlock block);
  // The dictionaries with these numbers; nullopt if one has not arrived yet.
  std::optional<std::vector<std::shared_ptr<ReceivedDictionary>>> find(const std::vector<DictionaryNumber>& numbers) const;
  // A message that referred to these was consumed; returns the bytes of dictionaries dropped as a result.
  int64_t release(const std::vector<DictionaryNumber>& numbers);
  // Returns the bytes of dictionaries dropped as a result.
  int64_t retire(const std::vector<RetiredDictionary>& retired);

  int64_t count() const { return count_; }

 private:
  struct Entry {
    std::shared_ptr<ReceivedDictionary> dictionary;  // null: announced but not arrived
    int64_t bytes = 0;
    uint32_t released = 0;
    std::optional<uint32_t> references;  // known once it is retired
  };
  int64_t drop_if_done(DictionaryNumber number);

  std::map<DictionaryNumber, Entry> entries_;
  int64_t count_ = 0;  // arrived so far, in total
};

}  // namespace pistachio
