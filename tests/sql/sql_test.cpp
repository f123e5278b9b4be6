// Runs every .slt file of this folder under each configuration of tests/configs. One test per pair; each has its own engine and session.
// ${FILES} in a statement is replaced by a folder with Parquet files that the test generates.
#include <ATen/Context.h>
#include <dirent.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "columns/scalar_access.h"
#include "frontend/bench/sample_file.h"
#include "memory/refusable_call.h"
#include "parser/parse.h"
#include "session/session.h"
#include "tests/sql/slt_file.h"
#include "tests/support/local_ranks.h"
#include "tests/support/temporary_folder.h"

namespace pistachio::test {
namespace {

const std::string kRoot = PISTACHIO_SOURCE_FOLDER;

std::vector<std::string> files_with_ending(const std::string& folder, const std::string& ending) {
  std::vector<std::string> names;
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return names;
  while (dirent* entry = ::readdir(open.get())) {
    std::string name = entry->d_name;
    if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Run {
  std::string file;
  std::string config;
};

void PrintTo(const Run& run, std::ostream* out) {
  *out << run.file << " " << run.config;
}

nlohmann::json read_config(const std::string& name) {
  std::ifstream config(kRoot + "/tests/configs/" + name + ".json");
  return nlohmann::json::parse(config);
}

std::vector<Run> all_runs() {
  std::vector<Run> runs;
  for (const std::string& config : files_with_ending(kRoot + "/tests/configs", ".json")) {
    if (read_config(config).value("needs_cuda", false) && !at::globalContext().hasCUDA()) continue;
    for (const std::string& file : files_with_ending(kRoot + "/tests/sql", ".slt")) runs.push_back({file, config});
  }
  return runs;
}

class RowCollector final : public ResultReceiver {
 public:
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk& chunk) override {
    for (int64_t row = 0; row < chunk.rows(); ++row) {
      std::string line;
      for (size_t i = 0; i < chunk.column_count(); ++i) {
        ScalarValue value = value_at(chunk.column(i), row);
        std::string text = value.to_string();
        if (!value.is_null && text.empty()) text = "(empty)";
        line += (i == 0 ? "" : "\t") + text;
      }
      rows.push_back(std::move(line));
    }
  }
  void end() override {}

  std::vector<std::string> rows;
};

// Refuses allocations of operators, which must then spill, divide their work or repeat it.
class RefusedMemory {
 public:
  explicit RefusedMemory(bool on) { RefusableAllocations::refuse_all(on); }
  ~RefusedMemory() { RefusableAllocations::refuse_all(false); }
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
};

class SqlTest : public testing::TestWithParam<Run> {
 protected:
  void run_case(Session& session, const SltCase& own) {
    std::string sql = own.sql;
    for (size_t at = sql.find("${FILES}"); at != std::string::npos; at = sql.find("${FILES}")) sql.replace(at, 8, folder_.path());
    SCOPED_TRACE(fmt::format("{}.slt:{}: {}", GetParam().file, own.line, sql));
    RowCollector collector;
    try {
      for (ast::Statement& statement : parse_statements(sql))
        session.execute(std::make_shared<const ast::Statement>(std::move(statement)), collector, {});
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.message();
      return;
    } catch (const Error& error) {
      if (own.kind != SltCase::Kind::Error) {
        ADD_FAILURE() << error.message();
      } else if (error.message().find(own.error) == std::string::npos) {
        ADD_FAILURE() << "expected the error '" << own.error << "', got '" << error.message() << "'";
      }
      return;
    }
    if (own.kind == SltCase::Kind::Error) ADD_FAILURE() << "expected the error '" << own.error << "', but it worked";
    if (own.kind != SltCase::Kind::Query) return;
    std::string problem = compare_rows(own.rows, collector.rows, own.ordered);
    if (!problem.empty()) ADD_FAILURE() << problem;
  }

  TemporaryFolder folder_;
};

TEST_P(SqlTest, MatchesExpectedResults) {
  nlohmann::json described = read_config(GetParam().config);
  const bool refuses = described.value("refuse_memory", false);
  const int64_t refused_before = RefusableAllocations::count();
  const RefusedMemory refused(refuses);
  Settings settings;
  settings.threads = 2;
  settings.memory_limit = int64_t{1} << 30;
  for (const auto& [name, value] : described.at("settings").items()) assign_setting(settings, name, value.get<std::string>());
  write_sample_file(folder_.file("sales.parquet"), {3000, 700});
  EngineInstance engine(settings);
  std::unique_ptr<LocalRanks> ranks;
  if (described.contains("ranks"))
    ranks = std::make_unique<LocalRanks>(engine, described.at("ranks").get<int>(), described.value("hosts", 1));
  Session session(engine, ranks ? &ranks->first() : nullptr);
  session.add_folder(folder_.path());
  for (const SltCase& own : read_slt_file(kRoot + "/tests/sql/" + GetParam().file + ".slt")) run_case(session, own);
  // On a GPU only few tensors are on the host.
  const bool expects_refusals = refuses && engine.device().is_cpu();
  EXPECT_TRUE(!expects_refusals || RefusableAllocations::count() > refused_before) << "nothing was refused";
}

INSTANTIATE_TEST_SUITE_P(Files, SqlTest, testing::ValuesIn(all_runs()),
                         [](const testing::TestParamInfo<Run>& run) { return run.param.file + "_" + run.param.config; });

}  // namespace
}  // namespace pistachio::test
