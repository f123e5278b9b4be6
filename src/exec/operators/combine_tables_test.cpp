#include "exec/operators/combine_tables.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <thread>

#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/memory_governor.h"

namespace pistachio {
namespace {

constexpr double kNoRoundNumber = 1.0471975511965976;

constexpr int64_t kLarge = int64_t{1} << 30;

AggregateCall call(std::string_view name, LogicalType argument) {
  AggregateCall made;
  made.function = find_aggregate(name);
  made.argument = Expression::column(ColumnId{1}, argument);
  return made;
}

Column texts(const at::Tensor& numbers, at::Tensor validity = {}, TypeKind kind = TypeKind::Varchar) {
  at::Tensor begins = at::arange(numbers.numel(), at::kLong) * 8;
  return Column::text(kind, numbers.contiguous().view(at::kByte), begins, begins + 8, std::move(validity));
}

// Small integers as values of any type.
Column column_of(LogicalType type, const at::Tensor& numbers, at::Tensor validity) {
  if (type.is_text()) return texts(numbers, std::move(validity), type.kind());
  if (type.is_wide()) return Column::fixed(type, at::stack({numbers, numbers.remainder(2)}, 1), std::move(validity));
  if (type.is_floating()) return Column::fixed(type, (numbers.to(at::kDouble) / 8).to(type.scalar_type()), std::move(validity));
  if (type.kind() == TypeKind::Boolean) return Column::fixed(type, numbers.remainder(2).eq(0), std::move(validity));
  return Column::fixed(type, numbers.to(type.scalar_type()), std::move(validity));
}

const std::vector<LogicalType> kKeyTypes = {
    TypeKind::Boolean, TypeKind::TinyInt,  TypeKind::SmallInt,          TypeKind::Integer,
    TypeKind::BigInt,  TypeKind::Real,     TypeKind::Double,            LogicalType::decimal(9, 2),
    TypeKind::Date,    TypeKind::Time,     TypeKind::Timestamp,         TypeKind::TimestampTzNs,
    TypeKind::Varchar, TypeKind::Interval, LogicalType::decimal(38, 2), TypeKind::Blob};

class Combining : public testing::Test {
 protected:
  // Adds a key column; keys come before states.
  void add_key(LogicalType type) {
    columns_.keys.push_back(columns_.columns++);
    columns_.key_types.push_back(type);
  }
  void add_call(const AggregateCall& made) {
    columns_.calls.push_back(made);
    std::vector<size_t>& places = columns_.states.emplace_back();
    for (size_t i = 0; i < state_types(made).size(); ++i) places.push_back(columns_.columns++);
  }

  static Chunk chunk_of(std::vector<Column> columns) {
    const int64_t rows = columns[0].rows();
    return Chunk(std::move(columns), rows, at::kCPU);
  }

  // Reference: merges all rows in one table; the result has every group once, by key.
  std::map<std::string, std::string> merge(const std::vector<Chunk>& chunks) {
    std::unique_ptr<CombineTables> tables =
        make_group_combine_tables(columns_, {1, int64_t{1} << 40, at::kCPU}, governor_.process_account().make_child("reference"));
    for (const Chunk& chunk : chunks) EXPECT_TRUE(tables->add(chunk, {}).empty());
    std::map<std::string, std::string> rows;
    for (const Chunk& chunk : tables->flush()) {
      for (int64_t row = 0; row < chunk.rows(); ++row) {
        std::string key, state;
        for (size_t i = 0; i < columns_.columns; ++i) {
          const Column column = decode_dictionary(chunk.column(i));
          (i < columns_.keys.size() ? key : state) += value_text(column, row) + "|";
        }
        EXPECT_TRUE(rows.emplace(key, state).second) << key << " occurs twice";
      }
    }
    return rows;
  }

  static std::string value_text(const Column& column, int64_t row) {
    if (column.has_validity() && !column.validity()[row].item<bool>()) return "NULL";
    if (column.type().is_text()) {
      const int64_t begin = column.begins()[row].item<int64_t>(), end = column.ends()[row].item<int64_t>();
      return std::string(static_cast<const char*>(column.bytes().const_data_ptr()) + begin, static_cast<size_t>(end - begin));
    }
    const at::Tensor value = column.values()[row];
    if (column.type().is_wide()) return std::to_string(value[0].item<int64_t>()) + "," + std::to_string(value[1].item<int64_t>());
    // Means of small integers often are half a digit of the text, which the last bit then rounds up or down; not so a multiple of them.
    return column.type().is_floating() ? std::to_string(value.item<double>() * kNoRoundNumber) : std::to_string(value.item<int64_t>());
  }

