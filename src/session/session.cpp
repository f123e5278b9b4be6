#include "session/session.h"

#include <ATen/Parallel.h>
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/error.h"
#include "base/large_stack.h"
#include "cluster/rank_files.h"
#include "cluster/rank_service.h"
#include "engine/query_pipeline.h"
#include "memory/refusal_text.h"
#include "optimizer/optimizer.h"
#include "session/deferred_begin.h"
#include "storage/file_kind.h"

namespace pistachio {

namespace {

// Settings of the engine, which is created once.
constexpr std::string_view kEngineSettings[] = {
    "threads",      "memory_limit",         "io_threads",           "metadata_cache_bytes", "composite_kernels",
    "device",       "link_bandwidth_limit", "network_checksum",     "bind_threads",         "restart_ranks",
    "peer_timeout", "allow_faults",         "gpu_registered_bytes", "device_memory_limit"};

// Of a partitioned table with more files than this, only those that a query needs are opened. Below, opening all files is quick, and every
// schema is checked.
constexpr size_t kManyFiles = 256;

constexpr int64_t kPlanningStackBytes = int64_t{256} << 20;

void refuse_unknown_rules(const Settings& settings) {
  const std::vector<OptimizerRule>& rules = optimizer_rules();
  for (const std::string& rule : settings.disabled_rules) {
    bool known = rule == "all" || std::any_of(rules.begin(), rules.end(), [&](const OptimizerRule& own) { return own.name == rule; });
    if (!known) throw UserError(fmt::format("disabled_rules: there is no optimizer rule {}; SHOW rules lists them", rule));
  }
}

// Whoever can send SQL must not be able to end processes.
void refuse_faults(const Settings& settings) {
  if (!settings.fault_at.empty() && !settings.allow_faults)
    throw UserError("fault_at lets ranks fail, for tests: it can be set only where Pistachio was started with -s allow_faults=on");
}

}  // namespace

Session::Session(EngineInstance& engine, RankService* ranks)
    : engine_(engine), ranks_(ranks), settings_(engine.settings()), defaults_(engine.settings()), runner_(engine, ranks, settings_) {
  refuse_faults(settings_);
  refuse_unknown_rules(settings_);
}

void Session::add_folder(const std::string& path) {
  // Rank 0's folder decides which tables exist.
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
  auto kept = catalog_.tables.find(name);
  if (kept != catalog_.tables.end()) return kept->second;
  auto stored = folder_tables_.find(name);
  if (stored == folder_tables_.end()) return nullptr;
  return open_table_of_files(name, {stored->second});
}

const ViewDefinition* Session::find_view(const std::string& name) {
  auto found = catalog_.views.find(name);
  return found == catalog_.views.end() ? nullptr : &found->second;
}

namespace {

// The options of read_parquet: partition columns, and the file's name as one more of them.
void apply_options(TableListing& listing, const ReadOptions& options) {
  if (!options.hive_partitioning.value_or(true)) {
    listing.keys.clear();
    for (FoundFile& file : listing.files) file.partitions.clear();
  }
  if (!options.adds_filename) return;
  listing.keys.push_back({"filename", TypeKind::Varchar});
  for (FoundFile& file : listing.files) file.partitions.emplace_back("filename", file.path);
}

}  // namespace

TablePtr Session::open_files(const std::vector<std::string>& patterns, const ReadOptions& options) {
  const FileFormat format = options.format == FileFormat::Auto ? format_of_file(patterns[0]) : options.format;
  if (format == FileFormat::Parquet || (options.format == FileFormat::Auto && begins_like_parquet(patterns[0])))
    return open_table_of_files(patterns[0], patterns, options);
  if (settings_.local_files) throw UserError(fmt::format("{} cannot be read with local_files=on: only Parquet files can", patterns[0]));
  const TableListing listing = engine_.scheduler().run(list_table(scope_->storage(), patterns), token_);
  return Table::of_row_files(patterns[0], engine_.scheduler().run(open_row_files(scope_->storage(), listing, format, options), token_));
}

std::vector<TablePtr> Session::open_unlike_files(const std::vector<std::string>& patterns, const ReadOptions& options) {
  if (settings_.local_files) throw UserError("union_by_name = true cannot be used with local_files=on");
  TableListing listed = engine_.scheduler().run(list_table(scope_->storage(), patterns), token_);
  apply_options(listed, options);
  auto listing = std::make_shared<const TableListing>(std::move(listed));
  std::vector<std::string> kinds;
  std::vector<std::vector<size_t>> places;
  for (size_t place = 0; place < listing->files.size(); ++place) {
    // The footer is read again from the cache when the files of a kind are opened together.
    const ParquetTable one = engine_.scheduler().run(open_table(scope_->storage(), listing, {place}), token_);
    std::string kind;
    for (const TableColumn& column : one.columns)
      kind += fmt::format("{}\n{}\n{}\n", column.name, column.type.to_string(), column.unsupported);
    const auto known = std::find(kinds.begin(), kinds.end(), kind);
    if (known == kinds.end()) {
      kinds.push_back(std::move(kind));
      places.push_back({place});
    } else {
      places[static_cast<size_t>(known - kinds.begin())].push_back(place);
    }
  }
  std::vector<TablePtr> tables;
  for (std::vector<size_t>& of_kind : places) {
    ParquetTable opened = engine_.scheduler().run(open_table(scope_->storage(), listing, std::move(of_kind)), token_);
    tables.push_back(Table::of_files(patterns[0], std::move(opened)));
  }
  return tables;
}

TablePtr Session::open_table_of_files(const std::string& name, const std::vector<std::string>& patterns, const ReadOptions& options) {
  TableListing listed = engine_.scheduler().run(list_rank_table(scope_->storage(), patterns, /*rank=*/0), token_);
  apply_options(listed, options);
  auto listing = std::make_shared<const TableListing>(std::move(listed));
  auto open = [this, listing](std::vector<size_t> places) {
    return engine_.scheduler().run(open_table(scope_->storage(), listing, std::move(places)), token_);
  };
  // With local_files the files of other ranks are not in this listing.
  const bool chooses =
      !listing->keys.empty() && listing->files.size() > kManyFiles && !settings_.local_files && !whole_tables_.contains(patterns);
  return chooses ? Table::of_partitions(name, open({0}), open) : Table::of_files(name, open(all_places(*listing)));
}

std::vector<std::string> Session::table_names() {
  std::set<std::string> names;
  for (const auto& [name, table] : catalog_.tables) names.insert(name);
  for (const auto& [name, path] : folder_tables_) names.insert(name);
  for (const auto& [name, view] : catalog_.views) names.insert(name);
  return {names.begin(), names.end()};
}

void Session::run_in_time(const CancelToken& token, SteadyTime begin, const std::function<void(const CancelToken&)>& body) const {
  std::optional<SteadyTime> deadline;
  if (settings_.query_timeout > 0) deadline = begin + std::chrono::milliseconds(settings_.query_timeout);
  CancelSource limited(token, deadline);
  try {
    body(limited.token());
  } catch (const Cancelled&) {
    // Cancelled through the caller's token; otherwise it was the deadline, which must not end a script.
    if (token.is_cancelled() || !deadline) throw;
    throw UserError(fmt::format("the statement ran longer than query_timeout={}", show_setting(settings_, "query_timeout")));
  }
}

std::vector<ast::Statement> Session::parse(std::string_view text, const CancelToken& token, SteadyTime begin) const {
  std::vector<ast::Statement> parsed;
  run_in_time(token, begin, [&](const CancelToken& limited) { parsed = parse_sql(text, limited); });
  return parsed;
}

void Session::execute(std::shared_ptr<const ast::Statement> statement, ResultReceiver& receiver, const CancelToken& token,
                      SteadyTime begin) {
  EngineInstance::QueryScope scope(engine_, settings_, EngineInstance::QueryScope::Use::Operators);
  if (transaction_failed_ && !std::holds_alternative<ast::Transaction>(statement->node))
    throw UserError("the transaction has failed: ROLLBACK ends it", statement->position);
  notes_.clear();
  whole_tables_.clear();
  scope_ = &scope;
  struct Forget {
    Session& session;
    bool is_done = false;
    ~Forget() {
      session.scope_ = nullptr;
      session.token_ = {};
      session.transaction_failed_ = session.before_transaction_ && (session.transaction_failed_ || !is_done);
    }
  } forget{*this};
  try {
    run_in_time(token, begin, [&](const CancelToken& limited) {
      token_ = limited;
      receiver.start(limited);
      // Binding, optimizing and building are recursive over the plan.
      run_on_large_stack(kPlanningStackBytes, [&] {
        at::set_num_threads(1);
        std::visit([&](const auto& node) { run(statement, node, receiver); }, statement->node);
      });
    });
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(failed_allocation_text());
  }
  forget.is_done = true;
}

PlannedQuery Session::plan_now(const ast::Query& query, const BindOptions& options) {
  while (true) {
    try {
      return plan_query(query, *this, settings_, options, runner_.placement());
    } catch (const SchemaMismatch& table) {
      // A column has nanoseconds in only some partitions, or the first file was replaced. The binder must know, so all files are opened.
      ENSURE(whole_tables_.insert(table.patterns).second);
    }
  }
}

PlannedQuery Session::plan(const ast::Query& query, std::vector<LogicalType> inserted, std::vector<std::string> inserted_names) {
  BindOptions options{.token = token_, .inserted = std::move(inserted), .inserted_names = std::move(inserted_names)};
  PlannedQuery planned = plan_now(query, options);
  if (planned.plan.exchanges > 0 && runner_.link_speed() == 0) {
    // The best plan depends on link speed: plans again once the links are measured.
    ranks_->prepare_links(settings_, token_);
    if (runner_.link_speed() > 0) planned = plan_now(query, options);
  }
  if (!planned.left_out.empty()) {
    std::set<std::string_view> names;
    for (const OmittedColumn& column : planned.left_out) names.insert(column.name);
    notes_.push_back(fmt::format("* leaves out columns that cannot be read: {} (DESCRIBE says why)", fmt::join(names, ", ")));
  }
  return planned;
}

void Session::run_planned(const PlannedQuery& planned, ResultReceiver& receiver, bool watched) {
  runner_.run(planned, receiver, {.scope = *scope_, .token = token_, .watched = watched, .notes = notes_});
}

void Session::refuse_omitted_columns(const PlannedQuery& planned) {
  if (planned.left_out.empty()) return;
  const OmittedColumn& first = planned.left_out.front();
  throw UserError(fmt::format("column {} cannot be written, since it cannot be read: {}; name the columns to write instead of *",
                              first.name, first.reason));
}

void Session::run(const std::shared_ptr<const ast::Statement>&, const ast::SelectStatement& node, ResultReceiver& receiver) {
  PlannedQuery planned = plan(*node.query);
  if (receiver.needs_every_column()) refuse_omitted_columns(planned);
  DeferredBegin result(receiver);
  result.begin(planned.columns);
  try {
    run_planned(planned, result);
  } catch (...) {
    result.break_off();
    throw;
  }
  result.end();
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
    refuse_faults(changed);
    settings_ = std::move(changed);
  } catch (const UserError& error) {
    throw UserError(error.message(), statement->position);
  }
}

}  // namespace pistachio
