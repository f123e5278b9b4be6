// The tables, views and schemas that a session created. A transaction keeps a copy: tables are immutable, so that only pointers are copied.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "binder/bind.h"
#include "catalog/table.h"
#include "session/table_rules.h"

namespace pistachio {

// The name of a table or view in a session: with its schema, unless that is main or public.
std::string table_key(const std::vector<std::string>& parts);
// In double quotes, for SQL.
std::string quoted_name(std::string_view name);
std::string quoted_table(const std::string& key);

// Maps by key, as table_key() returns it. Errors are UserErrors at the given position.
struct SessionCatalog {
  std::map<std::string, TablePtr> tables;
  std::map<std::string, ViewDefinition> views;
  std::map<std::string, TableRules> rules;     // of tables; none for those without
  std::map<std::string, std::string> indexes;  // by name: the table's key
  std::set<std::string> schemas;               // besides the one that is always there

  bool has(const std::string& key) const { return tables.contains(key) || views.contains(key); }
  void refuse_taken(const std::string& key, int64_t position) const;
  // The key of a table to be created. Its schema must exist.
  std::string new_table_key(const std::vector<std::string>& parts, int64_t position) const;
  void create_schema(const std::string& name, bool if_not_exists, int64_t position);

  // False if there is none.
  bool drop_table(const std::string& key);
  bool drop_view(const std::string& key) { return views.erase(key) > 0; }
  bool drop_index(const std::string& name);
  bool drop_schema(const std::string& name, int64_t position);

  void rename_table(const std::string& from, const std::string& to, int64_t position);
  void rename_view(const std::string& from, const std::string& to, int64_t position);
};

}  // namespace pistachio
