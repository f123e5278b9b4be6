#include "frontend/bench/join_tables.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

#include "base/error.h"
#include "frontend/bench/file_paths.h"

namespace pistachio {

namespace {

constexpr int64_t kBatchRows = 65'536;
constexpr uint64_t kValueMask = (uint64_t{1} << 40) - 1;

using MakeKey = std::function<int64_t(int64_t row)>;

// Many more row groups than ranks, so that every rank gets a share.
int64_t rows_of_a_group(int64_t rows) {
  return std::clamp<int64_t>(rows / 8, 1'000, 100'000);
}

arrow::Status write(const std::string& path, const std::string& prefix, int64_t rows, int64_t columns, const MakeKey& make_key,
                    std::mt19937_64& random) {
  arrow::FieldVector fields = {arrow::field("k", arrow::int64(), false)};
  for (int64_t i = 1; i <= columns; ++i) fields.push_back(arrow::field(fmt::format("{}{}", prefix, i), arrow::int64(), false));
  auto schema = arrow::schema(fields);
  ARROW_ASSIGN_OR_RAISE(auto output, arrow::io::FileOutputStream::Open(path));
  auto properties = parquet::WriterProperties::Builder()
                        .compression(parquet::Compression::UNCOMPRESSED)
                        ->disable_dictionary()
                        ->max_row_group_length(rows_of_a_group(rows))
                        ->build();
  ARROW_ASSIGN_OR_RAISE(auto writer, parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), output, properties));
  for (int64_t first = 0; first < rows; first += kBatchRows) {
    int64_t count = std::min(kBatchRows, rows - first);
    arrow::ArrayVector made;
    for (size_t column = 0; column < fields.size(); ++column) {
      arrow::Int64Builder builder;
      ARROW_RETURN_NOT_OK(builder.Reserve(count));
      for (int64_t row = first; row < first + count; ++row)
        builder.UnsafeAppend(column == 0 ? make_key(row) : static_cast<int64_t>(random() & kValueMask));
      ARROW_ASSIGN_OR_RAISE(auto array, builder.Finish());
      made.push_back(std::move(array));
    }
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, count, std::move(made))));
  }
  ARROW_RETURN_NOT_OK(writer->Close());
  return output->Close();
}

// A permutation of [0, count) in scattered order: multiples of a step that is coprime to `count`.
class ScatteredNumbers {
 public:
  explicit ScatteredNumbers(int64_t count) : count_(static_cast<uint64_t>(count)) {
    for (uint64_t prime : {uint64_t{2'654'435'761}, uint64_t{2'246'822'519}}) {
      step_ = prime % count_;
      if (count_ % prime != 0) return;
    }
  }
  int64_t at(int64_t place) const { return static_cast<int64_t>(static_cast<uint64_t>(place) * step_ % count_); }

 private:
  uint64_t count_;
  uint64_t step_ = 1;
};

void write_table(const std::string& path, const std::string& prefix, int64_t rows, int64_t columns, const MakeKey& make_key,
                 std::mt19937_64& random) {
  // An interrupted run leaves nothing that looks complete, and concurrent runs do not collide.
  std::string unfinished = fmt::format("{}.{}", path, ::getpid());
  arrow::Status status = write(unfinished, prefix, rows, columns, make_key, random);
  if (status.ok() && std::rename(unfinished.c_str(), path.c_str()) == 0) return;
  std::string problem = status.ok() ? std::strerror(errno) : status.message();
  ::unlink(unfinished.c_str());
  throw UserError(fmt::format("cannot write {}: {}", path, problem));
}

}  // namespace

JoinTablePaths ensure_join_tables(const std::string& folder, const JoinTables& tables) {
  std::string name = fmt::format("join_{}_{}_{}_{:g}", tables.build_rows, tables.probe_rows, tables.columns, tables.hit);
  if (tables.skew > 0) name += fmt::format("_skew_{:g}", tables.skew);
  std::string home = fmt::format("{}/{}", absolute_path(folder), name);
  make_folders(home);
  JoinTablePaths paths{home + "/build.parquet", home + "/probe.parquet"};
  auto is_missing = [](const std::string& path) { return ::access(path.c_str(), F_OK) != 0; };
  if (is_missing(paths.build)) {
    std::mt19937_64 random(1);
    ScatteredNumbers keys(tables.build_rows);
    write_table(paths.build, "b", tables.build_rows, tables.columns, [&](int64_t row) { return keys.at(row); }, random);
  }
  if (is_missing(paths.probe)) {
    std::mt19937_64 random(2);
    std::mt19937_64 key_random(3);
    std::uniform_real_distribution<double> share(0, 1);
    auto key = [&](int64_t) {
      double draw = share(key_random);
      auto number = static_cast<int64_t>(key_random() % static_cast<uint64_t>(tables.build_rows));
      if (draw < tables.skew) return int64_t{0};
      return draw < tables.hit ? number : number + tables.build_rows;
    };
    write_table(paths.probe, "p", tables.probe_rows, tables.columns, key, random);
  }
  return paths;
}

std::string join_query(const JoinTablePaths& paths, int64_t columns) {
  std::string sums;
  for (int64_t i = 1; i <= columns; ++i) sums += fmt::format(", sum(b{0}), sum(p{0})", i);
  return fmt::format("SELECT count(*){} FROM {} AS probe JOIN {} AS build ON probe.k = build.k", sums, quoted_path(paths.probe),
                     quoted_path(paths.build));
}

}  // namespace pistachio
