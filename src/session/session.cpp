#include "session/session.h"

#include <ATen/ATen.h>
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>

#include "base/error.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "exec/held_chunks.h"
#include "expr/cast.h"
#include "expr/type_rules.h"
#include "optimizer/optimizer.h"
#include "session/explain.h"
#include "session/known_names.h"
#include "session/late_begin.h"
#include "session/query_pipeline.h"
#include "session/query_profile.h"
#include "session/rank_files.h"
#include "session/rank_service.h"

namespace pistachio {

namespace {

// Settings that belong to the engine, which is made once.
constexpr std::string_view kEngineSettings[] = {"threads",           "memory_limit", "io_threads",           "metadata_cache_bytes",
                                                "composite_kernels", "device",       "link_bandwidth_limit", "network_checksum",
                                                "bind_threads",      "restart_ranks"};

class Ignore final : public ResultReceiver {
 public:
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk&) override {}
  void end() override {}
};

// Notes whether rows went through: then a query cannot be run again.
class RowWitness final : public ResultReceiver {
 public:
  explicit RowWitness(ResultReceiver& receiver) : receiver_(receiver) {}
  void begin(const std::vector<ResultColumn>& columns) override { receiver_.begin(columns); }
  void add(const Chunk& chunk) override {
    saw_rows_ = saw_rows_ || chunk.rows() > 0;
    receiver_.add(chunk);
  }
  void end() override { receiver_.end(); }
  void break_off() override { receiver_.break_off(); }

  bool saw_rows() const { return saw_rows_; }

 private:
  ResultReceiver& receiver_;
  bool saw_rows_ = false;
};

// Keeps a result as a table in memory.
class Keep final : public ResultReceiver {
 public:
  explicit Keep(MemoryAccount account) : held(std::move(account)) {}
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk& chunk) override { held.add(chunk); }
  void end() override {}

  HeldChunks held;
};

void send_rows(ResultReceiver& receiver, const std::vector<ResultColumn>& columns, const std::vector<std::vector<ScalarValue>>& rows) {
  receiver.begin(columns);
  std::vector<Column> made;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<ScalarValue> cells;
    for (const std::vector<ScalarValue>& row : rows) cells.push_back(row[i]);
    made.push_back(column_of_values(columns[i].type, cells));
  }
  if (!rows.empty()) receiver.add(Chunk(std::move(made), static_cast<int64_t>(rows.size())));
  receiver.end();
}

ScalarValue text_value(std::string text) {
  return ScalarValue::of_text(TypeKind::Varchar, std::move(text));
}

std::vector<std::shared_ptr<const Reservation>> share(std::vector<Reservation> parts) {
  std::vector<std::shared_ptr<const Reservation>> shared;
  for (Reservation& part : parts) shared.push_back(std::make_shared<const Reservation>(std::move(part)));
  return shared;
}

bool has_nulls(const Column& column) {
  return column.has_validity() && !column.validity().all().item<bool>();
}

void refuse_surplus_names(std::string_view what, const std::string& name, size_t columns, size_t names, int64_t position) {
  if (names <= columns) return;
  throw UserError(fmt::format("the {} {} has {} columns, but {} names are given", what, name, columns, names), position);
}

std::string single_name(const std::vector<std::string>& parts) {
  return parts.back();
}

// The table's column that each value of an inserted row is for.
std::vector<size_t> inserted_columns(const ast::Insert& node, const Table& table, int64_t position) {
  std::vector<size_t> targets;
  if (node.columns.empty()) {
    for (size_t i = 0; i < table.columns().size(); ++i) targets.push_back(i);
    return targets;
  }
  for (const std::string& name : node.columns) {
    auto column =
        std::find_if(table.columns().begin(), table.columns().end(), [&](const TableColumnInfo& own) { return own.name == name; });
    if (column == table.columns().end()) throw UserError(fmt::format("the table {} has no column {}", table.name(), name), position);
    targets.push_back(static_cast<size_t>(column - table.columns().begin()));
    if (std::count(targets.begin(), targets.end(), targets.back()) > 1)
      throw UserError(fmt::format("column {} is given twice", name), position);
  }
  return targets;
}

