#include "session/session_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace pistachio {

namespace {

bool is_own_schema(const std::string& schema) {
  return schema == "main" || schema == "public";
}

}  // namespace

// Tables of schemas that were created have names with a point, which a user's plain name does not.
std::string table_key(const std::vector<std::string>& parts) {
  if (parts.size() < 2 || is_own_schema(parts[parts.size() - 2]) || parts[parts.size() - 2] == "temp") return parts.back();
  return parts[parts.size() - 2] + "." + parts.back();
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string quoted_table(const std::string& key) {
  const size_t point = key.find('.');
  return point == std::string::npos ? quoted_name(key) : quoted_name(key.substr(0, point)) + "." + quoted_name(key.substr(point + 1));
}

void SessionCatalog::refuse_taken(const std::string& key, int64_t position) const {
  if (has(key)) throw UserError(fmt::format("{} already exists; DROP it first", key), position);
}

std::string SessionCatalog::new_table_key(const std::vector<std::string>& parts, int64_t position) const {
  const std::string key = table_key(parts);
  const bool has_schema = key != parts.back();
  if (has_schema && !schemas.contains(parts[parts.size() - 2]))
    throw UserError(fmt::format("there is no schema {}; CREATE SCHEMA makes one", parts[parts.size() - 2]), position);
  return key;
}

void SessionCatalog::create_schema(const std::string& name, bool if_not_exists, int64_t position) {
  const bool is_taken = is_own_schema(name) || name == "information_schema" || name == "pg_catalog" || schemas.contains(name);
  if (is_taken && !if_not_exists) throw UserError(fmt::format("schema {} already exists", name), position);
  if (name.find('.') != std::string::npos) throw UserError("the name of a schema must not contain a period", position);
  if (!is_taken) schemas.insert(name);
}

bool SessionCatalog::drop_table(const std::string& key) {
  rules.erase(key);
  std::erase_if(indexes, [&](const auto& index) { return index.second == key; });
  return tables.erase(key) > 0;
}

// An index is a name; a unique one is a key of its table.
bool SessionCatalog::drop_index(const std::string& name) {
  auto found = indexes.find(name);
  if (found == indexes.end()) return false;
  auto of_table = rules.find(found->second);
  if (of_table != rules.end()) std::erase_if(of_table->second.keys, [&](const ast::TableRules::Key& key) { return key.name == name; });
  indexes.erase(found);
  return true;
}

bool SessionCatalog::drop_schema(const std::string& name, int64_t position) {
  const std::string prefix = name + ".";
  auto is_inside = [&](const auto& entry) { return entry.first.starts_with(prefix); };
  if (std::any_of(tables.begin(), tables.end(), is_inside) || std::any_of(views.begin(), views.end(), is_inside))
    throw UserError(fmt::format("the schema {} has tables or views; DROP them first", name), position);
  return schemas.erase(name) > 0;
}

void SessionCatalog::rename_table(const std::string& from, const std::string& to, int64_t position) {
  refuse_taken(to, position);
  const TablePtr table = tables.at(from);
  tables[to] = Table::of_chunks(to, table->columns(), table->chunks(), table->memory());
  tables.erase(from);
  if (auto own = rules.extract(from)) {
    own.key() = to;
    rules.insert(std::move(own));
  }
  for (auto& [index, of_table] : indexes) {
    if (of_table == from) of_table = to;
  }
}

void SessionCatalog::rename_view(const std::string& from, const std::string& to, int64_t position) {
  refuse_taken(to, position);
  auto view = views.extract(from);
  view.key() = to;
  views.insert(std::move(view));
}

}  // namespace pistachio
