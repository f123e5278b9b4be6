#include "results/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "columns/scalar_access.h"
#include "results/partitioned_files.h"
#include "results/result_formats.h"

namespace pistachio {
namespace {

namespace files = std::filesystem;  // tests only: CUDA builds of libtorch export functions of its own

class OutputFiles : public testing::Test {
 protected:
  OutputFiles() {
    std::string pattern = testing::TempDir() + "output_files_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~OutputFiles() override { files::remove_all(folder_); }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int64_t entries() const { return std::distance(files::directory_iterator(folder_), files::directory_iterator()); }

  std::string folder_;
};

TEST_F(OutputFiles, AppearsWhenPublished) {
  const std::string path = folder_ + "/file";
  for (const char* text : {"first", "second"}) {
    OutputFile file(path);
    file.write(text);
    EXPECT_NE(text_of(path), text);
    file.publish();
    EXPECT_EQ(text_of(path), text);
  }
  EXPECT_EQ(entries(), 1);
}

TEST_F(OutputFiles, AbandonedLeavesNothing) {
  { OutputFile(folder_ + "/file").write("text"); }
  EXPECT_EQ(entries(), 0);
  EXPECT_THROW(OutputFile(folder_ + "/none/file"), UserError);
  EXPECT_THROW(OutputFile{folder_}, UserError);
}

TEST_F(OutputFiles, StopsWhenCancelled) {
  OutputFile file(folder_ + "/file");
  CancelSource source;
  file.set_token(source.token());
  source.cancel("enough");
  EXPECT_THROW(file.write("text"), Cancelled);
}

class PartitionsTest : public OutputFiles {
 protected:
  Chunk rows(const std::vector<std::optional<std::string>>& parts) const {
    std::vector<ScalarValue> names, numbers;
    for (const std::optional<std::string>& part : parts) {
      names.push_back(part ? ScalarValue::of_text(TypeKind::Varchar, *part) : ScalarValue::null(TypeKind::Varchar));
      numbers.push_back(ScalarValue::of_integer(TypeKind::BigInt, static_cast<int64_t>(numbers.size())));
    }
    std::vector<Column> columns = {column_of_values(TypeKind::Varchar, names), column_of_values(TypeKind::BigInt, numbers)};
    return Chunk(std::move(columns), static_cast<int64_t>(parts.size()));
  }
  PartitionedFiles open(bool may_replace = false) const {
    return PartitionedFiles({folder_ + "/table", {0}, "csv", may_replace}, [](ResultSink& sink) { return make_csv_result(sink, {}); });
  }
  static void write(PartitionedFiles& partitions, const std::vector<Chunk>& chunks) {
    partitions.start({});
    partitions.begin({{"part", TypeKind::Varchar}, {"number", TypeKind::BigInt}});
    for (const Chunk& chunk : chunks) partitions.add(chunk);
    partitions.end();
  }
};

TEST_F(PartitionsTest, RunsGoOnInTheNextChunk) {
  PartitionedFiles partitions = open();
  write(partitions, {rows({"a", "a", "b"}), rows({"b"}), rows({"b", "c/d", std::nullopt})});
  EXPECT_FALSE(files::exists(folder_ + "/table"));
  partitions.publish();
  EXPECT_EQ(text_of(folder_ + "/table/part=a/data_0.csv"), "number\n0\n1\n");
  EXPECT_EQ(text_of(folder_ + "/table/part=b/data_0.csv"), "number\n2\n0\n0\n");
  EXPECT_EQ(text_of(folder_ + "/table/part=c%2Fd/data_0.csv"), "number\n1\n");
  EXPECT_EQ(text_of(folder_ + "/table/part=__HIVE_DEFAULT_PARTITION__/data_0.csv"), "number\n2\n");
  EXPECT_EQ(entries(), 1);
}

TEST_F(PartitionsTest, UnsortedRowsAreNotLost) {
  PartitionedFiles partitions = open();
  write(partitions, {rows({"a"}), rows({"b"}), rows({"a"})});
  partitions.publish();
  EXPECT_EQ(text_of(folder_ + "/table/part=a/data_0.csv"), "number\n0\n");
  EXPECT_EQ(text_of(folder_ + "/table/part=a/data_1.csv"), "number\n0\n");
}

TEST_F(PartitionsTest, FolderIsReplacedOnlyIfAllowed) {
  for (const char* part : {"a", "b"}) {
    PartitionedFiles partitions = open(true);
    write(partitions, {rows({part})});
    partitions.publish();
  }
  EXPECT_FALSE(files::exists(folder_ + "/table/part=a"));
  EXPECT_TRUE(files::exists(folder_ + "/table/part=b"));
  EXPECT_THROW(open(), UserError);
  EXPECT_EQ(entries(), 1);
}

TEST_F(PartitionsTest, FilesThatComeMeanwhileAreKept) {
  PartitionedFiles first = open();
  write(first, {rows({"a"})});
  {
    PartitionedFiles second = open();
    write(second, {rows({"b"})});
    second.publish();
  }
  EXPECT_THROW(first.publish(), UserError);
  EXPECT_TRUE(files::exists(folder_ + "/table/part=b"));
  EXPECT_FALSE(files::exists(folder_ + "/table/part=a"));
}

TEST_F(PartitionsTest, TextForNullIsRefused) {
  PartitionedFiles partitions = open();
  EXPECT_THROW(write(partitions, {rows({"__HIVE_DEFAULT_PARTITION__"})}), UserError);
}

TEST_F(OutputFiles, ModeOfTheOldFileStays) {
  const std::string path = folder_ + "/file";
  std::ofstream(path) << "old";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  OutputFile file(path);
  file.write("new");
  file.publish();
  EXPECT_EQ(files::status(path).permissions(), files::perms::owner_read | files::perms::owner_write);
}

TEST_F(OutputFiles, DanglingLinksAreRefused) {
  files::create_symlink(folder_ + "/none", folder_ + "/link");
  EXPECT_THROW(OutputFile(folder_ + "/link"), UserError);
}

}  // namespace
}  // namespace pistachio