void refuse_unknown_rules(const Settings& settings) {
  const std::vector<OptimizerRule>& rules = optimizer_rules();
  for (const std::string& rule : settings.disabled_rules) {
    bool known = rule == "all" || std::any_of(rules.begin(), rules.end(), [&](const OptimizerRule& own) { return own.name == rule; });
    if (!known) throw UserError(fmt::format("disabled_rules: there is no optimizer rule {}; SHOW rules lists them", rule));
  }
}

}  // namespace

Session::Session(EngineInstance& engine, RankService* ranks)
    : engine_(engine), ranks_(ranks), settings_(engine.settings()), defaults_(engine.settings()) {
  refuse_unknown_rules(settings_);
}

void Session::add_folder(const std::string& path) {
  // Which tables there are, the first rank's folder says.
  std::string own = settings_.local_files ? path_for_rank(path, 0) : path;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(own.c_str()), ::closedir);
  if (!folder) throw UserError(fmt::format("-d {}: {}", path, std::strerror(errno)));
  constexpr std::string_view ending = ".parquet";
  while (dirent* entry = ::readdir(folder.get())) {
    std::string name = entry->d_name;
    if (name.starts_with('.') || name.starts_with('_')) continue;
    std::string full = path + "/" + name;
    struct stat facts {};
    if (::stat((own + "/" + name).c_str(), &facts) != 0) continue;
    if (S_ISDIR(facts.st_mode)) {
      folder_tables_.emplace(name, full);
    } else if (name.ends_with(ending)) {
      folder_tables_[name.substr(0, name.size() - ending.size())] = full;
    }
  }
}

TablePtr Session::find_table(const std::string& name) {
  auto kept = tables_.find(name);
  if (kept != tables_.end()) return kept->second;
  auto stored = folder_tables_.find(name);
  if (stored == folder_tables_.end()) return nullptr;
  ParquetTable opened = engine_.scheduler().run(open_rank_table(scope_->storage(), {stored->second}, 0), token_);
  return Table::of_files(name, std::move(opened));
}

const ViewDefinition* Session::find_view(const std::string& name) {
  auto found = views_.find(name);
  return found == views_.end() ? nullptr : &found->second;
}

TablePtr Session::open_files(const std::vector<std::string>& patterns) {
  ParquetTable opened = engine_.scheduler().run(open_rank_table(scope_->storage(), patterns, 0), token_);
  return Table::of_files(patterns[0], std::move(opened));
}

std::vector<std::string> Session::table_names() {
  std::set<std::string> names;
  for (const auto& [name, table] : tables_) names.insert(name);
  for (const auto& [name, path] : folder_tables_) names.insert(name);
  for (const auto& [name, view] : views_) names.insert(name);
  return {names.begin(), names.end()};
}

void Session::execute(std::shared_ptr<const ast::Statement> statement, ResultReceiver& receiver, const CancelToken& token) {
  EngineInstance::QueryScope scope(engine_, settings_, EngineInstance::QueryScope::Use::Operators);
  std::optional<SteadyTime> deadline;
  if (settings_.query_timeout > 0) deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.query_timeout);
  CancelSource limited(token, deadline);
  notes_.clear();
  scope_ = &scope;
  token_ = limited.token();
  struct Forget {
    Session& session;
    ~Forget() {
      session.scope_ = nullptr;
      session.token_ = {};
    }
  } forget{*this};
  try {
    std::visit([&](const auto& node) { run(statement, node, receiver); }, statement->node);
  } catch (const Cancelled&) {
    // From outside, by who holds the token; else it was the deadline, which is no reason to end a script.
    if (token.is_cancelled() || !deadline) throw;
    throw UserError(fmt::format("the statement ran longer than query_timeout={}", show_setting(settings_, "query_timeout")));
  }
}

