#include "tests/parquet/parquet_file_factory.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>

#include "tests/parquet/arrow_status.h"
#include "tests/parquet/value_pool.h"

namespace pistachio::test {

namespace {

std::string_view null_pattern_name(NullPattern pattern) {
  switch (pattern) {
    case NullPattern::Required: return "required";
    case NullPattern::None: return "no_nulls";
    case NullPattern::Some: return "some_nulls";
    case NullPattern::Many: return "many_nulls";
    case NullPattern::All: return "all_nulls";
    case NullPattern::Runs: return "null_runs";
  }
  return "";
}

// Definition levels of one row group: 1 for a value.
std::vector<int16_t> make_levels(NullPattern pattern, int64_t rows, std::mt19937_64& random) {
  std::vector<int16_t> levels(static_cast<size_t>(rows), 1);
  bool in_run = false;
  for (auto& level : levels) {
    switch (pattern) {
      case NullPattern::Required:
      case NullPattern::None: break;
      case NullPattern::Some: level = random() % 10 != 0; break;
      case NullPattern::Many: level = random() % 10 == 0; break;
      case NullPattern::All: level = 0; break;
      case NullPattern::Runs:
        if (random() % 50 == 0) in_run = !in_run;
        level = !in_run;
        break;
    }
  }
  return levels;
}

// Positions in the pool: random ones, runs of one value and steps to the neighbour, so that RLE and delta encodings have both kinds of
// work.
std::vector<size_t> draw(size_t pool_size, size_t count, std::mt19937_64& random) {
  std::vector<size_t> positions(count);
  size_t position = 0;
  size_t stay = 0;
  for (auto& drawn : positions) {
    if (stay > 0) {
      --stay;
    } else if (random() % 4 == 0) {
      position = (position + 1) % pool_size;
    } else {
      position = random() % pool_size;
      if (random() % 20 == 0) stay = random() % 40;
    }
    drawn = position;
  }
  return positions;
}

template <typename Type, typename Convert>
void write_values(parquet::ColumnWriter* writer, const std::vector<int16_t>& levels, const std::vector<size_t>& positions, bool required,
                  Convert convert) {
  auto values = std::make_unique<typename Type::c_type[]>(positions.size() + 1);  // not std::vector: it has no bool array
  for (size_t i = 0; i < positions.size(); ++i) values[i] = convert(positions[i]);
  auto* typed = static_cast<parquet::TypedColumnWriter<Type>*>(writer);
  typed->WriteBatch(static_cast<int64_t>(levels.size()), required ? nullptr : levels.data(), nullptr, values.get());
}

void write_column(parquet::ColumnWriter* writer, const ColumnSpec& column, const ValuePool& pool, int64_t rows, std::mt19937_64& random) {
  std::vector<int16_t> levels = make_levels(column.nulls, rows, random);
  size_t count = 0;
  for (int16_t level : levels) count += static_cast<size_t>(level);
  std::vector<size_t> positions = draw(pool.size(), count, random);
  bool required = column.nulls == NullPattern::Required;
  auto bytes_at = [&](size_t i) { return reinterpret_cast<const uint8_t*>(pool.bytes[i].data()); };
  switch (column.stored.physical) {
    case parquet::Type::BOOLEAN:
      return write_values<parquet::BooleanType>(writer, levels, positions, required, [&](size_t i) { return pool.integers[i] != 0; });
    case parquet::Type::INT32:
      return write_values<parquet::Int32Type>(writer, levels, positions, required,
                                              [&](size_t i) { return static_cast<int32_t>(pool.integers[i]); });
    case parquet::Type::INT64:
      return write_values<parquet::Int64Type>(writer, levels, positions, required, [&](size_t i) { return pool.integers[i]; });
    case parquet::Type::INT96:
      return write_values<parquet::Int96Type>(writer, levels, positions, required, [&](size_t i) {
        parquet::Int96 value;
        std::memcpy(value.value.data(), bytes_at(i), 12);
        return value;
      });
    case parquet::Type::FLOAT:
      return write_values<parquet::FloatType>(writer, levels, positions, required,
                                              [&](size_t i) { return static_cast<float>(pool.floats[i]); });
    case parquet::Type::DOUBLE:
      return write_values<parquet::DoubleType>(writer, levels, positions, required, [&](size_t i) { return pool.floats[i]; });
    case parquet::Type::BYTE_ARRAY:
      return write_values<parquet::ByteArrayType>(writer, levels, positions, required, [&](size_t i) {
        return parquet::ByteArray(static_cast<uint32_t>(pool.bytes[i].size()), bytes_at(i));
      });
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      return write_values<parquet::FLBAType>(writer, levels, positions, required,
                                             [&](size_t i) { return parquet::FixedLenByteArray(bytes_at(i)); });
    default: throw std::runtime_error("no such physical type");
  }
}

std::shared_ptr<parquet::schema::GroupNode> make_schema(const FileSpec& spec) {
  parquet::schema::NodeVector fields;
  for (const ColumnSpec& column : spec.columns) {
    auto repetition = column.nulls == NullPattern::Required ? parquet::Repetition::REQUIRED : parquet::Repetition::OPTIONAL;
    fields.push_back(parquet::schema::PrimitiveNode::Make(column.name, repetition, column.stored.annotation, column.stored.physical,
                                                          column.stored.width));
  }
  auto node = parquet::schema::GroupNode::Make("schema", parquet::Repetition::REQUIRED, fields);
  return std::static_pointer_cast<parquet::schema::GroupNode>(node);
}

std::shared_ptr<parquet::WriterProperties> make_properties(const FileSpec& spec) {
  parquet::WriterProperties::Builder builder;
  builder.compression(spec.codec)
      ->data_pagesize(spec.page_bytes)
      ->dictionary_pagesize_limit(spec.dictionary_bytes)
      // The writer checks the page size once per batch.
      ->write_batch_size(std::clamp<int64_t>(spec.page_bytes / 8, 1, 1024))
      ->max_row_group_length(spec.row_group_rows)
      ->data_page_version(spec.pages_v2 ? parquet::ParquetDataPageVersion::V2 : parquet::ParquetDataPageVersion::V1)
      ->version(spec.format_v1 ? parquet::ParquetVersion::PARQUET_1_0 : parquet::ParquetVersion::PARQUET_2_6);
  spec.page_index ? builder.enable_write_page_index() : builder.disable_write_page_index();
  spec.checksums ? builder.enable_page_checksum() : builder.disable_page_checksum();
  for (const ColumnSpec& column : spec.columns) {
    if (column.encoding == parquet::Encoding::RLE_DICTIONARY) {
      builder.enable_dictionary(column.name);
    } else {
      builder.disable_dictionary(column.name)->encoding(column.name, column.encoding);
    }
    if (spec.bloom_filters && column.stored.physical != parquet::Type::BOOLEAN) {
      builder.enable_bloom_filter(column.name, parquet::BloomFilterOptions{.ndv = 500});
    }
  }
  return builder.build();
}

}  // namespace

std::string FileSpec::to_string() const {
  return fmt::format("{} rows in groups of {}, pages of {} bytes, dictionary limit {}, codec {}, pages {}, format {}{}{}{}, seed {}", rows,
                     row_group_rows, page_bytes, dictionary_bytes, arrow::util::Codec::GetCodecAsString(codec), pages_v2 ? "v2" : "v1",
                     format_v1 ? "1.0" : "2.6", page_index ? ", page index" : "", checksums ? ", checksums" : "",
                     bloom_filters ? ", bloom filters" : "", seed);
}

std::vector<ColumnSpec> all_columns(int keep_every, int first) {
  std::vector<ColumnSpec> columns;
  int index = 0;
  for (const StoredType& stored : stored_types()) {
    for (auto encoding : encodings_of(stored.physical)) {
      for (NullPattern nulls : null_patterns()) {
        if (index++ % keep_every != first) continue;
        std::string name = fmt::format("{}|{}|{}", stored.name, parquet::EncodingToString(encoding), null_pattern_name(nulls));
        bool is_dictionary = encoding == parquet::Encoding::RLE_DICTIONARY;
        columns.push_back({name, stored, encoding, nulls, is_dictionary ? 60 + index % 300 : 1000});
      }
    }
  }
  return columns;
}

std::vector<parquet::Compression::type> writable_codecs() {
  using arrow::Compression;
  std::vector<Compression::type> codecs = {Compression::UNCOMPRESSED};
  for (auto codec :
       {Compression::SNAPPY, Compression::GZIP, Compression::BROTLI, Compression::ZSTD, Compression::LZ4, Compression::LZ4_HADOOP}) {
    if (arrow::util::Codec::IsAvailable(codec)) codecs.push_back(codec);
  }
  return codecs;
}

std::shared_ptr<arrow::Buffer> make_parquet_file(const FileSpec& spec) {
  auto sink = check(arrow::io::BufferOutputStream::Create());
  auto writer = parquet::ParquetFileWriter::Open(sink, make_schema(spec), make_properties(spec));
  // The pool belongs to the column, the draw to the row group; neither depends on the other columns.
  std::vector<ValuePool> pools;
  for (size_t index = 0; index < spec.columns.size(); ++index) {
    std::mt19937_64 random(spec.seed * 1'000'003 + index);
    pools.push_back(make_value_pool(spec.columns[index].stored, spec.columns[index].distinct, random));
  }
  for (int64_t begin = 0; begin < spec.rows; begin += spec.row_group_rows) {
    int64_t rows = std::min(spec.row_group_rows, spec.rows - begin);
    auto* group = writer->AppendRowGroup();
    for (size_t index = 0; index < spec.columns.size(); ++index) {
      std::mt19937_64 random(spec.seed + index * 7919 + static_cast<uint64_t>(begin));
      auto* column_writer = group->NextColumn();
      write_column(column_writer, spec.columns[index], pools[index], rows, random);
      column_writer->Close();
    }
  }
  writer->Close();
  return check(sink->Finish());
}

std::shared_ptr<arrow::Buffer> make_nested_parquet_file(int64_t rows, int64_t row_group_rows) {
  arrow::Int64Builder ids;
  arrow::StringBuilder names;
  auto x = std::make_shared<arrow::Int32Builder>();
  auto label = std::make_shared<arrow::StringBuilder>();
  auto z = std::make_shared<arrow::DoubleBuilder>();
  auto inner_type = arrow::struct_({arrow::field("z", arrow::float64())});
  auto point_type =
      arrow::struct_({arrow::field("x", arrow::int32(), false), arrow::field("label", arrow::utf8()), arrow::field("inner", inner_type)});
  auto inner = std::make_shared<arrow::StructBuilder>(inner_type, arrow::default_memory_pool(),
                                                      std::vector<std::shared_ptr<arrow::ArrayBuilder>>{z});
  arrow::StructBuilder point(point_type, arrow::default_memory_pool(), {x, label, inner});
  auto tag = std::make_shared<arrow::Int64Builder>();
  arrow::ListBuilder tags(arrow::default_memory_pool(), tag);
  auto key = std::make_shared<arrow::StringBuilder>();
  auto item = std::make_shared<arrow::Int32Builder>();
  arrow::MapBuilder attributes(arrow::default_memory_pool(), key, item);
  for (int64_t row = 0; row < rows; ++row) {
    check(ids.Append(row));
    check(row % 5 ? names.Append(fmt::format("name {}", row % 17)) : names.AppendNull());
    if (row % 7 == 0) {
      check(point.AppendNull());
    } else {
      check(point.Append());
      check(x->Append(static_cast<int32_t>(row * 3)));
      check(row % 4 ? label->Append(fmt::format("label {}", row)) : label->AppendNull());
      check(row % 3 ? inner->Append() : inner->AppendNull());
      if (row % 3) check(row % 11 ? z->Append(static_cast<double>(row) / 8) : z->AppendNull());
    }
    check(row % 6 ? tags.Append() : tags.AppendNull());
    for (int64_t i = 0; row % 6 && i < row % 4; ++i) check(tag->Append(row + i));
    check(attributes.Append());
    if (row % 2) {
      check(key->Append("weight"));
      check(item->Append(static_cast<int32_t>(row)));
    }
  }
  auto schema =
      arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("point", point_type), arrow::field("tags", tags.type()),
                     arrow::field("attributes", attributes.type()), arrow::field("name", arrow::utf8())});
  auto table = arrow::Table::Make(
      schema, {check(ids.Finish()), check(point.Finish()), check(tags.Finish()), check(attributes.Finish()), check(names.Finish())});
  auto sink = check(arrow::io::BufferOutputStream::Create());
  check(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, row_group_rows));
  return check(sink->Finish());
}

void write_file(const std::string& path, const arrow::Buffer& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace pistachio::test
