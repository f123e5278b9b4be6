#include "frontend/cli/schema_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/format_bytes.h"
#include "engine/engine_instance.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/text_table.h"
#include "storage/parquet_table.h"

namespace pistachio {

namespace {

struct ColumnFacts {
  std::set<std::string> encodings;
  std::set<std::string> codecs;
  int64_t compressed_bytes = 0;
  int64_t uncompressed_bytes = 0;
  int64_t pages = 0;
  bool pages_known = true;
  std::optional<int64_t> nulls = 0;
};

struct FileFacts {
  std::shared_ptr<const FileMetadata> metadata;
  std::vector<ColumnFacts> columns;
};

// Pages are counted from the offset index; without one the whole file would have to be read.
Task<std::vector<FileFacts>> read_facts(StorageContext& storage, std::vector<std::string> paths) {
  std::vector<FileFacts> all;
  for (const std::string& path : paths) {
    std::vector<std::string> one{path};
    Task<ParquetTable> opening = open_table(storage, one);
    ParquetTable table = co_await opening;
    for (const TableFile& file : table.files) {
      FileFacts facts{file.metadata, {}};
      const ParquetFooter& footer = file.footer();
      for (size_t column = 0; column < footer.columns.size(); ++column) {
        ColumnFacts own;
        for (size_t group = 0; group < footer.row_groups.size(); ++group) {
          const ColumnChunkInfo& chunk = footer.row_groups[group].columns[column];
          for (PageEncoding encoding : chunk.encodings) own.encodings.insert(encoding_name(encoding));
          own.codecs.insert(std::string(codec_name(chunk.codec)));
          own.compressed_bytes += chunk.pages.length;
          own.uncompressed_bytes += chunk.uncompressed_bytes;
          own.nulls = own.nulls && chunk.nulls ? std::optional(*own.nulls + *chunk.nulls) : std::nullopt;
          if (chunk.offset_index.length == 0) {
            own.pages_known = false;
            continue;
          }
          Task<std::shared_ptr<const PageDirectory>> finding =
              file.metadata->page_indexes->directory(storage.read_pool, file.file, static_cast<int>(group), static_cast<int>(column));
          std::shared_ptr<const PageDirectory> directory = co_await finding;
          own.pages += static_cast<int64_t>(directory->pages.size());
        }
        facts.columns.push_back(std::move(own));
      }
      all.push_back(std::move(facts));
    }
  }
  co_return all;
}

std::string joined(const std::set<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

void print_facts(const FileFacts& facts) {
  const ParquetFooter& footer = *facts.metadata->footer;
  int64_t groups = static_cast<int64_t>(footer.row_groups.size());
  fmt::print("{}: {} rows, {} row groups, {} columns, written by {}\n\n", footer.path, with_thousands(footer.rows), with_thousands(groups),
             footer.columns.size(), footer.created_by.empty() ? "unknown" : footer.created_by);
  TextTable table({{"column"},
                   {"type"},
                   {"stored as"},
                   {"nulls", TextTable::Align::Right},
                   {"encodings"},
                   {"codec"},
                   {"compressed", TextTable::Align::Right},
                   {"uncompressed", TextTable::Align::Right},
                   {"pages/chunk", TextTable::Align::Right}});
  for (size_t i = 0; i < footer.columns.size(); ++i) {
    const ParquetColumn& column = footer.columns[i];
    const ColumnFacts& own = facts.columns[i];
    std::string pages =
        own.pages_known && groups > 0 ? fmt::format("{:.1f}", static_cast<double>(own.pages) / static_cast<double>(groups)) : "?";
    std::string stored(physical_type_name(column.physical));
    if (column.physical == PhysicalType::FixedBytes) stored += fmt::format("({})", column.fixed_width);
    table.add({column.name, column.is_supported() ? column.type.to_string() : "not readable: " + column.unsupported, stored,
               column.max_definition == 0 ? "required"
               : own.nulls                ? with_thousands(*own.nulls)
                                          : "?",
               joined(own.encodings), joined(own.codecs), format_bytes(own.compressed_bytes), format_bytes(own.uncompressed_bytes), pages});
  }
  fmt::print("{}\n", table.to_string(60));
}

}  // namespace

int run_schema_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  CommandArguments arguments(argc, argv, {}, settings);
  if (arguments.positional().empty()) throw UsageError("schema needs a path");
  EngineInstance engine(settings);
  EngineInstance::QueryScope query(engine, engine.settings(), EngineInstance::QueryScope::Use::ScanOnly);
  std::vector<FileFacts> all = engine.scheduler().run(read_facts(query.storage(), arguments.positional()), interrupts.token());
  for (const FileFacts& facts : all) print_facts(facts);
  return 0;
}

}  // namespace pistachio
