// Serializes numbers and text for messages between ranks of the same build: unaligned, in native byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace pistachio {

class ByteWriter {
 public:
  template <typename Number>
  void put(Number value) {
    static_assert(std::is_trivially_copyable_v<Number> && !std::is_pointer_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put<uint64_t>(text.size());
    bytes_.append(text);
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what a ByteWriter wrote. Throws PeerError if the bytes end too early.
class ByteReader {
 public:
  // The bytes must live as long as the reader.
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename Number>
  Number get() {
    static_assert(std::is_trivially_copyable_v<Number> && !std::is_pointer_v<Number>);
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string get_text() { return std::string(take(get<uint64_t>())); }
  // The number of elements that follow, each of at least `least` bytes. An impossible count throws before anything is allocated.
  size_t get_count(size_t least = 1) {
    auto count = get<uint64_t>();
    if (count > left() / least) throw PeerError("a message from another rank is damaged: it is truncated");
    return count;
  }
  size_t left() const { return bytes_.size() - place_; }

 private:
  std::string_view take(uint64_t count) {
    if (count > left()) throw PeerError("a message from another rank is damaged: it ends too early");
    std::string_view taken = bytes_.substr(place_, count);
    place_ += count;
    return taken;
  }

  std::string_view bytes_;
  size_t place_ = 0;
};

}  // namespace pistachio
