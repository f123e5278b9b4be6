#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "expr/function_harness.h"
#include "expr/like_pattern.h"
#include "expr/utf8_text.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

using namespace function_harness;

TEST(TextFunctions, Join) {
  check("||", {text("ab"), text("cd")}, "abcd");
  check("||", {text(""), text("")}, "");
  check("||", {text("grün"), text("日本")}, "grün日本");
  check("||", {text("a"), whole(-5)}, "a-5");
  check("||", {date("2024-02-29"), text("!")}, "2024-02-29!");
  check("||", {text("n="), decimal("1.50", 5, 2)}, "n=1.50");
  check_refused("||", {whole(1), whole(2)});
}

TEST(TextFunctions, ConcatSkipsNulls) {
  auto run = [](std::string_view name, const Values& values) {
    BoundCall constants = bind_call(name, values, std::vector<Form>(values.size(), Form::Constant));
    BoundCall columns = bind_call(name, values, std::vector<Form>(values.size(), Form::Column));
    std::string first = value_at(constants.evaluate(), 0).to_string();
    // The harness's columns are NULL in the middle; a NULL value is NULL in all rows.
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].is_null) columns.columns[i] = repeat_value(values[i], 3);
    }
    EXPECT_EQ(value_at(columns.evaluate(), 0).to_string(), first);
    return std::pair(first, value_at(columns.evaluate(), 1).to_string());
  };
  ScalarValue null = ScalarValue::null(TypeKind::Varchar);
  EXPECT_EQ(run("concat", {text("a"), null, whole(7), text("é")}), std::pair(std::string("a7é"), std::string("")));
  EXPECT_EQ(run("concat", {null}), std::pair(std::string(""), std::string("")));
  EXPECT_EQ(run("concat_ws", {text(","), text("a"), null, text("b")}), std::pair(std::string("a,b"), std::string("NULL")));
  EXPECT_EQ(run("concat_ws", {null, text("a")}), std::pair(std::string("NULL"), std::string("NULL")));
  EXPECT_EQ(run("concat_ws", {text(","), null, null}), std::pair(std::string(""), std::string("NULL")));
}

TEST(TextFunctions, Lengths) {
  for (const char* name : {"length", "char_length", "character_length"}) {
    check(name, {text("")}, "0");
    check(name, {text("jose")}, "4");
    check(name, {text("josé")}, "4");
    check(name, {text("日本語🎉")}, "4");
  }
  check("octet_length", {text("josé")}, "5");
  check("octet_length", {ScalarValue::of_text(TypeKind::Blob, std::string("\0\xff", 2))}, "2");
  check("bit_length", {text("jose")}, "32");
  check_refused("length", {whole(1)});
}

TEST(TextFunctions, Case) {
  check("upper", {text("tom 1@[`{z")}, "TOM 1@[`{Z");
  check("lower", {text("TOM 1@[`{Z")}, "tom 1@[`{z");
  check("upper", {text("")}, "");
  check("initcap", {text("hi THOMAS o'neil 3rd")}, "Hi Thomas O'Neil 3rd");
  check("lower", {text("ABCé日")}, "abcé日");
  check("upper", {text("straße ärger ÿ σοφός привет")}, "STRAßE ÄRGER Ÿ ΣΟΦΌΣ ПРИВЕТ");
  check("lower", {text("ÄRGER ΣΟΦΌΣ ПРИВЕТ İ")}, "ärger σοφόσ привет i");
  check("initcap", {text("élan vital")}, "Élan Vital");
  check("ilike", {text("ÄRGER"), text("ä%")}, "true");
}

TEST(TextFunctions, Substring) {
  for (const char* name : {"substring", "substr"}) {
    check(name, {text("alphabet"), whole(3), whole(2)}, "ph");
    check(name, {text("alphabet"), whole(3)}, "phabet");
    check(name, {text("alphabet"), whole(0), whole(3)}, "al");
    check(name, {text("alphabet"), whole(-2), whole(5)}, "al");
    check(name, {text("alphabet"), whole(-2), whole(2)}, "");
    check(name, {text("alphabet"), whole(-5)}, "alphabet");
    check(name, {text("alphabet"), whole(7), whole(100)}, "et");
    check(name, {text("alphabet"), whole(9), whole(1)}, "");
    check(name, {text("alphabet"), whole(2), whole(INT64_MAX)}, "lphabet");
    check(name, {text("alphabet"), whole(INT64_MIN), whole(INT64_MAX)}, "");
    check(name, {text("alphabet"), whole(3), whole(0)}, "");
    check(name, {text("日本語のテキスト"), whole(2), whole(3)}, "本語の");
    check(name, {text(""), whole(1), whole(1)}, "");
    check_error(name, {text("alphabet"), whole(3), whole(-1)}, "negative substring length");
  }
}

