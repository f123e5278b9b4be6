// Reads the subset of Thrift's compact protocol that page headers and footers need. Every read is checked against the span and nesting is
// bounded; malformed input throws MalformedThrift with the offset.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pistachio {

class MalformedThrift : public std::runtime_error {
 public:
  MalformedThrift(const char* problem, size_t offset) : std::runtime_error(problem), offset_(offset) {}
  size_t offset() const { return offset_; }

 private:
  size_t offset_;
};

class ThriftCompactReader {
 public:
  enum class Type : uint8_t {
    Stop = 0,
    True = 1,
    False = 2,
    Byte = 3,
    I16 = 4,
    I32 = 5,
    I64 = 6,
    Double = 7,
    Binary = 8,
    List = 9,
    Set = 10,
    Map = 11,
    Struct = 12
  };

  struct Field {
    int16_t id;
    Type type;
  };

  struct List {
    Type element;
    uint64_t count;
  };

  explicit ThriftCompactReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }

  // The next field of the current struct; type Stop at its end. `last_id` is the id of the previous field (0 at the start).
  Field read_field(int16_t last_id);
  int64_t read_integer();
  // A view into the bytes being read.
  std::string_view read_binary();
  // The header of a list; its elements follow. Do not trust the count.
  List read_list();
  // The value of a boolean field is encoded in its type.
  static bool boolean_of(Type type) { return type == Type::True; }
  void skip(Type type, int depth = 0);

 private:
  void skip_element(Type type, int depth);
  uint64_t read_varint();
  uint8_t read_byte();

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
};

}  // namespace pistachio
