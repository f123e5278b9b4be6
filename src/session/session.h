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
#include "session/query_runner.h"
#include "session/session_catalog.h"

namespace pistachio {

struct PlannedQuery;
struct QueryProfile;
class RankService;

class Session final : private TableResolver {
 public:
  // Queries run on all ranks of the service if there is one. It outlives the session.
  explicit Session(EngineInstance& engine, RankService* ranks = nullptr);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

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
  std::shared_ptr<const QueryProfile> profile() const { return runner_.profile(); }
  // Tables and views, in alphabetical order.
  std::vector<std::string> table_names() override;

 private:
  TablePtr find_table(const std::string& name) override;
  const ViewDefinition* find_view(const std::string& name) override;
  TablePtr open_files(const std::vector<std::string>& patterns, const ReadOptions& options) override;
  std::vector<TablePtr> open_unlike_files(const std::vector<std::string>& patterns, const ReadOptions& options) override;
  bool has_schema(const std::string& name) override;
  TablePtr find_system_table(const std::vector<std::string>& parts) override;
  TablePtr open_table_of_files(const std::string& name, const std::vector<std::string>& patterns, const ReadOptions& options = {});

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
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Copy& node, ResultReceiver& receiver);

  // Calls `body` with a token that is cancelled with the given one, or query_timeout after `begin`. The latter is a UserError.
  void run_in_time(const CancelToken& token, SteadyTime begin, const std::function<void(const CancelToken&)>& body) const;
  void show_links(ResultReceiver& receiver);
  void show_memory(ResultReceiver& receiver);
  void run_planned(const PlannedQuery& planned, ResultReceiver& receiver, bool watched = false);
  // Into a receiver of our own.
  void write_result(const PlannedQuery& planned, ResultReceiver& receiver);
  static void refuse_omitted_columns(const PlannedQuery& planned);
  PlannedQuery plan_now(const ast::Query& query, const BindOptions& options);
  // Plans a query to be run; `inserted` as in BindOptions.
  PlannedQuery plan(const ast::Query& query, std::vector<LogicalType> inserted = {}, std::vector<std::string> inserted_names = {});

  // What statements change (changed_table.h, alter_table.cpp).
  class ChangedTable;
  class TableAlteration;
  void create_empty_table(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateTable& node, const std::string& name);
  void alter(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTable& change);

  // information_schema and pg_catalog (system_tables.cpp).
  class SystemTables;

  EngineInstance& engine_;
  RankService* ranks_;
  Settings settings_;
  Settings defaults_;
  QueryRunner runner_;
  std::map<std::string, std::string> folder_tables_;  // name -> path
  SessionCatalog catalog_;
  std::optional<SessionCatalog> before_transaction_;  // set while one is open
  bool lists_views_ = false;                          // while SystemTables binds them
  bool transaction_failed_ = false;                   // it can only be rolled back
  std::vector<std::string> notes_;
  // Of the current statement.
  EngineInstance::QueryScope* scope_ = nullptr;
  // Patterns of tables whose files are all opened before the query is bound.
  std::set<std::vector<std::string>> whole_tables_;
  CancelToken token_;
};

}  // namespace pistachio
