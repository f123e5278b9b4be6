// Options shared by benchmarks over ranks. Pure, apart from locating the cache folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/bench/join_tables.h"
#include "frontend/cli/bench_ranks.h"
#include "frontend/cli/command_arguments.h"

namespace pistachio {

// More processes than this on one machine are likely a typo.
constexpr int64_t kMaxBenchRanks = 256;

// `own` plus the options of every benchmark over ranks.
std::vector<OptionDescription> with_common_options(std::vector<OptionDescription> own);

// All of these throw UsageError.
int rank_count(const CommandArguments& arguments);
BenchRun bench_run(const CommandArguments& arguments, int ranks);
std::vector<int64_t> number_list(const CommandArguments& arguments, std::string_view option, const std::string& otherwise, int64_t most);
double share_option(const CommandArguments& arguments, std::string_view option, double otherwise);
void refuse_words(const CommandArguments& arguments);
// Folder for generated tables, which later runs reuse.
std::string cache_folder(const CommandArguments& arguments);

// The tables of such a join, generated if they do not exist; `skew` as in JoinTables.
JoinTablePaths join_tables_for(const CommandArguments& arguments, JoinTables tables);

}  // namespace pistachio
