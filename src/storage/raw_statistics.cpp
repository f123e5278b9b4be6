#include "storage/raw_statistics.h"

#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

using Type = ThriftCompactReader::Type;

// Field numbers of the Parquet format.
constexpr int16_t kRowGroupsOfFile = 4;
constexpr int16_t kColumnsOfRowGroup = 1;
constexpr int16_t kMetadataOfColumn = 3;
constexpr int16_t kStatisticsOfMetadata = 12;

// Calls `take(field)` for each field; skips the field if it returns false.
template <typename Take>
void read_fields(ThriftCompactReader& reader, const Take& take) {
  int16_t last_id = 0;
  while (true) {
    ThriftCompactReader::Field field = reader.read_field(last_id);
    if (field.type == Type::Stop) return;
    if (!take(field)) reader.skip(field.type);
    last_id = field.id;
  }
}

RawStatistics read_statistics_struct(ThriftCompactReader& reader) {
  RawStatistics statistics;
  read_fields(reader, [&](ThriftCompactReader::Field field) {
    auto take_bound = [&](std::optional<std::string_view>& bound) {
      if (field.type != Type::Binary) return false;
      bound = reader.read_binary();
      return true;
    };
    auto take_count = [&](std::optional<int64_t>& count) {
      if (field.type != Type::I64) return false;
      count = reader.read_integer();
      return true;
    };
    switch (field.id) {
      case 1: return take_bound(statistics.old_maximum);
      case 2: return take_bound(statistics.old_minimum);
      case 3: return take_count(statistics.nulls);
      case 4: return take_count(statistics.distinct);
      case 5: return take_bound(statistics.maximum);
      case 6: return take_bound(statistics.minimum);
      // The type of a boolean field is its value: nothing more to read.
      case 7: statistics.maximum_is_exact = field.type == Type::True; return false;
      case 8: statistics.minimum_is_exact = field.type == Type::True; return false;
      default: return false;
    }
  });
  return statistics;
}

RawStatistics read_column_struct(ThriftCompactReader& reader) {
  RawStatistics statistics;
  read_fields(reader, [&](ThriftCompactReader::Field column) {
    if (column.id != kMetadataOfColumn || column.type != Type::Struct) return false;
    read_fields(reader, [&](ThriftCompactReader::Field metadata) {
      if (metadata.id != kStatisticsOfMetadata || metadata.type != Type::Struct) return false;
      statistics = read_statistics_struct(reader);
      return true;
    });
    return true;
  });
  return statistics;
}

// Every element takes at least a byte, so a wrong count fails at the end of the bytes.
template <typename Element, typename Read>
std::vector<Element> read_structs(ThriftCompactReader& reader, const Read& read) {
  std::vector<Element> elements;
  const uint64_t count = reader.read_list().count;
  for (uint64_t i = 0; i < count; ++i) elements.push_back(read(reader));
  return elements;
}

std::vector<RawStatistics> read_row_group_struct(ThriftCompactReader& reader) {
  std::vector<RawStatistics> columns;
  read_fields(reader, [&](ThriftCompactReader::Field field) {
    if (field.id != kColumnsOfRowGroup || field.type != Type::List) return false;
    columns = read_structs<RawStatistics>(reader, read_column_struct);
    return true;
  });
  return columns;
}

}  // namespace

std::vector<std::vector<RawStatistics>> read_raw_statistics(std::span<const uint8_t> footer) {
  ThriftCompactReader reader(footer);
  std::vector<std::vector<RawStatistics>> row_groups;
  read_fields(reader, [&](ThriftCompactReader::Field field) {
    if (field.id != kRowGroupsOfFile || field.type != Type::List) return false;
    row_groups = read_structs<std::vector<RawStatistics>>(reader, read_row_group_struct);
    return true;
  });
  return row_groups;
}

}  // namespace pistachio
