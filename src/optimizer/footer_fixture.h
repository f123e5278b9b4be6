// For tests of rules that read footers: scans of tables in files whose footers state given facts. There are no files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/plan_fixture.h"

namespace pistachio {

// What the footer of a file says about column "a" in its only row group.
struct StoredValues {
  std::optional<int64_t> least;
  std::optional<int64_t> greatest;
  int64_t rows = 10;
  std::optional<int64_t> nulls = 0;
  bool exact = true;
  std::string partition = "1";  // value of "p" in the path
};

class FooterTest : public RuleTest {
 protected:
  // Columns: "a" in the files, of this type, and "p", a BIGINT partition key.
  LogicalPtr scan_files(const std::string& name, const std::vector<StoredValues>& files, LogicalType type = TypeKind::Integer) {
    return scan_of(name, Table::of_files(name, table_of(files, type)));
  }

  // The same for a table with only its first file open; `opened_` gets the places of the files that a rule opens.
  LogicalPtr scan_partitions(const std::string& name, const std::vector<StoredValues>& files, LogicalType type = TypeKind::Integer) {
    auto open = [this, files, type](const std::vector<size_t>& places) {
      opened_.push_back(places);
      ParquetTable made = table_of(files, type);
      keep_places(made, places);
      return made;
    };
    ParquetTable first = table_of(files, type);
    keep_places(first, {0});
    return scan_of(name, Table::of_partitions(name, std::move(first), open));
  }

  std::vector<std::vector<size_t>> opened_;

 private:
  LogicalPtr scan_of(const std::string& name, TablePtr table) {
    const LogicalType type = table->columns()[0].type;
    return make_node(LogicalScan{std::move(table), {{add(name + ".a", type), 0}, {add(name + ".p", TypeKind::BigInt), 1}}, {}, {}});
  }

  static void keep_places(ParquetTable& table, const std::vector<size_t>& places) {
    std::vector<TableFile> kept;
    for (size_t place : places) kept.push_back(table.files[place]);
    table.files = std::move(kept);
    table.places = places;
  }

  static ParquetTable table_of(const std::vector<StoredValues>& files, LogicalType type) {
    TableListing listing;
    listing.keys = {{"p", TypeKind::BigInt}};
    ParquetTable table;
    table.columns = {{.name = "a", .type = type, .leaf = 0, .partition = -1, .unsupported = ""},
                     {.name = "p", .type = TypeKind::BigInt, .leaf = -1, .partition = 0, .unsupported = ""}};
    for (const StoredValues& file : files) {
      table.places.push_back(listing.files.size());
      listing.files.push_back({"p=" + file.partition + "/0.parquet", {{"p", file.partition}}});
      auto metadata = std::make_shared<FileMetadata>();
      metadata->footer = footer_of(file, type);
      table.files.push_back({.file = nullptr, .metadata = metadata, .partition_values = {}, .leaf_of_column = {0, -1}});
      table.rows += file.rows;
    }
    for (size_t i = 0; i < table.files.size(); ++i) table.files[i].partition_values = {listing.partition_value(i, 0)};
    table.listing = std::make_shared<const TableListing>(std::move(listing));
    return table;
  }

  static std::shared_ptr<const ParquetFooter> footer_of(const StoredValues& file, LogicalType type) {
    ParquetColumn column;
    column.name = "a";
    column.type = type;
    column.max_definition = 1;
    ColumnChunkInfo chunk;
    chunk.values = file.rows;
    chunk.nulls = file.nulls;
    chunk.exact_bounds = file.exact;
    auto bound = [&](int64_t value) {
      if (type.is_floating()) return ScalarValue::of_floating(type, static_cast<double>(value));
      return type.is_text() ? ScalarValue::of_text(type, std::to_string(value)) : ScalarValue::of_integer(type, value);
    };
    if (file.least) chunk.minimum = bound(*file.least);
    if (file.greatest) chunk.maximum = bound(*file.greatest);
    auto footer = std::make_shared<ParquetFooter>();
    footer->rows = file.rows;
    footer->columns = {column};
    footer->row_groups.push_back({file.rows, 0, {chunk}});
    return footer;
  }
};

}  // namespace pistachio
