#include "storage/schema_depth.h"

#include <algorithm>
#include <vector>

#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

using Type = ThriftCompactReader::Type;

constexpr int16_t kSchemaField = 2;    // of FileMetaData: list<SchemaElement>
constexpr int16_t kChildrenField = 5;  // of SchemaElement: i32

// Reads a SchemaElement and returns the number of its children.
int64_t read_element(ThriftCompactReader& reader) {
  int64_t children = 0;
  int16_t last_id = 0;
  while (true) {
    ThriftCompactReader::Field field = reader.read_field(last_id);
    if (field.type == Type::Stop) return children;
    if (field.id == kChildrenField && field.type == Type::I32) {
      children = reader.read_integer();
    } else {
      reader.skip(field.type);
    }
    last_id = field.id;
  }
}

// Elements are in depth-first order, children right after their group.
int64_t read_depth(ThriftCompactReader& reader, int64_t enough) {
  std::vector<int64_t> open;  // for each enclosing group, the children still to come
  size_t deepest = 0;
  // Parsers read every element as a struct, whatever type the list claims.
  uint64_t count = reader.read_list().count;
  for (uint64_t i = 0; i < count; ++i) {
    int64_t children = read_element(reader);
    if (children > 0) {
      open.push_back(children);
      deepest = std::max(deepest, open.size());
      if (static_cast<int64_t>(deepest) > enough + 1) break;
    } else {
      while (!open.empty() && --open.back() == 0) open.pop_back();
    }
  }
  return std::max<int64_t>(0, static_cast<int64_t>(deepest) - 1);
}

}  // namespace

int64_t schema_depth(std::span<const uint8_t> footer, int64_t enough) {
  ThriftCompactReader reader(footer);
  int64_t depth = 0;
  int16_t last_id = 0;
  // Read to the end: if a field occurs twice, parsers keep the last.
  while (depth <= enough) {
    ThriftCompactReader::Field field = reader.read_field(last_id);
    if (field.type == Type::Stop) break;
    if (field.id == kSchemaField && field.type == Type::List) {
      depth = std::max(depth, read_depth(reader, enough));
    } else {
      reader.skip(field.type);
    }
    last_id = field.id;
  }
  return depth;
}

}  // namespace pistachio
