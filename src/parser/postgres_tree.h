// The only caller of libpg_query: SQL text in, PostgreSQL's raw parse tree as JSON out. libpg_query keeps its memory per thread and
// frees it when the thread ends. Call it on a large stack (base/large_stack.h): it writes the tree recursively without a limit.
// Each node of the tree is an object with one key, its kind.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/cancel_token.h"

namespace pistachio {

// Not ordered_json, whose objects are copied whenever they grow: exponential time for deep trees.
using Json = nlohmann::json;

// PostgreSQL's error and its byte position (-1: none).
struct PostgresRefusal {
  std::string message;
  int64_t position = -1;
};

// The node of the only statement in `sql`. Throws PostgresRefusal, Cancelled.
Json parse_postgres(const std::string& sql, const CancelToken& token);

// ---- reading nodes: absent fields are PostgreSQL's zero, false, empty

inline const Json* find_field(const Json& body, const char* key) {
  auto found = body.find(key);
  return found == body.end() ? nullptr : &*found;
}

inline bool flag(const Json& body, const char* key) {
  const Json* value = find_field(body, key);
  return value != nullptr && value->get<bool>();
}

inline std::string_view text_field(const Json& body, const char* key) {
  const Json* value = find_field(body, key);
  return value == nullptr ? std::string_view() : std::string_view(value->get_ref<const std::string&>());
}

inline int64_t integer_field(const Json& body, const char* key, int64_t absent = 0) {
  const Json* value = find_field(body, key);
  return value == nullptr ? absent : value->get<int64_t>();
}

// {"A_Const": {...}} -> "A_Const"; empty for a null node.
inline std::string_view kind_of(const Json& node) {
  return node.is_object() && !node.empty() ? std::string_view(node.begin().key()) : std::string_view();
}

inline const Json& body_of(const Json& node) {
  return node.begin().value();
}

}  // namespace pistachio