PlannedQuery Session::plan(const ast::Query& query, std::vector<LogicalType> inserted) {
  BindOptions options{.token = token_, .inserted = std::move(inserted)};
  PlannedQuery planned = plan_query(query, *this, settings_, options, placement());
  if (planned.plan.exchanges > 0 && link_speed() == 0) {
    // What is best depends on how fast the links are.
    ranks_->prepare_links(settings_, token_);
    if (link_speed() > 0) planned = plan_query(query, *this, settings_, options, placement());
  }
  if (!planned.left_out.empty()) {
    std::set<std::string_view> names;
    for (const LeftOutColumn& column : planned.left_out) names.insert(column.name);
    notes_.push_back(fmt::format("* leaves out columns that cannot be read: {} (DESCRIBE says why)", fmt::join(names, ", ")));
  }
  return planned;
}

void Session::run(const std::shared_ptr<const ast::Statement>&, const ast::SelectStatement& node, ResultReceiver& receiver) {
  PlannedQuery planned = plan(*node.query);
  ExecutablePlan executable = build_executable(planned.plan);
  LateBegin result(receiver);
  result.begin(planned.columns);
  try {
    run_planned(planned, executable, result);
  } catch (...) {
    result.break_off();
    throw;
  }
  result.end();
}

double Session::link_speed() const {
  if (settings_.link_bandwidth_limit > 0) return static_cast<double>(settings_.link_bandwidth_limit);
  return ranks_ == nullptr ? 0 : slowest_speed(ranks_->links().known());
}

PlacementOptions Session::placement() const {
  return {.ranks = ranks_ == nullptr ? 1 : ranks_->ranks(),
          .spread_everything = settings_.spread_tables,
          .joins = settings_.join_distribution,
          .sorts = settings_.sort_distribution,
          .spread_keys = settings_.spread_keys && !ExchangeSchedule::of(settings_).build_first,
          .local_files = settings_.local_files,
          .link_speed = link_speed()};
}

void Session::run_planned(const PlannedQuery& planned, ExecutablePlan& executable, ResultReceiver& receiver, bool watched) {
  if (planned.plan.exchanges == 0) return run_once(planned, executable, receiver, watched);
  RowWitness witness(receiver);
  RankRoll& roll = ranks_->roll();
  uint64_t losses = roll.losses();
  roll.wait_for_all(token_);
  bool runs_again = false;
  try {
    run_once(planned, executable, witness, watched);
  } catch (const PeerError& error) {
    bool was_loss = roll.losses() != losses && roll.expects_returns();
    if (!was_loss || !settings_.retry_queries) throw;
    if (witness.saw_rows()) throw PeerError(error.message() + "; rows of the result were given already, so it was not run again");
    runs_again = true;
  }
  if (runs_again) {
    roll.wait_for_all(token_);
    executable = build_executable(planned.plan);
    scope_->storage().settings.fault_at.clear();  // it had its fault
    run_once(planned, executable, witness, watched);
  }
  for (const std::string& news : roll.take_news()) notes_.push_back(runs_again ? news + "; the query was run again" : news);
}

void Session::run_once(const PlannedQuery& planned, ExecutablePlan& executable, ResultReceiver& receiver, bool watched) {
  // Not part of the query's time; usually done before planning.
  if (planned.plan.exchanges > 0) ranks_->prepare_links(settings_, token_);
  auto begin = std::chrono::steady_clock::now();
  QueryProfile profile;
  profile.bandwidths.storage = static_cast<double>(settings_.storage_bandwidth_limit);
  if (planned.plan.exchanges == 0) {
    run_plan(engine_, *scope_, executable, &receiver, token_);
    profile.ranks.push_back(profile_of(planned.plan, executable, nullptr, scope_->read_pool().statistics().bytes));
  } else {
    profile.ranks = ranks_->run(planned.plan, executable, *scope_, receiver, token_, watched);
    profile.bandwidths.link = link_speed();
  }
  profile.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  profile_ = std::make_shared<const QueryProfile>(std::move(profile));
}