TEST(TextFunctions, LeftAndRight) {
  check("left", {text("abcde"), whole(2)}, "ab");
  check("left", {text("abcde"), whole(-2)}, "abc");
  check("left", {text("abcde"), whole(-9)}, "");
  check("left", {text("abcde"), whole(0)}, "");
  check("left", {text("äöü"), whole(2)}, "äö");
  check("left", {text("äöü"), whole(INT64_MIN)}, "");
  check("right", {text("abcde"), whole(2)}, "de");
  check("right", {text("abcde"), whole(-2)}, "cde");
  check("right", {text("abcde"), whole(9)}, "abcde");
  check("right", {text("äöü"), whole(-1)}, "öü");
  check("right", {text("äöü"), whole(INT64_MIN)}, "");
  check("left", {text("a long text of ascii, then ü and more"), whole(24)}, "a long text of ascii, th");
}

TEST(TextFunctions, Pad) {
  check("lpad", {text("hi"), whole(5), text("xy")}, "xyxhi");
  check("rpad", {text("hi"), whole(5), text("xy")}, "hixyx");
  check("lpad", {text("hi"), whole(5)}, "   hi");
  check("rpad", {text("hi"), whole(5)}, "hi   ");
  check("lpad", {text("hello"), whole(2), text("x")}, "he");
  check("rpad", {text("hello"), whole(2)}, "he");
  check("lpad", {text("hi"), whole(-1), text("x")}, "");
  check("lpad", {text("hi"), whole(5), text("")}, "hi");
  check("rpad", {text("ü"), whole(4), text("é日")}, "üé日é");
  check("lpad", {text(""), whole(0), text("x")}, "");
  check_error("rpad", {text("a"), whole(INT64_MAX), text("x")}, "longer");
}

TEST(TextFunctions, Trim) {
  for (const char* name : {"trim", "btrim"}) {
    check(name, {text("  a b  ")}, "a b");
    check(name, {text("    ")}, "");
    check(name, {text("yxTomxx"), text("xyz")}, "Tom");
    check(name, {text("ééaé"), text("é")}, "a");
    check(name, {text("aéa"), text("日é")}, "aéa");
    check(name, {text("abc"), text("")}, "abc");
    check(name, {text("\tabc ")}, "\tabc");
  }
  check("ltrim", {text("  a ")}, "a ");
  check("ltrim", {text("zzzytest"), text("xyz")}, "test");
  check("rtrim", {text(" a  ")}, " a");
  check("rtrim", {text("testxxzx"), text("xyz")}, "test");
}

TEST(TextFunctions, ReplaceAndTranslate) {
  check("replace", {text("abcdefabcdef"), text("cd"), text("XX")}, "abXXefabXXef");
  check("replace", {text("aaa"), text("aa"), text("b")}, "ba");
  check("replace", {text("abc"), text(""), text("X")}, "abc");
  check("replace", {text("abc"), text("b"), text("")}, "ac");
  check("replace", {text(""), text("a"), text("b")}, "");
  check("replace", {text("größe"), text("ö"), text("oe")}, "groeße");
  check("translate", {text("12345"), text("143"), text("ax")}, "a2x5");
  check("translate", {text("hüh"), text("üh"), text("uJ")}, "JuJ");
  check("translate", {text("aa"), text("aa"), text("xy")}, "xx");
  check("translate", {text("aba"), text("a"), text("🎉")}, "🎉b🎉");
  check("translate", {text(""), text("a"), text("b")}, "");
}

TEST(TextFunctions, ReverseAndRepeat) {
  check("reverse", {text("abcde")}, "edcba");
  check("reverse", {text("aé日🎉")}, "🎉日éa");
  check("reverse", {text("")}, "");
  check("repeat", {text("Pg"), whole(4)}, "PgPgPgPg");
  check("repeat", {text("Pg"), whole(0)}, "");
  check("repeat", {text("Pg"), whole(-3)}, "");
  check("repeat", {text(""), whole(INT64_MAX)}, "");
  check_error("repeat", {text("ab"), whole(INT64_MAX)}, "longer");
}

