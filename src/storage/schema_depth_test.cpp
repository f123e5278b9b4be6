#include "storage/schema_depth.h"

#include <gtest/gtest.h>

#include <vector>

#include "storage/thrift_compact_reader.h"

namespace pistachio {
namespace {

using Bytes = std::vector<uint8_t>;

void append(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void append_varint(Bytes& bytes, uint64_t value) {
  for (; value > 127; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 128));
  bytes.push_back(static_cast<uint8_t>(value));
}

// A SchemaElement named g.
Bytes element(uint8_t children) {
  Bytes bytes = {0x48, 0x01, 'g'};
  if (children > 0) append(bytes, {0x15, static_cast<uint8_t>(children * 2)});
  bytes.push_back(0);
  return bytes;
}

// Field 1: version; field 2: the elements; a second time field 2 when `again` is given.
Bytes footer(const std::vector<Bytes>& elements, const std::vector<Bytes>& again = {}) {
  Bytes bytes = {0x15, 0x02};
  for (const std::vector<Bytes>* list : {&elements, &again}) {
    if (list->empty()) continue;
    append(bytes, list == &elements ? Bytes{0x19} : Bytes{0x09, 0x04});
    bytes.push_back(0xfc);
    append_varint(bytes, list->size());
    for (const Bytes& each : *list) append(bytes, each);
  }
  bytes.push_back(0);
  return bytes;
}

std::vector<Bytes> nested(size_t groups) {
  std::vector<Bytes> elements(groups + 1, element(1));
  elements.push_back(element(0));
  return elements;
}

TEST(SchemaDepthTest, CountsGroupsInsideGroups) {
  EXPECT_EQ(schema_depth(footer({element(2), element(0), element(0)}), 1000), 0);
  // root(a, b(c, d(e)), f)
  EXPECT_EQ(schema_depth(footer({element(3), element(0), element(2), element(0), element(1), element(0), element(0)}), 1000), 2);
  // root(a(b), c(d)): groups side by side are not deep
  EXPECT_EQ(schema_depth(footer({element(2), element(1), element(0), element(1), element(0)}), 1000), 1);
  EXPECT_EQ(schema_depth(footer(nested(1000)), 1000), 1000);
}

TEST(SchemaDepthTest, StopsAtTheLimit) {
  EXPECT_EQ(schema_depth(footer(nested(200'000)), 1000), 1001);
}

TEST(SchemaDepthTest, SeesTheSecondSchemaToo) {
  EXPECT_EQ(schema_depth(footer({element(1), element(0)}, nested(50)), 1000), 50);
}

TEST(SchemaDepthTest, TruncatedFooterIsRejected) {
  Bytes whole = footer(nested(5));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(schema_depth(std::span(whole).first(length), 1000), MalformedThrift) << length;
}

}  // namespace
}  // namespace pistachio