void Session::refuse_taken(const std::string& name, int64_t position) const {
  bool taken = tables_.contains(name) || views_.contains(name);
  if (taken) throw UserError(fmt::format("there is a table or view {} already; DROP it first", name), position);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateView& node, ResultReceiver&) {
  std::string name = single_name(node.name);
  if (tables_.contains(name) || (views_.contains(name) && !node.or_replace)) refuse_taken(name, statement->position);
  // Wrong views are refused now, not at their first use. The new one is in its place already, so that one that contains itself is found.
  std::map<std::string, ViewDefinition> views_before = views_;
  views_[name] = ViewDefinition{statement, node.query.get(), node.column_aliases};
  try {
    PlannedQuery planned = plan(*node.query);
    refuse_surplus_names("view", name, planned.columns.size(), node.column_aliases.size(), statement->position);
  } catch (...) {
    views_ = std::move(views_before);
    throw;
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateTable& node, ResultReceiver&) {
  std::string name = single_name(node.name);
  if (node.if_not_exists && (tables_.contains(name) || views_.contains(name))) return;
  refuse_taken(name, statement->position);
  std::vector<TableColumnInfo> columns;
  if (!node.query) {
    for (const ast::ColumnDefinition& column : node.columns)
      columns.push_back({column.name, resolve_type(column.type), "", column.not_null});
    tables_[name] = Table::of_chunks(name, std::move(columns), {}, {});
    return;
  }
  PlannedQuery planned = plan(*node.query);
  refuse_surplus_names("table", name, planned.columns.size(), node.column_aliases.size(), statement->position);
  for (size_t i = 0; i < planned.columns.size(); ++i) {
    bool renamed = i < node.column_aliases.size();
    columns.push_back({renamed ? node.column_aliases[i] : planned.columns[i].name, planned.columns[i].type, ""});
  }
  ExecutablePlan executable = build_executable(planned.plan);
  Keep keep(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  run_planned(planned, executable, keep);
  tables_[name] = Table::of_chunks(name, std::move(columns), keep.held.take_chunks(), share(keep.held.take_memory()));
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Insert& node, ResultReceiver&) {
  std::string name = single_name(node.table);
  auto found = tables_.find(name);
  if (found == tables_.end()) {
    throw UserError(fmt::format("INSERT needs a table in memory, and {} is none; CREATE TABLE {} ... makes one", name, name),
                    statement->position);
  }
  const Table& table = *found->second;
  std::vector<size_t> targets = inserted_columns(node, table, statement->position);
  std::vector<LogicalType> types;
  for (size_t target : targets) types.push_back(table.columns()[target].type);
  PlannedQuery planned = plan(*node.query, std::move(types));
  // The place of each table column in what is inserted; -1: NULL.
  std::vector<int> places(table.columns().size(), -1);
  if (planned.columns.size() != targets.size() && !(node.columns.empty() && planned.columns.size() < targets.size())) {
    throw UserError(fmt::format("INSERT gives {} columns for {}", planned.columns.size(), targets.size()), statement->position);
  }
  for (size_t i = 0; i < planned.columns.size(); ++i) {
    size_t target = targets[i];
    places[target] = static_cast<int>(i);
    if (!can_cast(planned.columns[i].type, table.columns()[target].type)) {
      throw UserError(fmt::format("column {} is {}, not {}", table.columns()[target].name, table.columns()[target].type.to_string(),
                                  planned.columns[i].type.to_string()),
                      statement->position);
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 && table.columns()[i].not_null)
      throw UserError(fmt::format("column {} of table {} is NOT NULL, and INSERT gives it no value", table.columns()[i].name, name),
                      statement->position);
  }
  ExecutablePlan executable = build_executable(planned.plan);
  Keep keep(scope_->operator_memory().make_child("insert"));
  run_planned(planned, executable, keep);
  HeldChunks added(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  for (const Chunk& chunk : keep.held.chunks()) {
    std::vector<Column> columns;
    for (size_t i = 0; i < places.size(); ++i) {
      LogicalType type = table.columns()[i].type;
      columns.push_back(places[i] < 0 ? null_column(type, chunk.rows(), at::kCPU)
                                      : cast_column(chunk.column(static_cast<size_t>(places[i])), type, {}));
      if (table.columns()[i].not_null && has_nulls(columns.back()))
        throw UserError(fmt::format("column {} of table {} is NOT NULL, and INSERT gives it a NULL", table.columns()[i].name, name),
                        statement->position);
    }
    added.add(Chunk(std::move(columns), chunk.rows()));
  }
  std::vector<Chunk> chunks = table.chunks();
  for (Chunk& chunk : added.take_chunks()) chunks.push_back(std::move(chunk));
  std::vector<std::shared_ptr<const Reservation>> memory = table.memory();
  for (std::shared_ptr<const Reservation>& part : share(added.take_memory())) memory.push_back(std::move(part));
  found->second = Table::of_chunks(name, table.columns(), std::move(chunks), std::move(memory));
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Drop& node, ResultReceiver&) {
  for (const std::vector<std::string>& parts : node.names) {
    std::string name = single_name(parts);
    bool is_table = node.kind == ast::Drop::Kind::Table;
    bool done = is_table ? tables_.erase(name) > 0 : views_.erase(name) > 0;
    if (done || node.if_exists) continue;
    if (is_table && folder_tables_.contains(name))
      throw UserError(fmt::format("{} is a table of files: remove the files instead", name), statement->position);
    throw UserError(fmt::format("there is no {} {}", is_table ? "table" : "view", name), statement->position);
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Explain& node, ResultReceiver& receiver) {
  const auto* select = std::get_if<ast::SelectStatement>(&node.statement->node);
  if (select == nullptr) throw UserError("EXPLAIN takes a query", statement->position);
  PlannedQuery planned = plan(*select->query);
  if (node.analyze) {
    ExecutablePlan executable = build_executable(planned.plan);
    Ignore ignore;
    run_planned(planned, executable, ignore, true);
  }
  const QueryProfile* shown = node.analyze ? profile_.get() : nullptr;
  std::vector<std::vector<ScalarValue>> rows;
  if (node.format == ast::Explain::Format::Json) {
    rows.push_back({text_value(explain_json(planned.plan, shown))});
  } else {
    for (std::string& line : explain_text(planned.plan, shown)) rows.push_back({text_value(std::move(line))});
  }
  send_rows(receiver, {{"plan", TypeKind::Varchar}}, rows);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Set& node, ResultReceiver&) {
  try {
    Settings changed = settings_;
    if (!node.value && node.name == "all") {
      changed = defaults_;
    } else if (node.value) {
      assign_setting(changed, node.name, *node.value);
    } else {
      assign_setting(changed, node.name, show_setting(defaults_, node.name));
    }
    for (std::string_view name : kEngineSettings) {
      if (node.name == name && show_setting(changed, name) != show_setting(settings_, name))
        throw UserError(fmt::format("{} is fixed when the engine starts: use -s {}=... on the command line", name, name));
    }
    refuse_unknown_rules(changed);
    settings_ = std::move(changed);
  } catch (const UserError& error) {
    throw UserError(error.message(), statement->position);
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Show& node, ResultReceiver& receiver) {
  std::vector<std::vector<ScalarValue>> rows;
  auto add = [&](std::initializer_list<std::string_view> cells) {
    std::vector<ScalarValue> row;
    for (std::string_view cell : cells) row.push_back(text_value(std::string(cell)));
    rows.push_back(std::move(row));
  };
  LogicalType text = TypeKind::Varchar;
  if (node.name == "all") {
    const Settings untouched;
    for (const SettingDescription& setting : setting_descriptions())
      add({setting.name, setting.show(settings_), setting.type, setting.show(untouched), setting.documentation});
    return send_rows(receiver, {{"name", text}, {"setting", text}, {"takes", text}, {"default", text}, {"description", text}}, rows);
  }
  if (node.name == "tables") {
    for (const std::string& name : table_names()) add({name});
    return send_rows(receiver, {{"name", text}}, rows);
  }
  if (node.name == "functions") {
    for (const FunctionFacts& facts : function_facts()) add({facts.name, facts.kind, facts.signature, facts.nulls, facts.description});
    return send_rows(receiver, {{"name", text}, {"kind", text}, {"signature", text}, {"nulls", text}, {"description", text}}, rows);
  }
  if (node.name == "rules") {
    for (const OptimizerRule& rule : optimizer_rules()) add({rule.name, rule.required ? "always" : "can be switched off", rule.reason});
    return send_rows(receiver, {{"name", text}, {"use", text}, {"reason", text}}, rows);
  }
  if (node.name == "links") return show_links(receiver);
  if (node.name == "memory") return show_memory(receiver);
  try {
    add({show_setting(settings_, node.name)});
  } catch (const UserError& error) {
    throw UserError(error.message(), statement->position);
  }
  send_rows(receiver, {{node.name, text}}, rows);
}

void Session::show_memory(ResultReceiver& receiver) {
  std::vector<std::optional<MemoryFigures>> ranks = {memory_figures(engine_.governor(), name_of_this_host())};
  if (ranks_ != nullptr) ranks = ranks_->memory(token_, settings_);
  std::vector<std::vector<ScalarValue>> rows;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<ScalarValue> row{ScalarValue::of_integer(TypeKind::Integer, static_cast<int64_t>(rank))};
    const std::optional<MemoryFigures>& figures = ranks[rank];
    row.push_back(figures ? text_value(figures->host) : ScalarValue::null(TypeKind::Varchar));
    for (auto figure : {&MemoryFigures::used, &MemoryFigures::peak, &MemoryFigures::limit})
      row.push_back(figures ? ScalarValue::of_integer(TypeKind::BigInt, *figures.*figure) : ScalarValue::null(TypeKind::BigInt));
    rows.push_back(std::move(row));
  }
  send_rows(receiver,
            {{"rank", TypeKind::Integer},
             {"host", TypeKind::Varchar},
             {"used", TypeKind::BigInt},
             {"peak", TypeKind::BigInt},
             {"limit", TypeKind::BigInt}},
            rows);
}

void Session::show_links(ResultReceiver& receiver) {
  std::vector<std::vector<ScalarValue>> rows;
  if (ranks_ != nullptr) ranks_->roll().wait_for_all(token_);
  // One rank has no links.
  std::vector<MeasuredLink> links = ranks_ == nullptr ? std::vector<MeasuredLink>() : ranks_->links().measure(token_);
  for (const MeasuredLink& link : links) {
    int64_t chosen = smallest_fast_size(link.speeds);
    for (const LinkSpeed& speed : link.speeds) {
      rows.push_back({ScalarValue::of_integer(TypeKind::Integer, link.from), ScalarValue::of_integer(TypeKind::Integer, link.to),
                      text_value(link.route), ScalarValue::of_integer(TypeKind::BigInt, speed.message_bytes),
                      ScalarValue::of_floating(TypeKind::Double, std::round(speed.bytes_per_second / 1e6) / 1e3),
                      ScalarValue::of_integer(TypeKind::Boolean, speed.message_bytes == chosen ? 1 : 0)});
    }
  }
  send_rows(receiver,
            {{"from", TypeKind::Integer},
             {"to", TypeKind::Integer},
             {"route", TypeKind::Varchar},
             {"message_bytes", TypeKind::BigInt},
             {"gb_per_second", TypeKind::Double},
             {"chosen", TypeKind::Boolean}},
            rows);
}

void Session::run(const std::shared_ptr<const ast::Statement>&, const ast::Describe& node, ResultReceiver& receiver) {
  PlannedQuery planned = plan_query(*node.query, *this, settings_, {.token = token_}, placement());
  std::vector<std::vector<ScalarValue>> rows;
  auto left_out = planned.left_out.begin();
  for (size_t i = 0; i <= planned.columns.size(); ++i) {
    for (; left_out != planned.left_out.end() && left_out->place == i; ++left_out)
      rows.push_back({text_value(left_out->name), text_value("cannot be read: " + left_out->reason)});
    if (i == planned.columns.size()) break;
    rows.push_back({text_value(planned.columns[i].name), text_value(planned.columns[i].type.to_string())});
  }
  send_rows(receiver, {{"column_name", TypeKind::Varchar}, {"column_type", TypeKind::Varchar}}, rows);
}

}  // namespace pistachio
