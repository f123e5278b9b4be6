#include "storage/page_header.h"

#include <fmt/format.h>

#include <limits>

#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

using Type = ThriftCompactReader::Type;

int32_t read_int32(ThriftCompactReader& reader, Type type) {
  if (type != Type::I32) throw MalformedThrift("page header has a field of the wrong type", reader.position());
  int64_t value = reader.read_integer();
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    throw MalformedThrift("number in page header is out of range", reader.position());
  }
  return static_cast<int32_t>(value);
}

int32_t read_count(ThriftCompactReader& reader, Type type) {
  int32_t value = read_int32(reader, type);
  if (value < 0) throw MalformedThrift("page header has a negative count", reader.position());
  return value;
}

// Calls `take(id, type)` for each field; `take` returns false for fields it does not know, which are then skipped.
template <typename Take>
void read_struct(ThriftCompactReader& reader, Take take) {
  int16_t last_id = 0;
  while (true) {
    ThriftCompactReader::Field field = reader.read_field(last_id);
    if (field.type == Type::Stop) return;
    if (!take(field.id, field.type)) reader.skip(field.type);
    last_id = field.id;
  }
}

void require_struct(ThriftCompactReader& reader, Type type) {
  if (type != Type::Struct) throw MalformedThrift("page header has a field of the wrong type", reader.position());
}

}  // namespace

PageHeader parse_page_header(std::span<const uint8_t> bytes) {
  ThriftCompactReader reader(bytes);
  PageHeader header;
  std::optional<int32_t> kind;
  bool has_sizes[2] = {false, false};
  bool has_body[4] = {false, false, false, false};
  read_struct(reader, [&](int16_t id, Type type) {
    switch (id) {
      case 1: kind = read_int32(reader, type); return true;
      case 2:
        header.uncompressed_bytes = read_count(reader, type);
        has_sizes[0] = true;
        return true;
      case 3:
        header.compressed_bytes = read_count(reader, type);
        has_sizes[1] = true;
        return true;
      case 4: header.checksum = static_cast<uint32_t>(read_int32(reader, type)); return true;
      case 5:
        require_struct(reader, type);
        has_body[0] = true;
        read_struct(reader, [&](int16_t inner, Type inner_type) {
          if (inner == 1) return header.values = read_count(reader, inner_type), true;
          if (inner == 2) return header.encoding = static_cast<PageEncoding>(read_int32(reader, inner_type)), true;
          if (inner == 3) return header.level_encoding = static_cast<PageEncoding>(read_int32(reader, inner_type)), true;
          return false;
        });
        return true;
      case 7:
        require_struct(reader, type);
        has_body[2] = true;
        read_struct(reader, [&](int16_t inner, Type inner_type) {
          if (inner == 1) return header.values = read_count(reader, inner_type), true;
          if (inner == 2) return header.encoding = static_cast<PageEncoding>(read_int32(reader, inner_type)), true;
          return false;
        });
        return true;
      case 8: {
        require_struct(reader, type);
        has_body[3] = true;
        read_struct(reader, [&](int16_t inner, Type inner_type) {
          if (inner == 1) return header.values = read_count(reader, inner_type), true;
          if (inner == 2) return header.nulls = read_count(reader, inner_type), true;
          if (inner == 4) return header.encoding = static_cast<PageEncoding>(read_int32(reader, inner_type)), true;
          if (inner == 5) return header.definition_bytes = read_count(reader, inner_type), true;
          if (inner == 6) return header.repetition_bytes = read_count(reader, inner_type), true;
          if (inner == 7 && (inner_type == Type::True || inner_type == Type::False)) {
            return header.is_compressed = ThriftCompactReader::boolean_of(inner_type), true;
          }
          return false;
        });
        return true;
      }
      default: return false;
    }
  });
  header.header_bytes = static_cast<int32_t>(reader.position());
  if (!kind || !has_sizes[0] || !has_sizes[1]) throw MalformedThrift("page header lacks a required field", reader.position());
  if (*kind >= 0 && *kind <= 3 && *kind != 1 && !has_body[*kind])
    throw MalformedThrift("page header lacks its page's part", reader.position());
  switch (*kind) {
    case 0: header.kind = PageKind::Data; break;
    case 2: header.kind = PageKind::Dictionary; break;
    case 3: header.kind = PageKind::DataV2; break;
    default: header.kind = PageKind::Other; break;
  }
  if (header.kind == PageKind::DataV2) {
    int64_t levels = int64_t{header.definition_bytes} + header.repetition_bytes;
    if (levels > header.compressed_bytes || levels > header.uncompressed_bytes || header.nulls > header.values) {
      throw MalformedThrift("page header's counts contradict each other", reader.position());
    }
  }
  return header;
}

DataError damaged_page_header(const MalformedThrift& problem, const DataLocation& where) {
  return DataError(fmt::format("the page header cannot be read: {}", problem.what()), where);
}

}  // namespace pistachio
