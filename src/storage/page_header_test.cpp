#include "storage/page_header.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "storage/thrift_compact_reader.h"

namespace pistachio {
namespace {

using Bytes = std::vector<uint8_t>;

// type 0, uncompressed 80, compressed 40, then (5) a data page of 100 values, RLE_DICTIONARY, levels RLE.
const Bytes kDataPage = {0x15, 0x00, 0x15, 0xa0, 0x01, 0x15, 0x50, 0x2c, 0x15, 0xc8, 0x01, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00};

TEST(PageHeaderTest, ReadsADataPage) {
  PageHeader header = parse_page_header(kDataPage);
  EXPECT_EQ(header.kind, PageKind::Data);
  EXPECT_EQ(header.uncompressed_bytes, 80);
  EXPECT_EQ(header.compressed_bytes, 40);
  EXPECT_EQ(header.values, 100);
  EXPECT_TRUE(header.uses_dictionary());
  EXPECT_EQ(header.header_bytes, static_cast<int32_t>(kDataPage.size()));
}

TEST(PageHeaderTest, EveryTruncationIsRefused) {
  for (size_t length = 0; length < kDataPage.size(); ++length) {
    EXPECT_THROW(parse_page_header(std::span(kDataPage).first(length)), MalformedThrift) << length;
  }
}

TEST(PageHeaderTest, NegativeSizesAreRefused) {
  Bytes bytes = kDataPage;
  bytes[6] = 0x51;  // compressed -41
  EXPECT_THROW(parse_page_header(bytes), MalformedThrift);
}

TEST(PageHeaderTest, WrongCountsInUnknownFieldsTerminate) {
  // Field 1 is a map with 2^63 entries of kind Stop; a list likewise.
  Bytes map = {0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00};
  Bytes list = {0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
  for (const Bytes& bytes : {map, list}) {
    ThriftCompactReader reader(bytes);
    ThriftCompactReader::Field field = reader.read_field(0);
    EXPECT_THROW(reader.skip(field.type), MalformedThrift);
  }
}

TEST(PageHeaderTest, RandomBytesNeverReadOutside) {
  std::mt19937 random(5);
  for (int round = 0; round < 200000; ++round) {
    Bytes bytes = round % 2 == 0 ? kDataPage : Bytes(1 + random() % 40);
    for (uint8_t& byte : bytes) {
      if (round % 2 == 1 || random() % 8 == 0) byte = static_cast<uint8_t>(random());
    }
    try {
      PageHeader header = parse_page_header(bytes);
      EXPECT_LE(header.header_bytes, static_cast<int32_t>(bytes.size()));
    } catch (const MalformedThrift&) {
    }
  }
}

TEST(PageHeaderTest, ErrorSaysThatTheHeaderIsDamaged) {
  const DataError error = damaged_page_header(MalformedThrift("unknown field type in header", 3), {"a.parquet", 0, "v", 7});
  EXPECT_EQ(error.problem(), "the page header cannot be read: unknown field type in header");
}

}  // namespace
}  // namespace pistachio
