// See postgres_tree.h.
#include "parser/postgres_tree.h"

#include <pg_query.h>

#include <vector>

#include "base/check.h"
#include "base/stop_if_cancelled.h"

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

// Builds the tree like nlohmann's parser, but checks the cancel token: the tree of a long statement takes seconds.
class TreeBuilder {
 public:
  explicit TreeBuilder(const CancelToken& token) : token_(token) {}
  Json take() { return std::move(root_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool key(std::string& name) {
    field_ = &(*open_.back())[name];
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

 private:
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    stop_if_cancelled(token_);
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) return &open_.back()->emplace_back(std::move(value));
    *field_ = std::move(value);
    return field_;
  }

  const CancelToken& token_;
  Json root_;
  std::vector<Json*> open_;  // the innermost last
  Json* field_ = nullptr;    // of the innermost one, if that is an object
};

}  // namespace

Json parse_postgres(const std::string& sql, const CancelToken& token) {
  Json tree;
  {
    ParseResult result(sql);
    if (result->error != nullptr) throw PostgresRefusal{result->error->message, byte_of_character(sql, result->error->cursorpos)};
    TreeBuilder builder(token);
    bool is_json = Json::sax_parse(result->parse_tree, &builder);
    ENSURE(is_json, "libpg_query wrote a tree that is not JSON");
    tree = builder.take();
  }
  Json& statements = tree["stmts"];
  ENSURE_EQ(statements.size(), 1u);
  return std::move(statements[0]["stmt"]);
}

}  // namespace pistachio