TEST(TextFunctions, Positions) {
  for (const char* name : {"strpos", "position", "instr"}) {
    check(name, {text("high"), text("ig")}, "2");
    check(name, {text("high"), text("x")}, "0");
    check(name, {text("high"), text("")}, "1");
    check(name, {text(""), text("")}, "1");
    check(name, {text(""), text("a")}, "0");
    check(name, {text("日本語"), text("語")}, "3");
    check(name, {text("a text of more than sixteen bytes"), text("bytes")}, "29");
  }
  check("starts_with", {text("alphabet"), text("alph")}, "true");
  check("starts_with", {text("al"), text("alph")}, "false");
  check("ends_with", {text("alphabet"), text("bet")}, "true");
  check("ends_with", {text("alphabet"), text("")}, "true");
  check("contains", {text("alphabet"), text("hab")}, "true");
  check("contains", {text("alphabet"), text("haab")}, "false");
}

TEST(TextFunctions, SplitPart) {
  check("split_part", {text("abc~@~def~@~ghi"), text("~@~"), whole(2)}, "def");
  check("split_part", {text("abc,def,ghi,jkl"), text(","), whole(-2)}, "ghi");
  check("split_part", {text("abc,def"), text(","), whole(3)}, "");
  check("split_part", {text("abc,def"), text(","), whole(-3)}, "");
  check("split_part", {text("abc,def"), text(","), whole(INT64_MIN)}, "");
  check("split_part", {text("abc,"), text(","), whole(2)}, "");
  check("split_part", {text("abc,"), text(","), whole(-1)}, "");
  check("split_part", {text("abc"), text(""), whole(1)}, "abc");
  check("split_part", {text("abc"), text(""), whole(2)}, "");
  check("split_part", {text(""), text(","), whole(1)}, "");
  check("split_part", {text("aébéc"), text("é"), whole(2)}, "b");
  check_error("split_part", {text("abc"), text(","), whole(0)}, "zero");
}

TEST(TextFunctions, Codes) {
  check("ascii", {text("x")}, "120");
  check("ascii", {text("é")}, "233");
  check("ascii", {text("🎉")}, "127881");
  check("ascii", {text("")}, "0");
  check("chr", {whole(65)}, "A");
  check("chr", {whole(8364)}, "€");
  check("chr", {whole(127881)}, "🎉");
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{0xD800}, int64_t{0x110000}}) check_error("chr", {whole(bad)}, "no character");
  check("to_hex", {integer(2147483647)}, "7fffffff");
  check("to_hex", {integer(-1)}, "ffffffff");
  check("to_hex", {whole(-1)}, "ffffffffffffffff");
  check("to_hex", {whole(0)}, "0");
}

