// One connection: its own settings, views and in-memory tables, on an engine shared by many sessions. Statements run one at a time. Not
// thread-safe; cancel through the token.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "binder/bind.h"
#include "engine/engine_instance.h"
#include "engine/result_receiver.h"
#include "parser/ast.h"
#include "session/table_rules.h"

namespace pistachio {

struct PhysicalPlan;
struct PlacementOptions;
struct PlannedQuery;
struct QueryProfile;
class RankService;
struct RankRunOptions;

// The name of a table or view in a session: with its schema, unless that is main or public.
std::string table_key(const std::vector<std::string>& parts);
// In double quotes, for SQL.
std::string quoted_name(std::string_view name);
std::string quoted_table(const std::string& key);

class Session final : private TableResolver {
 public:
  // Queries run on all ranks of the service if there is one. It outlives the session.
  explicit Session(EngineInstance& engine, RankService* ranks = nullptr);

  // Every NAME.parquet and every folder NAME/ with Parquet files in it becomes a table NAME. Throws UserError.
  void add_folder(const std::string& path);

  // Throws UserError, Cancelled. query_timeout counts from `begin`: pass the same value to execute().
  std::vector<ast::Statement> parse(std::string_view text, const CancelToken& token, SteadyTime begin) const;
  // Throws Error; the session stays usable. The receiver is not called for statements without a result.
  void execute(std::shared_ptr<const ast::Statement> statement, ResultReceiver& receiver, const CancelToken& token,
               SteadyTime begin = std::chrono::steady_clock::now());

  const Settings& settings() const { return settings_; }
  // Remarks for the user on the last statement, besides its result.
  const std::vector<std::string>& notes() const { return notes_; }
  // Profile of the last query on each rank; null before the first.
  std::shared_ptr<const QueryProfile> profile() const { return profile_; }
  // Tables and views, in alphabetical order.
  std::vector<std::string> table_names() override;

 private:
  TablePtr find_table(const std::string& name) override;
  const ViewDefinition* find_view(const std::string& name) override;
  TablePtr open_files(const std::vector<std::string>& patterns) override;
  bool has_schema(const std::string& name) override;
  TablePtr find_system_table(const std::vector<std::string>& parts) override;
  TablePtr open_table_of_files(const std::string& name, const std::vector<std::string>& patterns);

  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::SelectStatement& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateView& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateTable& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Insert& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Update& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Delete& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Truncate& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTables& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateIndex& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateSchema& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Transaction& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Drop& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Explain& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Set& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Show& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Describe& node, ResultReceiver& receiver);

  // Calls `body` with a token that is cancelled with the given one, or query_timeout after `begin`. The latter is a UserError.
  void run_in_time(const CancelToken& token, SteadyTime begin, const std::function<void(const CancelToken&)>& body) const;
  void show_links(ResultReceiver& receiver);
  void show_memory(ResultReceiver& receiver);
  PlacementOptions placement() const;
  // The host of each rank, if partial results are to be merged there.
  std::vector<int64_t> hosts() const;
  // Bandwidth of the slowest link in bytes per second: the configured limit, else as measured; 0: unknown.
  double link_speed() const;
  // Builds, runs and delivers. `watched`: the profile shows use over time. Runs the query a second time if a rank was lost and is back, and
  // no row was delivered yet.
  void run_planned(const PlannedQuery& planned, ResultReceiver& receiver, bool watched = false);
  // Where a plan runs: with device=auto, small inputs stay on the host.
  at::Device device_for(const PhysicalPlan& plan) const;
  void run_once(const PlannedQuery& planned, ResultReceiver& receiver, const RankRunOptions& options);
  void write_trace(const PlannedQuery& planned);
  PlannedQuery plan_now(const ast::Query& query, const BindOptions& options);
  // Plans a query to be run; `inserted` as in BindOptions.
  PlannedQuery plan(const ast::Query& query, std::vector<LogicalType> inserted = {});
  void refuse_taken(const std::string& name, int64_t position) const;
  std::string new_table_key(const std::vector<std::string>& parts, int64_t position) const;

