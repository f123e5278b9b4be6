#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

constexpr int kMaxNesting = 16;

int64_t from_zigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

}  // namespace

uint8_t ThriftCompactReader::read_byte() {
  if (position_ >= bytes_.size()) throw MalformedThrift("header is cut short", position_);
  return bytes_[position_++];
}

uint64_t ThriftCompactReader::read_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte = read_byte();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  throw MalformedThrift("number in header is too long", position_);
}

int64_t ThriftCompactReader::read_integer() {
  return from_zigzag(read_varint());
}

std::string_view ThriftCompactReader::read_binary() {
  uint64_t length = read_varint();
  if (length > bytes_.size() - position_) throw MalformedThrift("header is cut short", position_);
  std::string_view value(reinterpret_cast<const char*>(bytes_.data()) + position_, length);
  position_ += length;
  return value;
}

ThriftCompactReader::Field ThriftCompactReader::read_field(int16_t last_id) {
  uint8_t byte = read_byte();
  uint8_t kind = byte & 0x0f;
  if (kind > static_cast<uint8_t>(Type::Struct)) throw MalformedThrift("unknown field type in header", position_);
  Type type = static_cast<Type>(kind);
  if (type == Type::Stop) return {0, type};
  int id = last_id + (byte >> 4);
  if ((byte >> 4) == 0) id = static_cast<int>(read_integer());
  if (id < 0 || id > INT16_MAX) throw MalformedThrift("field number in header is out of range", position_);
  return {static_cast<int16_t>(id), type};
}

ThriftCompactReader::List ThriftCompactReader::read_list() {
  uint8_t head = read_byte();
  uint64_t count = head >> 4;
  if (count == 15) count = read_varint();
  return {static_cast<Type>(head & 0x0f), count};
}

// Every element of a list or map takes at least a byte (booleans, too), so a wrong count fails at the end of the bytes.
void ThriftCompactReader::skip_element(Type type, int depth) {
  if (type == Type::Stop) throw MalformedThrift("unknown element type in header", position_);
  if (type == Type::True || type == Type::False) {
    read_byte();
  } else {
    skip(type, depth + 1);
  }
}

void ThriftCompactReader::skip(Type type, int depth) {
  if (depth > kMaxNesting) throw MalformedThrift("header is nested too deep", position_);
  switch (type) {
    case Type::Stop:
    case Type::True:
    case Type::False: return;
    case Type::Byte: read_byte(); return;
    case Type::I16:
    case Type::I32:
    case Type::I64: read_varint(); return;
    case Type::Double:
    case Type::Binary: {
      uint64_t length = type == Type::Double ? 8 : read_varint();
      if (length > bytes_.size() - position_) throw MalformedThrift("header is cut short", position_);
      position_ += length;
      return;
    }
    case Type::List:
    case Type::Set: {
      List list = read_list();
      for (uint64_t i = 0; i < list.count; ++i) skip_element(list.element, depth);
      return;
    }
    case Type::Map: {
      uint64_t count = read_varint();
      if (count == 0) return;
      uint8_t kinds = read_byte();
      for (uint64_t i = 0; i < count; ++i) {
        skip_element(static_cast<Type>(kinds >> 4), depth);
        skip_element(static_cast<Type>(kinds & 0x0f), depth);
      }
      return;
    }
    case Type::Struct: {
      int16_t last_id = 0;
      while (true) {
        Field field = read_field(last_id);
        if (field.type == Type::Stop) return;
        skip(field.type, depth + 1);
        last_id = field.id;
      }
    }
  }
  throw MalformedThrift("unknown field type in header", position_);
}

}  // namespace pistachio