TEST(TextFunctions, Md5) {
  check("md5", {text("")}, "d41d8cd98f00b204e9800998ecf8427e");
  check("md5", {text("abc")}, "900150983cd24fb0d6963f7d28e17f72");
  check("md5", {text("message digest")}, "f96b697d7cb7938d525a2f31aaf161d0");
  check("md5", {text("12345678901234567890123456789012345678901234567890123456789012345678901234567890")},
        "57edf4a22be3c955ac49da2e2107b67a");
  check("md5", {text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")}, "d174ab98d277d9f5a5611c2c9f419d9f");
}

TEST(TextFunctions, Overlay) {
  check("overlay", {text("Txxxxas"), text("hom"), whole(2), whole(4)}, "Thomas");
  check("overlay", {text("abcdef"), text("ZZ"), whole(3)}, "abZZef");
  check("overlay", {text("abcdef"), text("ZZ"), whole(3), whole(0)}, "abZZcdef");
  check("overlay", {text("abcdef"), text("ZZ"), whole(10)}, "abcdefZZ");
  check("overlay", {text("äöü"), text("x"), whole(2)}, "äxü");
  check("overlay", {text("yabadoo"), text("bb"), whole(4), whole(-2)}, "yabbbabadoo");
  check_error("overlay", {text("abc"), text("x"), whole(0)}, "negative");
}

TEST(TextFunctions, Like) {
  auto both = [](const char* value, const char* pattern, bool expected) {
    check("like", {text(value), text(pattern)}, expected ? "true" : "false");
    check("not like", {text(value), text(pattern)}, expected ? "false" : "true");
    check("ilike", {text(value), text(pattern)}, expected ? "true" : "false");
  };
  both("abc", "abc", true);
  both("abc", "a%", true);
  both("abc", "%c", true);
  both("abc", "%b%", true);
  both("abc", "_b_", true);
  both("abc", "c", false);
  both("abc", "", false);
  both("", "", true);
  both("", "%", true);
  both("", "%%", true);
  both("", "_", false);
  both("abc", "___", true);
  both("abc", "____", false);
  both("abc", "%___", true);
  both("abc", "%____%", false);
  both("日本", "__", true);
  both("日本", "_本", true);
  both("10%", "10\\%", true);
  both("100", "10\\%", false);
  both("a\\b", "a\\\\b", true);
  both("the special packages and requests sleep", "%special%requests%", true);
  both("the requests and special packages sleep", "%special%requests%", false);
  both("aaa", "a%a%a%a", false);
  both("PROMO BURNISHED", "PROMO%", true);
  check("like", {text("ABC"), text("abc")}, "false");
  check("ilike", {text("AbC"), text("aBc")}, "true");
  check("not ilike", {text("AbC"), text("a%")}, "false");
  check("like", {text("a%b"), text("a#%b"), text("#")}, "true");
  check("like", {text("axb"), text("a#%b"), text("#")}, "false");
  check("like", {text("a\\xb"), text("a\\%b"), text("")}, "true");
  check("ilike", {text("%"), text("E%"), text("E")}, "true");
  check_error("like", {text("abc"), text("ab\\")}, "escape");
  check_error("like", {text("abc"), text("abc"), text("xy")}, "escape");
}

// LIKE as defined by the standard, character by character.
bool naive_like(const std::vector<std::string>& text, const std::vector<std::string>& pattern) {
  // Whether the pattern so far matches the first i characters.
  std::vector<bool> matches(text.size() + 1);
  matches[0] = true;
  for (size_t j = 0; j < pattern.size(); ++j) {
    std::vector<bool> longer(text.size() + 1);
    if (pattern[j] == "%") {
      longer[0] = matches[0];
      for (size_t i = 1; i <= text.size(); ++i) longer[i] = longer[i - 1] || matches[i];
    } else {
      const bool is_any = pattern[j] == "_";
      const std::string& letter = pattern[j] == "\\" ? pattern[++j] : pattern[j];
      for (size_t i = 1; i <= text.size(); ++i) longer[i] = matches[i - 1] && (is_any || text[i - 1] == letter);
    }
    matches = std::move(longer);
  }
  return matches[text.size()];
}

std::string joined(const std::vector<std::string>& characters) {
  std::string all;
  for (const std::string& character : characters) all += character;
  return all;
}

TEST(TextFunctions, LikeAgreesWithNaiveMatcher) {
  std::mt19937 random(7);
  const std::vector<std::string> letters = {"a", "a", "b", "é", "日", "_", "%"};
  const std::vector<std::string> signs = {"a", "a", "b", "é", "日", "_", "_", "%", "%", "\\"};
  NoPoll no_poll;
  int64_t matched = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::vector<std::string> value;
    std::vector<std::string> pattern;
    for (size_t count = random() % 25; count > 0; --count) value.push_back(letters[random() % letters.size()]);
    if (round % 2 == 0) {
      for (size_t count = random() % 9; count > 0; --count) pattern.push_back(signs[random() % signs.size()]);
    } else {  // made from the value, so that many match
      for (const std::string& letter : value) {
        switch (random() % 6) {
          case 0: pattern.push_back("_"); break;
          case 1: pattern.push_back("%"); break;
          case 2: break;
          default: pattern.push_back("\\"); pattern.push_back(letter);
        }
        if (random() % 5 == 0) pattern.push_back("%");
      }
    }
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == "\\" && ++i == pattern.size()) pattern.push_back("a");
    }
    bool expected = naive_like(value, pattern);
    matched += expected;
    std::string bytes = joined(value);
    ASSERT_EQ(LikePattern(joined(pattern), "\\").matches(bytes, no_poll), expected) << bytes << " LIKE " << joined(pattern);
  }
  EXPECT_GT(matched, 20'000);
}

