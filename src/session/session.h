// One connection: its own settings, views and in-memory tables, on an engine shared by many sessions. Statements run one at a time. Not thread-safe;
// cancel through the token.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "binder/bind.h"
#include "engine/engine_instance.h"
#include "engine/result_receiver.h"
#include "parser/ast.h"

namespace pistachio {

struct PlacementOptions;
struct PlannedQuery;
struct QueryProfile;
class RankService;
struct RankRunOptions;

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
  TablePtr open_table_of_files(const std::string& name, const std::vector<std::string>& patterns);

  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::SelectStatement& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateView& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateTable& node, ResultReceiver& receiver);
  void run(const std::shared_ptr<const ast::Statement>& statement, const ast::Insert& node, ResultReceiver& receiver);
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
  void run_once(const PlannedQuery& planned, ResultReceiver& receiver, const RankRunOptions& options);
  void write_trace(const PlannedQuery& planned);
  PlannedQuery plan_now(const ast::Query& query, const BindOptions& options);
  // Plans a query to be run; `inserted` as in BindOptions.
  PlannedQuery plan(const ast::Query& query, std::vector<LogicalType> inserted = {});
  void refuse_taken(const std::string& name, int64_t position) const;

  EngineInstance& engine_;
  RankService* ranks_;
  Settings settings_;
  Settings defaults_;
  std::map<std::string, std::string> folder_tables_;  // name -> path
  std::map<std::string, TablePtr> tables_;
  std::map<std::string, ViewDefinition> views_;
  std::vector<std::string> notes_;
  std::shared_ptr<const QueryProfile> profile_;
  // Of the current statement.
  EngineInstance::QueryScope* scope_ = nullptr;
  // Patterns of tables whose files are all opened before the query is bound.
  std::set<std::vector<std::string>> whole_tables_;
  CancelToken token_;
};

}  // namespace pistachio