  // Runs the chunks through the tables on `lanes` lanes and checks that their output aggregates to the same groups as the input.
  // `others` returns rows that left the tables otherwise, such as by flush_idle().
  int64_t check(CombineTables& tables, const std::vector<Chunk>& chunks, int lanes,
                const std::function<std::vector<Chunk>()>& others = {}) {
    std::vector<std::vector<Chunk>> left(static_cast<size_t>(lanes));
    std::vector<std::thread> threads;
    for (size_t lane = 0; lane < left.size(); ++lane) {
      threads.emplace_back([&, lane] {
        for (size_t i = lane; i < chunks.size(); i += left.size()) {
          for (Chunk& rows : tables.add(chunks[i], {})) left[lane].push_back(std::move(rows));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    int64_t added = 0, rows = 0;
    for (const Chunk& chunk : chunks) added += chunk.rows();
    std::vector<Chunk> all = others ? others() : std::vector<Chunk>();
    for (Chunk& rows_of_table : tables.flush()) all.push_back(std::move(rows_of_table));
    for (std::vector<Chunk>& chunks_of_lane : left) {
      for (Chunk& chunk : chunks_of_lane) all.push_back(std::move(chunk));
    }
    for (const Chunk& chunk : all) rows += chunk.rows();
    EXPECT_EQ(tables.added(), added);
    EXPECT_EQ(rows, added - tables.merged());
    EXPECT_EQ(merge(all), merge(chunks));
    return rows;
  }

  // Both kinds of tables, large and small, with one lane and several.
  void check_all(const std::vector<Chunk>& chunks, bool has_words) {
    for (int lanes : {1, 3}) {
      for (int64_t bytes : {int64_t{1}, int64_t{20'000}, kLarge}) {
        SCOPED_TRACE(testing::Message() << lanes << " lanes, " << bytes << " bytes");
        const CombineLimits limits{lanes, bytes, at::kCPU};
        std::unique_ptr<CombineTables> words = make_word_combine_tables(columns_, limits, governor_.process_account().make_child("words"));
        ASSERT_EQ(words != nullptr, has_words);
        if (words != nullptr) check(*words, chunks, lanes);
        check(*make_group_combine_tables(columns_, limits, governor_.process_account().make_child("groups")), chunks, lanes);
      }
    }
  }

  MemoryGovernor governor_{int64_t{1} << 40};
  CombinedColumns columns_;
};

std::vector<at::Tensor> random_keys(int64_t chunks, int64_t rows, int64_t keys) {
  std::vector<at::Tensor> made;
  for (int64_t i = 0; i < chunks; ++i) made.push_back(at::randint(0, keys, {rows}, at::kLong));
  return made;
}

TEST_F(Combining, DistinctKeys) {
  add_key(TypeKind::Integer);
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(6, 500, 400)) chunks.push_back(chunk_of({Column::fixed(TypeKind::Integer, keys.to(at::kInt))}));
  check_all(chunks, true);
}

TEST_F(Combining, EveryKindOfStateOfWords) {
  add_key(TypeKind::BigInt);
  add_call(call("count", TypeKind::BigInt));
  add_call(call("sum", TypeKind::BigInt));
  add_call(call("avg", TypeKind::Double));
  add_call(call("min", TypeKind::SmallInt));
  add_call(call("max", TypeKind::Real));
  add_call(call("bool_and", TypeKind::Boolean));
  add_call(call("bool_or", TypeKind::Boolean));
  add_call(call("bit_and", TypeKind::TinyInt));
  add_call(call("bit_or", TypeKind::Integer));
  add_call(call("bit_xor", TypeKind::BigInt));
  add_call(call("any_value", TypeKind::Real));
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(7, 700, 300)) {
    const at::Tensor numbers = at::randint(-1000, 1000, {keys.numel()}, at::kLong);
    const at::Tensor sums = at::stack({numbers, numbers.div(1000, "floor")}, 1);  // high words, too
    chunks.push_back(chunk_of({Column::fixed(TypeKind::BigInt, keys, keys.ne(7)), Column::fixed(TypeKind::BigInt, numbers.abs()),
                               Column::fixed(LogicalType::decimal(38, 0), sums), Column::fixed(TypeKind::BigInt, numbers.abs()),
                               Column::fixed(TypeKind::Double, numbers.to(at::kDouble)), Column::fixed(TypeKind::BigInt, numbers.abs()),
                               Column::fixed(TypeKind::SmallInt, numbers.to(at::kShort), numbers.ne(0)),
                               Column::fixed(TypeKind::Real, numbers.to(at::kFloat) / 4),
                               Column::fixed(TypeKind::Boolean, numbers.gt(-900)),
                               Column::fixed(TypeKind::Boolean, numbers.gt(900), numbers.ne(1)),
                               Column::fixed(TypeKind::TinyInt, numbers.div(8, "trunc").to(at::kChar), numbers.ne(2)),
                               Column::fixed(TypeKind::Integer, numbers.to(at::kInt)),
                               Column::fixed(TypeKind::BigInt, numbers * 1'000'000'007, numbers.ne(3)),
                               // One value per key: any_value() of several would not be deterministic.
                               Column::fixed(TypeKind::Real, keys.to(at::kFloat) / 4, numbers.ne(4))}));
  }
  check_all(chunks, true);
}

TEST_F(Combining, SeveralKeysWithNulls) {
  add_key(TypeKind::Date);
  add_key(LogicalType::decimal(38, 2));
  add_key(TypeKind::Double);
  add_call(call("count", TypeKind::BigInt));
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(6, 600, 60)) {
    // Values under NULLs differ.
    const at::Tensor noise = at::randint(0, 1000, {keys.numel()}, at::kLong);
    const at::Tensor valid = keys.remainder(3).ne(0);
    const at::Tensor wide = at::where(valid, keys, noise);
    chunks.push_back(chunk_of({Column::fixed(TypeKind::Date, keys.to(at::kInt)),
                               Column::fixed(LogicalType::decimal(38, 2), at::stack({wide, at::zeros_like(wide)}, 1), valid),
                               Column::fixed(TypeKind::Double, keys.to(at::kDouble) / 8, keys.remainder(5).ne(0)),
                               Column::fixed(TypeKind::BigInt, at::ones_like(keys))}));
  }
  check_all(chunks, true);
}

TEST_F(Combining, TextsPlainAndCoded) {
  add_key(TypeKind::Varchar);
  add_call(call("count", TypeKind::BigInt));
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(6, 600, 60)) {
    const Column counts = Column::fixed(TypeKind::BigInt, at::ones_like(keys));
    chunks.push_back(chunk_of({texts(keys, keys.ne(11)), counts}));
    // Another dictionary with the entries in another order.
    auto dictionary = std::make_shared<Column>(texts(59 - at::arange(60, at::kLong)));
    chunks.push_back(chunk_of({Column::dictionary((59 - keys).to(at::kInt), dictionary), counts}));
    chunks.push_back(chunk_of({Column::dictionary((59 - keys).to(at::kInt), dictionary, keys.ne(5)), counts}));
  }
  check_all(chunks, true);
}

TEST_F(Combining, KeysOfEveryType) {
  for (LogicalType type : kKeyTypes) {
    SCOPED_TRACE(type.to_string());
    columns_ = {};
    add_key(type);
    add_call(call("count", TypeKind::BigInt));
    std::vector<Chunk> chunks;
    for (const at::Tensor& keys : random_keys(3, 100, 60))
      chunks.push_back(chunk_of({column_of(type, keys, keys.ne(7)), Column::fixed(TypeKind::BigInt, at::ones_like(keys))}));
    check_all(chunks, true);
  }
}

TEST_F(Combining, KeysOfAllTypesTogether) {
  for (LogicalType type : kKeyTypes) add_key(type);
  add_call(call("count", TypeKind::BigInt));
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(3, 100, 60)) {
    std::vector<Column> columns;
    for (LogicalType type : kKeyTypes) {
      const auto every = static_cast<int64_t>(columns.size()) + 2;
      columns.push_back(column_of(type, keys, keys.remainder(every).ne(0)));
    }
    columns.push_back(Column::fixed(TypeKind::BigInt, at::ones_like(keys)));
    chunks.push_back(chunk_of(std::move(columns)));
  }
  check_all(chunks, true);
}

TEST_F(Combining, Moments) {
  add_key(TypeKind::BigInt);
  for (const char* name : {"var_samp", "var_pop", "stddev_samp", "stddev_pop"}) add_call(call(name, TypeKind::Double));
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(4, 300, 60)) {
    const at::Tensor counts = at::randint(0, 100, {keys.numel()}, at::kLong).to(at::kDouble);
    std::vector<Column> columns = {Column::fixed(TypeKind::BigInt, keys)};
    // Count, mean and sum of squared differences.
    while (columns.size() < columns_.columns)
      columns.push_back(Column::fixed(TypeKind::Double, columns.size() % 3 == 1 ? counts : counts / 8));
    chunks.push_back(chunk_of(std::move(columns)));
  }
  check_all(chunks, true);
}

// Extremes of texts and of wide values.
TEST_F(Combining, StatesWithoutWords) {
  const std::vector<AggregateCall> calls = {call("max", TypeKind::Varchar), call("min", LogicalType::decimal(38, 2))};
  add_key(TypeKind::BigInt);
  for (const AggregateCall& own : calls) add_call(own);
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(4, 300, 60)) {
    const at::Tensor numbers = at::randint(1, 100, {keys.numel()}, at::kLong);
    std::vector<Column> columns = {Column::fixed(TypeKind::BigInt, keys), texts(numbers, numbers.ne(50)),
                                   column_of(LogicalType::decimal(38, 2), numbers, numbers.ne(60))};
    chunks.push_back(chunk_of(std::move(columns)));
  }
  check_all(chunks, false);
  // One state of them is enough to need a table of groups.
  for (const AggregateCall& own : calls) {
    columns_ = {};
    add_key(TypeKind::BigInt);
    add_call(call("count", TypeKind::BigInt));
    add_call(own);
    EXPECT_EQ(make_word_combine_tables(columns_, {1, kLarge, at::kCPU}, governor_.process_account()), nullptr) << own.function->name;
  }
}

// Every key is added once by each lane.
TEST_F(Combining, KeysOfDifferentLanesMeet) {
  add_key(TypeKind::BigInt);
  add_call(call("count", TypeKind::BigInt));
  constexpr int64_t kKeys = 1'000;
  std::vector<Chunk> chunks;
  for (int i = 0; i < 4; ++i)
    chunks.push_back(chunk_of({Column::fixed(TypeKind::BigInt, at::randperm(kKeys, at::kLong)),
                               Column::fixed(TypeKind::BigInt, at::ones({kKeys}, at::kLong))}));
  const CombineLimits limits{4, kLarge, at::kCPU};
  EXPECT_EQ(check(*make_group_combine_tables(columns_, limits, governor_.process_account()), chunks, 4), kKeys);
  // Direct-mapped tables miss a few merges.
  EXPECT_LT(check(*make_word_combine_tables(columns_, limits, governor_.process_account()), chunks, 4), 1.2 * kKeys);
}

TEST_F(Combining, OnlyIdleTablesAreFlushed) {
  add_key(TypeKind::BigInt);
  add_call(call("count", TypeKind::BigInt));
  const at::Tensor keys = at::arange(1'000, at::kLong);
  const Chunk chunk = chunk_of({Column::fixed(TypeKind::BigInt, keys), Column::fixed(TypeKind::BigInt, at::ones_like(keys))});
  auto rows_in = [](const std::vector<Chunk>& chunks) {
    int64_t rows = 0;
    for (const Chunk& some : chunks) rows += some.rows();
    return rows;
  };
  const CombineLimits limits{3, kLarge, at::kCPU};
  for (auto make : {make_word_combine_tables, make_group_combine_tables}) {
    std::unique_ptr<CombineTables> tables = make(columns_, limits, governor_.process_account());
    const SteadyTime before = std::chrono::steady_clock::now();
    EXPECT_TRUE(tables->flush_idle(before).empty());
    EXPECT_TRUE(tables->add(chunk, {}).empty());
    EXPECT_TRUE(tables->flush_idle(before).empty());
    EXPECT_EQ(tables->held(), 1'000);
    EXPECT_EQ(rows_in(tables->flush_idle(std::chrono::steady_clock::now() + std::chrono::hours(1))), 1'000);
    EXPECT_EQ(std::make_pair(tables->held(), tables->evicted()), std::make_pair(int64_t{0}, int64_t{1'000}));
    EXPECT_EQ(tables->bytes(), 0);
    // They take rows again.
    const int64_t evicted = rows_in(tables->add(chunk, {})) + rows_in(tables->add(chunk, {}));
    const int64_t flushed = rows_in(tables->flush());
    EXPECT_GT(tables->merged(), 900);
    EXPECT_EQ(evicted + flushed, 2'000 - tables->merged());
  }
}

TEST_F(Combining, IdleTablesAreFlushedWhileLanesAdd) {
  add_key(TypeKind::BigInt);
  add_key(TypeKind::Varchar);
  add_call(call("sum", TypeKind::BigInt));
  std::vector<Chunk> chunks;
  for (const at::Tensor& keys : random_keys(20, 200, 2'000)) {
    const at::Tensor sums = at::stack({keys, at::zeros_like(keys)}, 1);
    chunks.push_back(chunk_of({Column::fixed(TypeKind::BigInt, keys), texts(keys.remainder(500)),
                               Column::fixed(LogicalType::decimal(38, 0), sums), Column::fixed(TypeKind::BigInt, at::ones_like(keys))}));
  }
  for (int64_t bytes : {int64_t{1}, int64_t{60'000}, kLarge}) {
    SCOPED_TRACE(bytes);
    for (auto make : {make_word_combine_tables, make_group_combine_tables}) {
      const CombineLimits limits{3, bytes, at::kCPU};
      std::unique_ptr<CombineTables> tables = make(columns_, limits, governor_.process_account());
      std::vector<Chunk> flushed;
      std::atomic<bool> is_over = false;
      std::thread flusher([&] {
        while (!is_over) {
          for (Chunk& rows : tables->flush_idle(SteadyTime::max())) flushed.push_back(std::move(rows));
        }
      });
      check(*tables, chunks, 3, [&] {
        is_over = true;
        flusher.join();
        return std::move(flushed);
      });
    }
  }
}

TEST_F(Combining, OverflowingSumsAreErrors) {
  add_key(TypeKind::BigInt);
  add_call(call("sum", TypeKind::Double));
  auto one_row = [](double sum) {
    return chunk_of({Column::fixed(TypeKind::BigInt, at::ones({1}, at::kLong)), Column::fixed(TypeKind::Double, at::full({1}, sum, at::kDouble)),
                     Column::fixed(TypeKind::BigInt, at::ones({1}, at::kLong))});
  };
  const CombineLimits limits{1, kLarge, at::kCPU};
  std::unique_ptr<CombineTables> tables = make_word_combine_tables(columns_, limits, governor_.process_account());
  check(*tables, {one_row(1), one_row(std::numeric_limits<double>::infinity())}, 1);
  tables = make_word_combine_tables(columns_, limits, governor_.process_account());
  tables->add(one_row(1e308), {});
  tables->add(one_row(1e308), {});
  EXPECT_THROW(tables->flush(), UserError);
}

TEST_F(Combining, OverflowingVariancesAreErrors) {
  add_key(TypeKind::BigInt);
  add_call(call("var_pop", TypeKind::Double));
  auto one_row = [](double mean) {
    std::vector<Column> columns = {Column::fixed(TypeKind::BigInt, at::ones({1}, at::kLong))};
    for (const double moment : {2.0, mean, 1.0}) columns.push_back(Column::fixed(TypeKind::Double, at::full({1}, moment, at::kDouble)));
    return chunk_of(std::move(columns));
  };
  const CombineLimits limits{1, kLarge, at::kCPU};
  std::unique_ptr<CombineTables> tables = make_word_combine_tables(columns_, limits, governor_.process_account());
  check(*tables, {one_row(1), one_row(std::numeric_limits<double>::infinity())}, 1);
  tables = make_word_combine_tables(columns_, limits, governor_.process_account());
  tables->add(one_row(1e200), {});
  tables->add(one_row(-1e200), {});
  EXPECT_THROW(tables->flush(), UserError);
}

// Keys in hash order, as partial aggregation emits them.
Chunk in_hash_order(const at::Tensor& keys) {
  const at::Tensor order = kernels::hash64(keys).bitwise_xor(std::numeric_limits<int64_t>::min()).argsort();
  return Chunk({Column::fixed(TypeKind::BigInt, keys.index_select(0, order))}, keys.numel(), at::kCPU);
}

int64_t rows_of(const std::vector<Chunk>& chunks) {
  int64_t rows = 0;
  for (const Chunk& chunk : chunks) rows += chunk.rows();
  return rows;
}

TEST_F(Combining, RowsLeaveOnceAllSourcesHavePassedThem) {
  add_key(TypeKind::BigInt);
  constexpr int64_t kKeys = 64'000, kStep = 4'000;
  const Chunk rows = in_hash_order(at::arange(kKeys, at::kLong));
  for (const int lanes : {1, 3}) {
    SCOPED_TRACE(lanes);
    const CombineLimits limits{lanes, kLarge, at::kCPU, {2, 5}};
    std::unique_ptr<CombineTables> tables = make_word_combine_tables(columns_, limits, governor_.process_account());
    std::vector<Chunk> left;
    auto add = [&](int source, int64_t begin) {
      tables->begin_message(0, source, begin / kStep);
      std::vector<Chunk> more = tables->add(rows.slice(begin, kStep), {}, 0);
      const int64_t count = rows_of(more);
      for (Chunk& chunk : more) left.push_back(std::move(chunk));
      return count;
    };
    // The other source may still have all of these keys.
    for (int64_t begin = 0; begin < kKeys / 2; begin += kStep) EXPECT_LT(add(2, begin), kStep / 10);
    for (int64_t begin = 0; begin < kKeys / 2; begin += kStep) add(5, begin);
    // All but the last few partitions of 64.
    EXPECT_GT(rows_of(left), kKeys * 24 / 64);
    EXPECT_LT(tables->held(), kKeys * 18 / 64);
    EXPECT_GT(tables->merged(), kKeys * 35 / 100);
    for (int64_t begin = kKeys / 2; begin < kKeys; begin += kStep) add(2, begin), add(5, begin);
    EXPECT_LT(tables->held(), kKeys * 18 / 64);
    for (Chunk& chunk : tables->flush()) left.push_back(std::move(chunk));
    EXPECT_EQ(rows_of(left), 2 * kKeys - tables->merged());
    EXPECT_LT(rows_of(left), kKeys * 114 / 100);
    EXPECT_EQ(merge(left), merge({rows}));
  }
}

TEST_F(Combining, RowsWaitForEarlierMessages) {
  add_key(TypeKind::BigInt);
  constexpr int64_t kKeys = 64'000;
  const Chunk rows = in_hash_order(at::arange(kKeys, at::kLong));
  std::unique_ptr<CombineTables> tables = make_word_combine_tables(columns_, {2, kLarge, at::kCPU, {0}}, governor_.process_account());
  // The second half overtakes the first one.
  tables->begin_message(1, 0, 1);
  EXPECT_LT(rows_of(tables->add(rows.slice(kKeys / 2, kKeys / 2), {}, 1)), kKeys / 20);
  tables->begin_message(0, 0, 0);
  EXPECT_GT(rows_of(tables->add(rows.slice(0, kKeys / 2), {}, 0)), kKeys * 25 / 64);
}

// A few early rows may be sent too soon, which costs their merging, but no more than these.
TEST_F(Combining, SourcesInAnotherOrderMergeAsMuch) {
  add_key(TypeKind::BigInt);
  const CombineLimits limits{1, kLarge, at::kCPU, {0, 1}};
  std::unique_ptr<CombineTables> tables = make_word_combine_tables(columns_, limits, governor_.process_account());
  std::vector<Chunk> chunks;
  for (int i = 0; i < 20; ++i) {
    chunks.push_back(chunk_of({Column::fixed(TypeKind::BigInt, at::randint(0, 5'000, {2'000}, at::kLong))}));
    tables->begin_message(0, i % 2, i / 2);
    tables->add(chunks.back(), {}, 0);
  }
  tables->flush();
  EXPECT_GT(tables->merged(), 33'000);
}

TEST_F(Combining, EmptiedPartsReturnTheirMemory) {
  add_key(TypeKind::BigInt);
  const CombineLimits limits{1, kLarge, at::kCPU};
  std::unique_ptr<CombineTables> tables = make_word_combine_tables(columns_, limits, governor_.process_account());
  const int64_t before = governor_.used();
  tables->add(chunk_of({Column::fixed(TypeKind::BigInt, at::randperm(100'000, at::kLong))}), {});
  const int64_t full = governor_.used() - before;
  EXPECT_GE(full, tables->bytes());
  for (int64_t part = 0; part < tables->parts() / 2; ++part) tables->flush_part(part, SteadyTime::max());
  EXPECT_LT(governor_.used() - before, full * 6 / 10);
  tables->flush();
  EXPECT_EQ(governor_.used(), before);
}

TEST_F(Combining, StaysSmallWithoutMemory) {
  add_key(TypeKind::BigInt);
  MemoryGovernor governor(200'000);
  std::unique_ptr<CombineTables> tables = make_word_combine_tables(columns_, {1, kLarge, at::kCPU}, governor.process_account());
  check(*tables, {chunk_of({Column::fixed(TypeKind::BigInt, at::arange(50'000, at::kLong))})}, 1);
  EXPECT_LE(governor.process_account().peak(), 200'000);
  EXPECT_GT(tables->evicted(), 35'000);
}

}  // namespace
}  // namespace pistachio