// Bytes are processed eight at a time; the result must equal processing each alone.
TEST(TextFunctions, WordsOfBytesAgreeWithSingleOnes) {
  std::mt19937 random(13);
  for (int round = 0; round < 2'000; ++round) {
    std::string ascii;
    std::string any;
    for (size_t count = random() % 40; count > 0; --count) {
      ascii += static_cast<char>(random() % 128);
      any += static_cast<char>(random() % 256);
    }
    std::string upper;
    std::string lower;
    for (char letter : ascii) {
      upper += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
      lower += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    int64_t characters = 0;
    for (size_t i = 0; i < any.size(); ++i) characters += i == 0 || (static_cast<unsigned char>(any[i]) & 0xC0U) != 0x80U;
    ASSERT_EQ(count_characters(any), characters);
    ASSERT_EQ(is_ascii(ascii), true);
    ASSERT_EQ(evaluate_constant(make_call("upper", {Expression::constant(text(ascii))})).text, upper);
    ASSERT_EQ(evaluate_constant(make_call("lower", {Expression::constant(text(ascii))})).text, lower);
  }
}

TEST(TextFunctions, FindsBytesEverywhere) {
  NoPoll no_poll;
  std::mt19937 random(11);
  for (int round = 0; round < 50'000; ++round) {
    std::string hay;
    std::string needle;
    for (size_t count = random() % 60; count > 0; --count) hay += "ab"[random() % 2];
    for (size_t count = random() % 8; count > 0; --count) needle += "ab"[random() % 2];
    const char* found = find_bytes(hay.data(), hay.data() + hay.size(), needle, no_poll);
    size_t expected = hay.find(needle);
    ASSERT_EQ(found == nullptr ? std::string::npos : static_cast<size_t>(found - hay.data()), expected) << hay << " / " << needle;
  }
}

// Invalid UTF-8 yields some result without access outside the text.
TEST(TextFunctions, BrokenTextIsHarmless) {
  std::mt19937 random(5);
  std::vector<ScalarValue> values;
  for (int row = 0; row < 3'000; ++row) {
    std::string bytes;
    for (size_t count = random() % 12; count > 0; --count)
      bytes += static_cast<char>(random() % 3 == 0 ? random() % 128 : 128 + random() % 128);
    values.push_back(text(bytes));
  }
  Column column = column_of_values(TypeKind::Varchar, values);
  auto run = [&](std::string_view name, const Values& constants) {
    std::vector<ExpressionPtr> arguments = {Expression::column({0}, TypeKind::Varchar)};
    for (const ScalarValue& value : constants) arguments.push_back(Expression::constant(value));
    Column result = ExpressionEvaluator({make_call(name, arguments)}, {{0}}).evaluate(Chunk({column}, column.rows()))[0];
    if (result.type().is_text()) {
      EXPECT_TRUE(result.begins().ge(0).logical_and(result.begins().le(result.ends())).all().item<bool>()) << name;
      EXPECT_LE(result.ends().max().item<int64_t>(), result.bytes().numel()) << name;
    }
    return result;
  };
  Column lengths = run("length", {});
  Column reversed = run("reverse", {});
  for (const char* name : {"upper", "lower", "initcap", "trim", "octet_length", "ascii", "md5"}) run(name, {});
  for (int64_t count : {-3, -1, 0, 1, 2, 5, 20}) {
    for (const char* name : {"left", "right", "substring", "lpad", "rpad", "repeat"}) run(name, {whole(count)});
  }
  for (const char* other : {"\x80", "\xc3", "a", "\xf0\x9f", ""}) {
    for (const char* name : {"trim", "strpos", "contains", "like", "ilike"}) run(name, {text(other)});
    run("replace", {text(other), text("é")});
    run("translate", {text(other), text("é")});
    run("split_part", {text(other), whole(2)});
  }
  run("like", {text("_%_a__")});
  for (int64_t row = 0; row < column.rows(); ++row) {
    EXPECT_LE(lengths.values()[row].item<int64_t>(), static_cast<int64_t>(values[static_cast<size_t>(row)].text.size()));
  }
  // Splitting anywhere and concatenating yields the original text.
  Column head = run("left", {whole(2)});
  Column tail = run("substring", {whole(3)});
  for (int64_t row = 0; row < column.rows(); ++row) {
    EXPECT_EQ(value_at(head, row).text + value_at(tail, row).text, values[static_cast<size_t>(row)].text);
  }
}

TEST(TextFunctions, SharedDictionaryStaysCoded) {
  auto entries = std::make_shared<const Column>(column_of_values(TypeKind::Varchar, {text("MAIL"), text("SHIP")}));
  Column coded = Column::dictionary(at::tensor({0, 1, 1, 0}, at::kInt), entries);
  ExpressionPtr call = make_call("lower", {Expression::column({0}, TypeKind::Varchar)});
  Column result = ExpressionEvaluator({call}, {{0}}).evaluate(Chunk({coded}, 4))[0];
  EXPECT_TRUE(result.is_dictionary());
  EXPECT_EQ(value_at(result, 2).text, "ship");
}

}  // namespace
}  // namespace pistachio