  // Changes of rows (table_changes.cpp).
  const Table& table_to_change(const std::vector<std::string>& parts, std::string_view statement, int64_t position);
  Column default_column(const std::string& table, const TableColumnInfo& column, int64_t rows);
  void refuse_null(const std::string& table, const TableColumnInfo& column, const Column& values, std::string_view statement,
                   int64_t position) const;
  void refuse_missing_values(const std::string& name, const Table& table, const std::vector<int>& places, int64_t position);
  void replace_rows(const std::string& name, TablePtr table, const std::vector<Chunk>& changed, const ast::Query* returning,
                    ResultReceiver& receiver, int64_t position);
  void answer_changed_rows(const std::string& name, const std::vector<TableColumnInfo>& columns, const std::vector<Chunk>& changed,
                           const ast::Query* returning, ResultReceiver& receiver);
  void with_rows(const std::string& name, const std::vector<TableColumnInfo>& columns, const std::vector<Chunk>& rows,
                 const std::function<void()>& body);
  std::vector<std::vector<ScalarValue>> rows_of(const std::string& sql);
  void check_keys(const std::string& name, int64_t position);
  void check_conditions(const std::string& name, const std::vector<Chunk>& changed, int64_t position);

  // Changes of columns (session_tables.cpp).
  void set_default(TableRules& rules, const TableColumnInfo& column, std::shared_ptr<const ast::Expression> value);
  void add_rules(const ast::TableRules& added, std::vector<TableColumnInfo>& columns, TableRules& rules, int64_t position);
  bool drop_index(const std::string& name);
  bool drop_schema(const std::string& name, int64_t position);
  void alter(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTable& change);
  void check_not_null(const std::string& name, const TableColumnInfo& column, int64_t position);
  void rename_view(const ast::AlterTable& change, int64_t position);
  void rename_table(const ast::AlterTable& change, int64_t position);
  void add_column(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTable& change);
  void drop_column(const std::string& name, size_t place, int64_t position);
  void change_type(const std::string& name, size_t place, LogicalType type, int64_t position);
  void rebuild(const std::string& name, std::vector<TableColumnInfo> columns,
               const std::function<std::vector<Column>(const Chunk&)>& change);

  // information_schema and pg_catalog (system_tables.cpp).
  struct Relation {
    std::string schema;
    std::string name;
    std::string key;  // as in tables_ and views_
    bool is_view = false;
    std::string definition;  // of a view
    std::vector<TableColumnInfo> columns;
  };
  std::vector<std::string> schema_names() const;
  std::vector<Relation> relations();
  TablePtr standard_table(const std::string& name);
  TablePtr postgres_table(const std::string& name);
  ScalarValue default_text(const std::string& table, const std::string& column) const;

  // What a transaction can roll back. Tables are immutable: only pointers are copied.
  struct State {
    std::map<std::string, TablePtr> tables;
    std::map<std::string, ViewDefinition> views;
    std::map<std::string, TableRules> rules;
    std::map<std::string, std::string> indexes;
    std::set<std::string> schemas;
  };
  State state() const;
  void restore(const State& before);

  EngineInstance& engine_;
  RankService* ranks_;
  Settings settings_;
  Settings defaults_;
  std::map<std::string, std::string> folder_tables_;  // name -> path
  std::map<std::string, TablePtr> tables_;
  std::map<std::string, ViewDefinition> views_;
  std::map<std::string, TableRules> rules_;     // of tables in memory; none for those without
  std::map<std::string, std::string> indexes_;  // name -> table
  std::set<std::string> schemas_;               // besides the one that is always there
  std::optional<State> before_transaction_;     // set while one is open
  bool lists_relations_ = false;                // while relations() binds views
  bool transaction_failed_ = false;             // it can only be rolled back
  std::vector<std::string> notes_;
  std::shared_ptr<const QueryProfile> profile_;
  // Of the current statement.
  EngineInstance::QueryScope* scope_ = nullptr;
  // Patterns of tables whose files are all opened before the query is bound.
  std::set<std::vector<std::string>> whole_tables_;
  CancelToken token_;
};

}  // namespace pistachio
