#include "readers/byte_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace pistachio {
namespace {

TEST(ByteSearch, AgreesWithPlainLoops) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (size_t length : {0, 1, 7, 8, 9, 63, 200, 5000}) {
    for (unsigned kinds : {1, 2, 3, 200}) {
      std::string text(length, 'x');
      for (char& byte : text) byte = static_cast<char>('a' + random() % kinds);
      const char* const end = text.data() + text.size();
      EXPECT_EQ(count_byte(text, 'a'), std::count(text.begin(), text.end(), 'a'));
      for (const char* at = text.data(); at < end; at += 1 + random() % 9)
        EXPECT_EQ(find_either(at, end, 'a', 'c'), std::find_if(at, end, [](char byte) { return byte == 'a' || byte == 'c'; }));
    }
  }
}

}  // namespace
}  // namespace pistachio
