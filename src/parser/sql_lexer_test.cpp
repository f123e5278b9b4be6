// The lexer: token boundaries, positions and values.
#include "parser/sql_lexer.h"

#include <gtest/gtest.h>

#include <vector>

namespace pistachio {
namespace {

std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> result;
  SqlLexer lexer(text);
  Token token;
  while (lexer.next(token)) result.emplace_back(token_text(text, token));
  if (lexer.open_end()) result.push_back(std::string("open ") + lexer.open_end()->what);
  return result;
}

Token only_token(std::string_view text) {
  SqlLexer lexer(text);
  Token token;
  EXPECT_TRUE(lexer.next(token));
  EXPECT_EQ(token_text(text, token), text);
  return token;
}

using Pieces = std::vector<std::string>;

TEST(SqlLexer, SplitsWordsNumbersAndSigns) {
  EXPECT_EQ(pieces("select a.b,c::int4 from t;"), (Pieces{"select", "a", ".", "b", ",", "c", "::", "int4", "from", "t", ";"}));
  EXPECT_EQ(pieces("1 1.5 .5 1. 1e5 1.5E-3 1e 4GB 1..2 $1 a$b"),
            (Pieces{"1", "1.5", ".5", "1.", "1e5", "1.5E-3", "1", "e", "4", "GB", "1", ".", ".2", "$1", "a$b"}));
  EXPECT_EQ(pieces("a<=b||c - -d"), (Pieces{"a", "<=", "b", "||", "c", "-", "-", "d"}));
  EXPECT_EQ(pieces("grün=ß"), (Pieces{"grün", "=", "ß"}));
}

TEST(SqlLexer, SkipsComments) {
  EXPECT_EQ(pieces("a -- 'b\nc /* d /* ' */ \" */ e"), (Pieces{"a", "c", "e"}));
  EXPECT_EQ(pieces("a+--b\nc*/*x*/d"), (Pieces{"a", "+", "c", "*", "d"}));
  EXPECT_EQ(pieces("a /* b /* c */"), (Pieces{"a", "open comment"}));
}

TEST(SqlLexer, KeepsTextsWhole) {
  EXPECT_EQ(pieces("'a''b;' E'a\\';b' n'x' b'1' X'f' U&'x' u&\"y\" \"a\"\"b\" $$;'$$ $t$ $$ $t$"),
            (Pieces{"'a''b;'", "E'a\\';b'", "n'x'", "b'1'", "X'f'", "U&'x'", "u&\"y\"", "\"a\"\"b\"", "$$;'$$", "$t$ $$ $t$"}));
  EXPECT_EQ(pieces("'a\\' b"), (Pieces{"'a\\'", "b"}));
  EXPECT_EQ(pieces("'a'  -- x\n 'b' 'c'"), (Pieces{"'a'  -- x\n 'b'", "'c'"}));
}

TEST(SqlLexer, ReportsWhatIsOpen) {
  EXPECT_EQ(pieces("a 'b"), (Pieces{"a", "open quoted string"}));
  EXPECT_EQ(pieces("a E'b\\'"), (Pieces{"a", "open quoted string"}));
  EXPECT_EQ(pieces("a \"b"), (Pieces{"a", "open quoted identifier"}));
  EXPECT_EQ(pieces("a $x$b$y$"), (Pieces{"a", "open dollar-quoted string"}));
  EXPECT_EQ(pieces("$"), (Pieces{"$"}));
}

TEST(SqlLexer, ReadsWhatTokensMean) {
  EXPECT_EQ(value_of_text_token("'a''b'", only_token("'a''b'")), "a'b");
  EXPECT_EQ(value_of_text_token("''", only_token("''")), "");
  EXPECT_EQ(value_of_text_token("''''''", only_token("''''''")), "''");
  EXPECT_EQ(value_of_text_token("'a' -- 'x'\n'b'", only_token("'a' -- 'x'\n'b'")), "ab");
  EXPECT_EQ(value_of_text_token("$q$a'b$q$", only_token("$q$a'b$q$")), "a'b");
  EXPECT_EQ(value_of_text_token("$$$$", only_token("$$$$")), "");
  EXPECT_EQ(value_of_text_token("E'a'", only_token("E'a'")), std::nullopt);
  EXPECT_EQ(name_of_token("Abc", only_token("Abc")), "abc");
  EXPECT_EQ(name_of_token("\"A\"\"b\"", only_token("\"A\"\"b\"")), "A\"b");
}

}  // namespace
}  // namespace pistachio
