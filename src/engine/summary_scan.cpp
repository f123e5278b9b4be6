#include "engine/summary_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "kernels/ops/summarize.h"
#include "kernels/ops/summarize_text.h"
#include "storage/table_scan.h"

namespace pistachio {

namespace {

[[noreturn]] void refuse_sum(const ColumnTotals& totals) {
  throw UserError(
      fmt::format("sum of column {} is out of range: the sum of its {} values, or of a part of them, takes more than 128 bits; "
                  "name the other columns with --columns",
                  totals.name, totals.type.to_string()));
}

void add_to_sum(ColumnTotals& totals, Int128 more) {
  if (__builtin_add_overflow(totals.sum, more, &totals.sum)) refuse_sum(totals);
}

void widen_range(ColumnTotals& totals, const ScalarValue& minimum, const ScalarValue& maximum) {
  if (!totals.minimum || compare(minimum, *totals.minimum) < 0) totals.minimum = minimum;
  if (!totals.maximum || compare(maximum, *totals.maximum) > 0) totals.maximum = maximum;
}

ScalarValue text_value(const Column& text, int64_t index) {
  int64_t begin = text.begins().const_data_ptr<int64_t>()[index];
  int64_t end = text.ends().const_data_ptr<int64_t>()[index];
  return ScalarValue::of_text(text.type(), std::string(reinterpret_cast<const char*>(text.bytes().const_data_ptr<uint8_t>()) + begin,
                                                       static_cast<size_t>(end - begin)));
}

void add_text(ColumnTotals& totals, const Column& column) {
  const Column& text = column.is_dictionary() ? *column.dictionary_column() : column;
  kernels::TextSummary summary =
      column.is_dictionary()
          ? kernels::summarize_text_dictionary(text.bytes(), text.begins(), text.ends(), column.codes(), column.validity())
          : kernels::summarize_text(text.bytes(), text.begins(), text.ends(), column.validity());
  totals.count += summary.count;
  add_to_sum(totals, totals.type.kind() == TypeKind::Blob ? summary.bytes : summary.characters);
  totals.text_bytes += summary.bytes;
  if (summary.count > 0) widen_range(totals, text_value(text, summary.min_index), text_value(text, summary.max_index));
}

kernels::ColumnSummary summarize_column(const ColumnTotals& totals, const Column& column) {
  try {
    return column.is_dictionary() ? kernels::summarize_dictionary(column.dictionary_column()->values(), column.codes(), column.validity())
                                  : kernels::summarize(column.values(), column.validity());
  } catch (const UserError&) {
    refuse_sum(totals);  // kernels do not know column names
  }
}

void add_column(ColumnTotals& totals, const Column& column) {
  if (column.rows() == 0) return;
  if (column.type().is_text()) return add_text(totals, column);
  kernels::ColumnSummary summary = summarize_column(totals, column);
  totals.count += summary.count;
  if (summary.count == 0) return;
  if (summary.floating) {
    totals.float_sum += summary.float_sum;
    widen_range(totals, ScalarValue::of_floating(totals.type, summary.float_min), ScalarValue::of_floating(totals.type, summary.float_max));
  } else {
    add_to_sum(totals, summary.sum);
    widen_range(totals, ScalarValue::of_integer(totals.type, summary.min), ScalarValue::of_integer(totals.type, summary.max));
  }
}

std::vector<ColumnTotals> empty_totals(const ScanPlan& plan) {
  std::vector<ColumnTotals> totals(plan.output_columns.size());
  for (size_t i = 0; i < totals.size(); ++i) {
    totals[i].name = plan.output_name(i);
    totals[i].type = plan.output_type(i);
  }
  return totals;
}

// UUIDs are stored as bytes and read as lower-case text; a constant may use either case.
std::vector<RangeFilter> with_plain_uuids(const ParquetTable& table, std::vector<RangeFilter> filters) {
  for (RangeFilter& filter : filters) {
    size_t column = static_cast<size_t>(&table.column(filter.column) - table.columns.data());
    bool is_uuid = std::all_of(table.files.begin(), table.files.end(), [&](const TableFile& file) {
      int leaf = file.leaf_of_column[column];
      return leaf >= 0 && file.footer().columns[static_cast<size_t>(leaf)].conversion == ValueConversion::Uuid;
    });
    if (!is_uuid) continue;
    for (char& letter : filter.constant) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return filters;
}

Task<SummaryResult> summarize(EngineInstance& engine, StorageContext& storage, const SummaryRequest& request, ScanCounters& counters) {
  Task<ParquetTable> opening = open_table(storage, request.paths);
  ParquetTable table = co_await opening;
  ScanRequest wanted = request.scan;
  wanted.filters = with_plain_uuids(table, std::move(wanted.filters));
  ScanPlan plan = plan_scan(table, wanted, ScanLimits(storage.settings), storage.settings.threads);
  TableScan scan(storage, plan, counters);
  std::vector<ColumnTotals> totals = empty_totals(plan);
  std::mutex mutex;
  auto consume = [&](ScanLane& lane) -> Task<void> {
    std::vector<ColumnTotals> own = empty_totals(plan);
    while (true) {
      Task<std::optional<ScannedChunk>> taking = lane.next();
      std::optional<ScannedChunk> scanned = co_await taking;
      if (!scanned) break;
      for (size_t i = 0; i < own.size(); ++i) add_column(own[i], scanned->chunk.column(i));
    }
    std::lock_guard lock(mutex);
    for (size_t i = 0; i < own.size(); ++i) totals[i].add(own[i]);
  };
  Task<void> running = scan.run(engine.scheduler().workers(), consume);
  co_await running;

  SummaryResult result;
  result.rows = table.rows;
  result.files = static_cast<int64_t>(table.files.size());
  result.selected = counters.rows_selected;
  result.row_groups = plan.row_groups;
  result.pruned_row_groups = plan.pruned_row_groups + counters.row_groups_pruned;
  result.pages = counters.pages_total;
  result.skipped_pages = counters.pages_skipped;
  for (const ColumnTotals& column : totals)
    result.decoded_bytes += column.type.is_text() ? column.text_bytes : result.selected * column.type.value_bytes();
  result.columns = std::move(totals);
  co_return result;
}

}  // namespace

void ColumnTotals::add(const ColumnTotals& other) {
  count += other.count;
  add_to_sum(*this, other.sum);
  float_sum += other.float_sum;
  text_bytes += other.text_bytes;
  if (other.minimum) widen_range(*this, *other.minimum, *other.maximum);
}

std::string ColumnTotals::sum_text() const {
  if (type.is_floating()) return fmt::format("{}", float_sum);
  return format_scaled_integer(sum, type.kind() == TypeKind::Decimal ? type.scale() : 0);
}

SummaryResult run_summary_scan(EngineInstance& engine, const Settings& settings, const SummaryRequest& request, const CancelToken& token,
                               ScanCounters* progress) {
  auto begin = std::chrono::steady_clock::now();
  EngineInstance::QueryScope query(engine, settings, EngineInstance::QueryScope::Use::ScanOnly);
  ScanCounters own_counters;
  ScanCounters& counters = progress != nullptr ? *progress : own_counters;
  SummaryResult result = engine.scheduler().run(summarize(engine, query.storage(), request, counters), token);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.bytes_read = query.read_pool().statistics().bytes;
  result.peak_reserved_bytes = query.storage().memory.peak();
  return result;
}

}  // namespace pistachio
