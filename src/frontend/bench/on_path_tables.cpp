#include "frontend/bench/on_path_tables.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/error.h"
#include "frontend/bench/file_paths.h"

namespace pistachio {

namespace {

constexpr int64_t kKeysPerBatch = 65'536;

// Several row groups even in small files, so that a rank with several threads reads them concurrently.
int64_t keys_per_row_group(int64_t tuples) {
  return std::clamp<int64_t>(tuples / 8, 1'000, 1 << 20);
}

// The keys of one source rank. Its own arithmetic instead of std's distributions, whose results differ between standard libraries.
class KeyDraws {
 public:
  KeyDraws(const OnPathData& data, int source)
      : first_(data.first_key(source % data.ranks_per_host)),
        range_(data.range()),
        is_zipf_(data.model == KeyModel::Zipf),
        zipf_(range_),
        random_(static_cast<uint64_t>(source) + 1) {}

  int64_t next() {
    auto share = [this] { return static_cast<double>(random_() >> 11) * 0x1p-53; };
    const int64_t number = is_zipf_ ? zipf_.draw(share) - 1 : static_cast<int64_t>(share() * static_cast<double>(range_));
    return first_ + number;
  }

 private:
  int64_t first_;
  int64_t range_;
  bool is_zipf_;
  ZipfNumbers zipf_;
  std::mt19937_64 random_;
};

template <typename Builder>
arrow::Result<std::shared_ptr<arrow::Array>> draw_keys(KeyDraws& draws, int64_t count) {
  Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(count));
  for (int64_t i = 0; i < count; ++i) builder.UnsafeAppend(static_cast<typename Builder::value_type>(draws.next()));
  return builder.Finish();
}

arrow::Status write_keys(const std::string& path, const OnPathData& data, int64_t tuples, KeyDraws& draws) {
  const bool is_wide = data.key_bits == 64;
  auto schema = arrow::schema({arrow::field("k", is_wide ? arrow::int64() : arrow::int32(), false)});
  ARROW_ASSIGN_OR_RAISE(auto output, arrow::io::FileOutputStream::Open(path));
  auto properties = parquet::WriterProperties::Builder()
                        .compression(parquet::Compression::UNCOMPRESSED)
                        ->disable_dictionary()
                        ->max_row_group_length(keys_per_row_group(data.tuples))
                        ->build();
  ARROW_ASSIGN_OR_RAISE(auto writer, parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), output, properties));
  for (int64_t first = 0; first < tuples; first += kKeysPerBatch) {
    const int64_t count = std::min(kKeysPerBatch, tuples - first);
    ARROW_ASSIGN_OR_RAISE(auto keys, is_wide ? draw_keys<arrow::Int64Builder>(draws, count) : draw_keys<arrow::Int32Builder>(draws, count));
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, count, {std::move(keys)})));
  }
  ARROW_RETURN_NOT_OK(writer->Close());
  return output->Close();
}

void write_key_file(const std::string& path, const OnPathData& data, int rank) {
  if (::access(path.c_str(), F_OK) == 0) return;
  // An interrupted run leaves nothing that looks complete, and concurrent runs do not collide.
  const std::string unfinished = fmt::format("{}.{}", path, ::getpid());
  const bool is_sink = rank == 0;
  KeyDraws draws(data, is_sink ? 0 : rank - 1);
  const arrow::Status status = write_keys(unfinished, data, is_sink ? 0 : data.tuples, draws);
  if (status.ok() && std::rename(unfinished.c_str(), path.c_str()) == 0) return;
  const std::string problem = status.ok() ? std::strerror(errno) : status.message();
  ::unlink(unfinished.c_str());
  throw UserError(fmt::format("cannot write {}: {}", path, problem));
}

}  // namespace

std::string ensure_on_path_tables(const std::string& folder, const OnPathData& data) {
  const std::string home = fmt::format("{}/onpath_{}_{}_{}_{:g}_{}x{}", absolute_path(folder), name_of(data.model), data.key_bits,
                                       data.tuples, data.uniqueness, data.source_hosts, data.ranks_per_host);
  make_folders(home);
  for (int rank = 0; rank <= data.source_ranks(); ++rank) write_key_file(fmt::format("{}/rank{}.parquet", home, rank), data, rank);
  return home + "/rank{rank}.parquet";
}

std::string on_path_query(const std::string& path) {
  return fmt::format("SELECT count(*) FROM (SELECT DISTINCT k FROM {}) AS keys", quoted_path(path));
}

}  // namespace pistachio
