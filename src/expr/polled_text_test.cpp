#include "expr/polled_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "expr/function_harness.h"
#include "expr/letter_case.h"
#include "expr/like_pattern.h"
#include "expr/md5_digest.h"
#include "expr/two_way_search.h"

namespace pistachio {
namespace {

using namespace function_harness;

// More than a strip of short values may have.
constexpr int64_t kLong = 8 * kBytesPerPoll;

std::string repeated(std::string_view text, int64_t times) {
  std::string all;
  for (; times > 0; --times) all += text;
  return all;
}

// ASCII, longer characters and broken bytes, over several blocks.
std::string mixed_text(uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<std::string> pieces = {"a", "B", "é", "日", "🎉", " ", "\x80", "\xc3", "\xf0\x9f", "\x80\x80\x80\x80\x80"};
  std::string text;
  while (static_cast<int64_t>(text.size()) < 3 * kBytesPerPoll + 12'345) text += pieces[random() % pieces.size()];
  return text;
}

ScalarValue call_with(const CancelToken& token, std::string_view name, const Values& values) {
  std::vector<ExpressionPtr> constants;
  std::vector<Argument> arguments;
  for (const ScalarValue& value : values) {
    constants.push_back(Expression::constant(value));
    arguments.push_back({repeat_value(value, 1), true});
  }
  ExpressionPtr call = make_call(name, constants);
  return value_at(call_function(call->function(), {arguments, 1, call->type(), {}, &token}), 0);
}

TEST(PolledText, BlocksAgreeWithWholeText) {
  CancelToken token;
  for (uint32_t seed : {1, 2, 3}) {
    const std::string value = mixed_text(seed);
    const char* begin = value.data();
    const char* end = begin + value.size();
    WorkPoll poll(&token);
    const int64_t characters = count_characters(value);
    EXPECT_EQ(count_characters(value, poll), characters);
    NoPoll no_poll;
    for (int64_t count : {int64_t{0}, int64_t{1}, characters / 3, characters / 2, characters - 1, characters, characters + 5}) {
      EXPECT_EQ(skip_characters(begin, end, count, poll), skip_characters(begin, end, count)) << count;
      EXPECT_EQ(skip_back(end, begin, count, poll), skip_back(end, begin, count, no_poll)) << count;
      EXPECT_EQ(skip_back(end, begin, count, poll), skip_characters(begin, end, std::max<int64_t>(characters - count, 0))) << count;
    }
    std::string joined;
    int64_t blocks = 0;
    std::string mapped = to_lower(value, poll);
    for_each_character_block(value, poll, [&](std::string_view block) {
      joined += block;
      ++blocks;
    });
    EXPECT_EQ(joined, value);
    EXPECT_GE(blocks, 3);
    WorkPoll other(&token);
    std::string piecewise;
    for (size_t at = 0; at < value.size();) {  // code point by code point
      const char* next = begin + at;
      read_code_point(next, end);
      size_t length = static_cast<size_t>(next - begin) - at;
      piecewise += to_lower(std::string_view(value).substr(at, length), other);
      at += length;
    }
    EXPECT_EQ(mapped, piecewise);
  }
}

TEST(PolledText, TwoWaySearchFindsWhatOthersFind) {
  std::mt19937 random(17);
  NoPoll no_poll;
  for (int round = 0; round < 50'000; ++round) {
    const uint32_t letters = 1 + random() % 3;
    std::string hay;
    std::string needle;
    for (size_t count = random() % 80; count > 0; --count) hay += "abc"[random() % letters];
    for (size_t count = 1 + random() % 12; count > 0; --count) needle += "abc"[random() % letters];
    if (round % 3 == 0) needle += needle;  // periodic
    const char* found = find_two_way(hay.data(), hay.data() + hay.size(), needle, no_poll);
    ASSERT_EQ(found == nullptr ? std::string::npos : static_cast<size_t>(found - hay.data()), hay.find(needle)) << hay << " / " << needle;
  }
}

TEST(PolledText, SearchSwitchesToTwoWayWithoutLosingMatches) {
  std::mt19937 random(19);
  CancelToken token;
  for (int round = 0; round < 300; ++round) {
    // Nearly periodic text, so that candidates differ late.
    std::string hay(4'000, 'a');
    for (int i = 0; i < 10; ++i) hay[random() % hay.size()] = 'b';
    const size_t length = 65 + random() % 400;
    std::string needle = hay.substr(random() % (hay.size() - length), length);
    if (round % 2 == 0) needle[random() % needle.size()] = 'b';
    NoPoll no_poll;
    WorkPoll poll(&token);
    const char* begin = hay.data();
    const char* expected = hay.find(needle) == std::string::npos ? nullptr : begin + hay.find(needle);
    ASSERT_EQ(find_bytes(begin, begin + hay.size(), needle, no_poll), expected);
    ASSERT_EQ(find_bytes(begin, begin + hay.size(), needle, poll), expected);
  }
}

// A naive search compares millions of bytes at millions of places.
TEST(PolledText, SearchIsLinearForRepetitiveNeedles) {
  const std::string half(4 << 20, 'a');
  const std::string needle = half.substr(0, 2 << 20) + "b" + half.substr(0, 2 << 20);
  EXPECT_EQ(call_with({}, "strpos", {text(half + half), text(needle)}).integer, 0);
  EXPECT_EQ(call_with({}, "strpos", {text(half + needle), text(needle)}).integer, (4 << 20) + 1);
  EXPECT_EQ(call_with({}, "replace", {text(half + needle + half), text(needle), text("c")}).text, half + "c" + half);
  EXPECT_EQ(call_with({}, "like", {text(half + half), text("%" + needle + "%")}).integer, 0);
}

TEST(PolledText, FunctionsOfLongTextAgreeWithPlainLoops) {
  const std::string value = repeated("ab,cd é", kLong / 8);
  auto run = [&](std::string_view name, const Values& others) {
    Values values = {text(value)};
    values.insert(values.end(), others.begin(), others.end());
    return call_with({}, name, values);
  };
  const int64_t times = kLong / 8;
  EXPECT_EQ(run("length", {}).integer, 7 * times);
  EXPECT_EQ(run("upper", {}).text, repeated("AB,CD É", times));
  EXPECT_EQ(run("initcap", {}).text, repeated("Ab,Cd É", 1) + repeated("ab,Cd É", times - 1));
  EXPECT_EQ(run("reverse", {}).text, repeated("é dc,ba", times));
  EXPECT_EQ(run("replace", {text(",cd"), text("-")}).text, repeated("ab- é", times));
  EXPECT_EQ(run("translate", {text("éa"), text("e")}).text, repeated("b,cd e", times));
  EXPECT_EQ(run("strpos", {text("éx")}).integer, 0);
  EXPECT_EQ(run("split_part", {text(","), whole(times)}).text, "cd éab");
  EXPECT_EQ(run("split_part", {text(","), whole(-1)}).text, "cd é");
  EXPECT_EQ(run("substring", {whole(7 * times - 3), whole(3)}).text, "cd ");
  EXPECT_EQ(run("left", {whole(7 - 7 * times)}).text, "ab,cd é");
  EXPECT_EQ(run("right", {whole(3)}).text, "d é");
  EXPECT_EQ(run("right", {whole(7 * times - 2)}).text, value.substr(2));
  EXPECT_EQ(run("lpad", {whole(7 * times + 5), text("xé")}).text, "xéxéx" + value);
  EXPECT_EQ(run("rpad", {whole(2)}).text, "ab");
  EXPECT_EQ(run("btrim", {text("abcdé ")}).text, value.substr(2, value.size() - 7));
  EXPECT_EQ(run("like", {text("ab%d_é")}).integer, 1);
  EXPECT_EQ(run("like", {text("%d_éb%")}).integer, 0);
  EXPECT_EQ(run("ilike", {text("%,CD É")}).integer, 1);
  EXPECT_EQ(run("||", {text("!")}).text, value + "!");
  EXPECT_EQ(run("overlay", {text("_"), whole(2), whole(7 * times - 2)}).text, "a_é");
  EXPECT_EQ(call_with({}, "repeat", {text("ab,cd é"), whole(times)}).text, value);
  EXPECT_EQ(call_with({}, "repeat", {text(value.substr(0, 3'000)), whole(2)}).text, value.substr(0, 3'000) + value.substr(0, 3'000));
  std::string digest;
  for (uint8_t byte : Md5Digest().finish(value)) digest += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  EXPECT_EQ(run("md5", {}).text, digest);
}

TEST(PolledText, FunctionsOfLongTextStopWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  const ScalarValue value = text(std::string(static_cast<size_t>(kLong), 'a'));
  const std::vector<std::pair<std::string_view, Values>> calls = {
      {"||", {value, text("b")}},
      {"concat", {text("b"), value}},
      {"concat_ws", {value, text("b"), text("c")}},
      {"length", {value}},
      {"upper", {value}},
      {"lower", {value}},
      {"initcap", {value}},
      {"like", {value, text("%b%")}},
      {"like", {value, text("%a%b_c%")}},
      {"like", {value, value}},
      {"like", {text(std::string(1 << 16, 'a')), text("%" + repeated("_a", 1 << 12) + "b%")}},
      {"ilike", {value, text("%b%")}},
      {"substring", {value, whole(kLong - 1)}},
      {"left", {value, whole(kLong - 1)}},
      {"right", {value, whole(kLong - 1)}},
      {"lpad", {text("x"), whole(kLong), text("ab")}},
      {"rpad", {text("x"), whole(kLong)}},
      {"ltrim", {value, text("a")}},
      {"rtrim", {value, text("a")}},
      {"trim", {text("b"), value}},
      {"replace", {value, text("b"), text("c")}},
      {"replace", {text(std::string(1 << 12, 'a')), text("a"), text(std::string(1 << 12, 'b'))}},
      {"translate", {value, text("a"), text("")}},
      {"translate", {text("a"), value, text("")}},
      {"reverse", {value}},
      {"repeat", {text("ab"), whole(kLong)}},
      {"strpos", {value, text("b")}},
      {"contains", {value, text("b")}},
      {"split_part", {value, text("a"), whole(kLong / 2)}},
      {"split_part", {value, text("b"), whole(-1)}},
      {"md5", {value}},
      {"overlay", {value, text("b"), whole(kLong - 1)}},
  };
  for (const auto& [name, values] : calls) EXPECT_THROW(call_with(source.token(), name, values), Cancelled) << name;
}

// Nothing is polled for short values: a call ends before it is worth it.
TEST(PolledText, ShortTextIsNotPolled) {
  CancelSource source;
  source.cancel("enough");
  EXPECT_EQ(call_with(source.token(), "strpos", {text("abc"), text("c")}).integer, 3);
  EXPECT_EQ(call_with(source.token(), "upper", {text("abc")}).text, "ABC");
}

TEST(PolledText, DeadlinePassesDuringConstantEvaluation) {
  CancelSource source({}, std::chrono::steady_clock::now());
  ExpressionPtr call = make_call("md5", {Expression::constant(text(std::string(static_cast<size_t>(kLong), 'a')))});
  EXPECT_THROW(evaluate_constant(call, source.token()), Cancelled);
}

TEST(PolledText, LongConstantsAreLeftOut) {
  ExpressionPtr call = make_call("repeat", {Expression::constant(text("ab")), Expression::constant(whole(100))});
  EXPECT_FALSE(evaluate_short_constant(call, 199, {}).has_value());
  EXPECT_EQ(evaluate_short_constant(call, 200, {})->text.size(), 200);
}

TEST(PolledText, NumbersAreNotReadFromLongText) {
  EXPECT_THROW(parse_value(TypeKind::Integer, std::string((1 << 20) + 1, '0')), UserError);
  EXPECT_EQ(parse_value(TypeKind::Integer, std::string(1 << 20, '0')).integer, 0);
}

TEST(PolledText, FillOfPaddingMayNotOverflow) {
  check_error("lpad", {text("x"), whole(INT64_MAX), text("é")}, "longer than 1 GiB");
}

}  // namespace
}  // namespace pistachio
