// See postgres_tree.h.
#include "parser/postgres_tree.h"

#include <pg_query.h>

#include "base/check.h"

namespace pistachio {

namespace {

class ParseResult {
 public:
  explicit ParseResult(const std::string& sql) : result_(pg_query_parse(sql.c_str())) {}
  ~ParseResult() { pg_query_free_parse_result(result_); }
  ParseResult(const ParseResult&) = delete;
  ParseResult& operator=(const ParseResult&) = delete;
  const PgQueryParseResult* operator->() const { return &result_; }

 private:
  PgQueryParseResult result_;
};

// PostgreSQL counts characters, from 1; 0: no position.
int64_t byte_of_character(std::string_view text, int64_t character) {
  if (character <= 0) return -1;
  int64_t seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins_character && ++seen == character) return static_cast<int64_t>(i);
  }
  return static_cast<int64_t>(text.size());
}

}  // namespace

Json parse_postgres(const std::string& sql) {
  Json tree;
  {
    ParseResult result(sql);
    if (result->error != nullptr) throw PostgresRefusal{result->error->message, byte_of_character(sql, result->error->cursorpos)};
    tree = Json::parse(result->parse_tree, nullptr, false);
  }
  ENSURE(!tree.is_discarded(), "libpg_query wrote a tree that is no JSON");
  Json& statements = tree["stmts"];
  ENSURE_EQ(statements.size(), 1u);
  return std::move(statements[0]["stmt"]);
}

}  // namespace pistachio
