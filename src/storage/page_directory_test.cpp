#include "storage/page_directory.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

constexpr int64_t kPages = 10;
constexpr int64_t kPageRows = 5;

class PageWalkTest : public testing::Test {
 protected:
  PageWalkTest() {
    chunk_.pages = {100, (kPages + 1) * 50};
    data_.kind = PageKind::Data;
    data_.header_bytes = 20;
    data_.compressed_bytes = 30;
    data_.values = kPageRows;
    dictionary_ = data_;
    dictionary_.kind = PageKind::Dictionary;
  }

  PageWalk walk(WalkedRows wanted, const PageMark& start) { return PageWalk(chunk_, kPages * kPageRows, {}, wanted, start); }

  ColumnChunkInfo chunk_;
  PageHeader data_;
  PageHeader dictionary_;
};

TEST_F(PageWalkTest, KeepsOnlyPagesOfWantedRows) {
  PageWalk some = walk({12, 21}, {{}, 100, 0});
  some.add(dictionary_);
  while (!some.is_complete()) some.add(data_);
  PageDirectory directory = some.finish();
  EXPECT_EQ(directory.dictionary.offset, 100);
  ASSERT_EQ(directory.pages.size(), 3);
  EXPECT_EQ(directory.pages[0].first_row, 10);
  EXPECT_EQ(directory.pages[0].bytes.offset, 250);
  EXPECT_EQ(directory.pages[2].end_row(), 25);
  EXPECT_EQ(directory.page_of(12), 0);
  EXPECT_EQ(directory.page_of(20), 2);
}

TEST_F(PageWalkTest, ResumesFromAMark) {
  PageWalk first = walk({0, 12}, {{}, 100, 0});
  first.add(dictionary_);
  first.add(data_);
  first.add(data_);
  PageMark mark = first.mark();
  EXPECT_EQ(mark.row, 10);
  EXPECT_EQ(mark.offset, 250);
  PageWalk second = walk({12, 50}, mark);
  while (!second.is_complete()) second.add(data_);
  PageDirectory directory = second.finish();
  EXPECT_EQ(directory.dictionary.length, 50);
  ASSERT_EQ(directory.pages.size(), 8);
  EXPECT_EQ(directory.pages[0].first_row, 10);
  EXPECT_EQ(directory.pages[7].end_row(), 50);
  EXPECT_THROW(walk({12, 50}, mark).add(dictionary_), DataError);
}

}  // namespace
}  // namespace pistachio
