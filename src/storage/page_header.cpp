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

void read_data_part(ThriftCompactReader& reader, PageHeader& header) {
  read_struct(reader, [&](int16_t id, Type type) {
    switch (id) {
      case 1: header.values = read_count(reader, type); return true;
      case 2: header.encoding = static_cast<PageEncoding>(read_int32(reader, type)); return true;
      case 3: header.level_encoding = static_cast<PageEncoding>(read_int32(reader, type)); return true;
      default: return false;
    }
  });
}

void read_dictionary_part(ThriftCompactReader& reader, PageHeader& header) {
  read_struct(reader, [&](int16_t id, Type type) {
    switch (id) {
      case 1: header.values = read_count(reader, type); return true;
      case 2: header.encoding = static_cast<PageEncoding>(read_int32(reader, type)); return true;
      default: return false;
    }
  });
}

void read_data_v2_part(ThriftCompactReader& reader, PageHeader& header) {
  read_struct(reader, [&](int16_t id, Type type) {
    switch (id) {
      case 1: header.values = read_count(reader, type); return true;
      case 2: header.nulls = read_count(reader, type); return true;
      case 4: header.encoding = static_cast<PageEncoding>(read_int32(reader, type)); return true;
      case 5: header.definition_bytes = read_count(reader, type); return true;
      case 6: header.repetition_bytes = read_count(reader, type); return true;
      case 7:
        if (type != Type::True && type != Type::False) return false;
        header.is_compressed = ThriftCompactReader::boolean_of(type);
        return true;
      default: return false;
    }
  });
}

PageKind page_kind(int32_t kind) {
  switch (kind) {
    case 0: return PageKind::Data;
    case 2: return PageKind::Dictionary;
    case 3: return PageKind::DataV2;
    default: return PageKind::Other;
  }
}

// The fields of a page header that must be there, with the numbers that Parquet gives them.
struct SeenFields {
  std::optional<int32_t> kind;
  bool has_sizes[2] = {false, false};
  bool has_part[4] = {false, false, false, false};  // by kind
};

void require_fields(const SeenFields& seen, const PageHeader& header, int64_t position) {
  if (!seen.kind || !seen.has_sizes[0] || !seen.has_sizes[1]) throw MalformedThrift("page header lacks a required field", position);
  if (header.kind != PageKind::Other && !seen.has_part[*seen.kind]) throw MalformedThrift("page header lacks its page's part", position);
  if (header.kind != PageKind::DataV2) return;
  const int64_t levels = int64_t{header.definition_bytes} + header.repetition_bytes;
  if (levels > header.compressed_bytes || levels > header.uncompressed_bytes || header.nulls > header.values)
    throw MalformedThrift("page header's counts contradict each other", position);
}

}  // namespace

PageHeader parse_page_header(std::span<const uint8_t> bytes) {
  ThriftCompactReader reader(bytes);
  PageHeader header;
  SeenFields seen;
  auto read_part = [&](int kind, Type type, auto read) {
    require_struct(reader, type);
    seen.has_part[kind] = true;
    read(reader, header);
    return true;
  };
  read_struct(reader, [&](int16_t id, Type type) {
    switch (id) {
      case 1: seen.kind = read_int32(reader, type); return true;
      case 2:
        header.uncompressed_bytes = read_count(reader, type);
        seen.has_sizes[0] = true;
        return true;
      case 3:
        header.compressed_bytes = read_count(reader, type);
        seen.has_sizes[1] = true;
        return true;
      case 4: header.checksum = static_cast<uint32_t>(read_int32(reader, type)); return true;
      case 5: return read_part(0, type, read_data_part);
      case 7: return read_part(2, type, read_dictionary_part);
      case 8: return read_part(3, type, read_data_v2_part);
      default: return false;
    }
  });
  header.header_bytes = static_cast<int32_t>(reader.position());
  if (seen.kind) header.kind = page_kind(*seen.kind);
  require_fields(seen, header, reader.position());
  return header;
}

DataError damaged_page_header(const MalformedThrift& problem, const DataLocation& where) {
  return DataError(fmt::format("the page header cannot be read: {}", problem.what()), where);
}

}  // namespace pistachio
