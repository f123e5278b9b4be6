#include "physical/plan_serializer.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/byte_stream.h"
#include "base/check.h"
#include "expr/function_table.h"

namespace pistachio {

namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw PeerError(fmt::format("a plan from another rank is damaged: {}", what));
}

// Of the sizes of the files, in their order.
uint64_t fingerprint(const ParquetTable& table) {
  uint64_t made = table.files.size();
  for (const TableFile& file : table.files) made = made * 1099511628211U + static_cast<uint64_t>(file.file->size());
  return made;
}

// Makes paths absolute: other ranks may have been started in another folder.
class AbsolutePaths {
 public:
  std::string of(const std::string& path) {
    if (path.starts_with('/') || path.find("://") != std::string::npos) return path;
    if (folder_.empty()) {
      // Not std::filesystem: CUDA builds of libtorch export functions of that name that crash when others call them.
      char* current = ::getcwd(nullptr, 0);
      if (current == nullptr) throw UserError(fmt::format("cannot find the current folder, where {} is: {}", path, std::strerror(errno)));
      folder_ = current;
      std::free(current);
    }
    return folder_ + "/" + path;
  }

 private:
  std::string folder_;
};

// Longer ones are not from a file system or store.
constexpr size_t kLongestPath = 16 << 10;

// The files of ranks differ, but a table has the same columns on all.
void require_same_columns(const std::string& table, const std::vector<TableColumnInfo>& first, const std::vector<TableColumnInfo>& own) {
  auto describe = [](const std::vector<TableColumnInfo>& columns, size_t i) {
    return i < columns.size() ? fmt::format("{} {}", columns[i].name, columns[i].type.to_string()) : std::string("nothing");
  };
  for (size_t i = 0; i < std::max(first.size(), own.size()); ++i) {
    if (describe(first, i) == describe(own, i)) continue;
    throw UserError(fmt::format("the files of table {} have other columns here than on rank 0: column {} is {}, there it is {}", table, i + 1,
                                describe(own, i), describe(first, i)));
  }
}

// The fields of each struct, listed once for writer and reader.
template <typename Walker, typename... Parts>
void walk_all(Walker& walker, Parts&&... parts) {
  (walker.part(parts), ...);
}

#define PISTACHIO_PARTS(Struct, ...)             \
  template <typename Walker>                     \
  void walk(Walker& walker, Struct& s) {         \
    walk_all(walker __VA_OPT__(, ) __VA_ARGS__); \
    (void)s;                                     \
  }                                              \
  template <typename Walker>                     \
  void walk(Walker& walker, const Struct& s) {   \
    walk_all(walker __VA_OPT__(, ) __VA_ARGS__); \
    (void)s;                                     \
  }

PISTACHIO_PARTS(Distribution, s.kind, s.keys, s.equal_keys)
PISTACHIO_PARTS(RangeFilter, s.column, s.comparison, s.constant)
PISTACHIO_PARTS(JoinKey, s.left, s.right, s.null_safe)
PISTACHIO_PARTS(JoinBound, s.left, s.right, s.is_upper, s.is_inclusive)
PISTACHIO_PARTS(AggregateCall, s.id, s.function, s.argument, s.distinct, s.filter, s.type)
PISTACHIO_PARTS(FrameBound, s.kind, s.count, s.value)
PISTACHIO_PARTS(WindowFrame, s.unit, s.begin, s.end, s.exclusion, s.range_key)
PISTACHIO_PARTS(WindowCall, s.id, s.kind, s.aggregate, s.arguments, s.filter, s.distinct, s.ignore_nulls, s.frame, s.order_keys, s.type)
PISTACHIO_PARTS(SortKey, s.expression, s.descending, s.nulls_first)
PISTACHIO_PARTS(TableColumnInfo, s.name, s.type, s.unsupported, s.not_null)
PISTACHIO_PARTS(TextDialect, s.delimiter, s.quote, s.escape, s.line_end, s.comment, s.pads_nulls, s.quoted_may_be_null, s.date_order,
                s.null_texts)
PISTACHIO_PARTS(RowFileColumn, s.name, s.type, s.partition, s.is_filename, s.unsupported)
PISTACHIO_PARTS(RowFile, s.path, s.size, s.compression, s.dialect, s.layout, s.first_byte, s.first_line, s.fields, s.sources, s.texts,
                s.are_null)
PISTACHIO_PARTS(RowFileTable, s.format, s.columns, s.files, s.members, s.are_objects, s.refuses_unknown, s.ignore_errors, s.estimated_rows,
                s.record_bytes)
PISTACHIO_PARTS(ScanJoinFilter, s.number, s.columns)
PISTACHIO_PARTS(ScanTopFilter, s.number, s.column, s.descending, s.nulls_first, s.announces_rows)
PISTACHIO_PARTS(BuildSideFilter, s.number, s.keys, s.expected_keys)
PISTACHIO_PARTS(PhysicalScan, s.table, s.is_split, s.is_everywhere, s.sources, s.filters, s.conditions, s.join_filters, s.top_filter,
                s.row_tests)
PISTACHIO_PARTS(PhysicalValues, s.rows)
PISTACHIO_PARTS(PhysicalFilter, s.conditions)
PISTACHIO_PARTS(PhysicalProject, s.columns)
PISTACHIO_PARTS(PhysicalJoin, s.kind, s.keys, s.bounds, s.conditions, s.comparisons, s.compared_keys, s.mark, s.filter)
PISTACHIO_PARTS(PhysicalAggregate, s.groups, s.calls, s.stage, s.states, s.in_hash_order)
PISTACHIO_PARTS(PhysicalSort, s.keys, s.limit, s.on_each_rank, s.filter)
PISTACHIO_PARTS(PhysicalLimit, s.limit, s.offset, s.on_each_rank)
PISTACHIO_PARTS(PhysicalGroupLimit, s.groups, s.keys, s.limit, s.offset)
PISTACHIO_PARTS(PhysicalWindow, s.partition, s.order, s.calls, s.kept)
PISTACHIO_PARTS(PhysicalUnion)
PISTACHIO_PARTS(PhysicalSharedRead, s.shared, s.places)
PISTACHIO_PARTS(PhysicalRecursion, s.working_table, s.keeps_all)
PISTACHIO_PARTS(PhysicalWorkingRead, s.working_table, s.places)
PISTACHIO_PARTS(PhysicalRepeat, s.times)
PISTACHIO_PARTS(CombiningTerms, s.hosts, s.groups, s.helpers, s.on_arrival, s.again_on_arrival, s.may_be_off, s.link_seconds, s.row_bytes)
PISTACHIO_PARTS(PhysicalExchange, s.kind, s.keys, s.number, s.order, s.spreads, s.partner, s.combining, s.filter)

#undef PISTACHIO_PARTS

// In place of the index of an aggregate: count(*), and none.
constexpr int32_t kCountRows = -1;
constexpr int32_t kNoAggregate = -2;

class PlanWriter {
 public:
  std::string write(const PhysicalPlan& plan) {
    out_.put<uint64_t>(plan.columns.size());
    for (size_t i = 0; i < plan.columns.size(); ++i) {
      ColumnId id{static_cast<int32_t>(i)};
      out_.put_text(plan.columns.name(id));
      part(plan.columns.type(id));
    }
    out_.put<uint64_t>(plan.exchanges);
    out_.put<uint64_t>(plan.filters);
    out_.put<uint64_t>(plan.top_filters);
    out_.put<bool>(local_files_ = plan.local_files);
    out_.put<uint64_t>(plan.shared.size());
    for (const PhysicalPtr& shared : plan.shared) {
      out_.put<bool>(shared != nullptr);
      if (shared) node(*shared);
    }
    node(*plan.root);
    return out_.take();
  }

  void part(const bool& value) { out_.put(value); }
  void part(const char& value) { out_.put(value); }
  void part(const uint8_t& value) { out_.put(value); }
  void part(const int64_t& value) { out_.put(value); }
  void part(const size_t& value) { out_.put<uint64_t>(value); }
  void part(const double& value) { out_.put(value); }
  void part(const ColumnId& id) { out_.put(id.value); }
  void part(const std::string& text) { out_.put_text(text); }
  template <typename Choice>
  requires std::is_enum_v<Choice>
  void part(const Choice& choice) { out_.put(static_cast<int32_t>(choice)); }
  void part(const LogicalType& type) {
    part(type.kind());
    out_.put(static_cast<uint8_t>(type.precision()));
    out_.put(static_cast<uint8_t>(type.scale()));
  }
  void part(const ScalarValue& value) {
    part(value.type);
    out_.put(value.is_null);
    out_.put(value.integer);
    out_.put(value.floating);
    out_.put_text(value.text);
  }
  template <typename Value>
  void part(const std::optional<Value>& value) {
    out_.put<bool>(value.has_value());
    if (value) part(*value);
  }
  template <typename Value>
  void part(const std::vector<Value>& values) {
    out_.put<uint64_t>(values.size());
    for (const Value& value : values) part(value);
  }
  void part(const ExpressionPtr& expression);
  void part(const TablePtr& table);
  void part(const AggregateFunction* const& function) {
    auto all = all_aggregates();
    auto found = std::find_if(all.begin(), all.end(), [&](const AggregateFunction& one) { return &one == function; });
    const int32_t place = function == nullptr ? kNoAggregate : found == all.end() ? kCountRows : static_cast<int32_t>(found - all.begin());
    out_.put<int32_t>(place);
  }
  template <typename Struct>
  requires requires(PlanWriter& writer, const Struct& value) { walk(writer, value); }
  void part(const Struct& value) { walk(*this, value); }

 private:
  void node(const PhysicalNode& written) {
    out_.put<uint8_t>(static_cast<uint8_t>(written.node.index()));
    std::visit([&](const auto& own) { walk(*this, own); }, written.node);
    part(written.layout);
    part(written.distribution);
    part(written.estimated_rows);
    out_.put<uint64_t>(written.children.size());
    for (const PhysicalPtr& child : written.children) node(*child);
  }

  ByteWriter out_;
  bool local_files_ = false;
  std::map<const Expression*, uint32_t> known_;  // shared subexpressions are written once
};

class PlanReader {
 public:
  PlanReader(std::string_view bytes, const TableOpener& open) : in_(bytes), open_(open) {}

  PhysicalPlan read() {
    PhysicalPlan plan;
    size_t columns = in_.get_count();
    for (size_t i = 0; i < columns; ++i) {
      std::string name = in_.get_text();
      LogicalType type = TypeKind::BigInt;
      part(type);
      plan.columns.add(std::move(name), type);
    }
    plan.exchanges = in_.get<uint64_t>();
    plan.filters = in_.get<uint64_t>();
    plan.top_filters = in_.get<uint64_t>();
    plan.local_files = local_files_ = in_.get<bool>();
    size_t shared = in_.get_count();
    for (size_t i = 0; i < shared; ++i) plan.shared.push_back(in_.get<bool>() ? node() : nullptr);
    plan.root = node();
    if (in_.left() != 0) refuse("bytes follow its end");
    return plan;
  }

  void part(bool& value) { value = in_.get<bool>(); }
  void part(char& value) { value = in_.get<char>(); }
  void part(uint8_t& value) { value = in_.get<uint8_t>(); }
  void part(int64_t& value) { value = in_.get<int64_t>(); }
  void part(size_t& value) { value = in_.get<uint64_t>(); }
  void part(double& value) { value = in_.get<double>(); }
  void part(ColumnId& id) { id.value = in_.get<int32_t>(); }
  void part(std::string& text) { text = in_.get_text(); }
  template <typename Choice>
  requires std::is_enum_v<Choice>
  void part(Choice& choice) { choice = static_cast<Choice>(in_.get<int32_t>()); }
  void part(LogicalType& type) {
    TypeKind kind{};
    part(kind);
    auto precision = in_.get<uint8_t>();
    auto scale = in_.get<uint8_t>();
    type = kind == TypeKind::Decimal ? LogicalType::decimal(precision, scale) : LogicalType(kind);
  }
  void part(ScalarValue& value) {
    part(value.type);
    value.is_null = in_.get<bool>();
    value.integer = in_.get<Int128>();
    value.floating = in_.get<double>();
    value.text = in_.get_text();
  }
  template <typename Value>
  void part(std::optional<Value>& value) {
    if (in_.get<bool>()) part(value.emplace());
  }
  template <typename Value>
  void part(std::vector<Value>& values) {
    size_t count = in_.get_count();
    for (size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<Value, ScalarValue>) {
        part(values.emplace_back(ScalarValue{TypeKind::BigInt}));
      } else {
        part(values.emplace_back());
      }
    }
  }
  void part(ExpressionPtr& expression);
  void part(TablePtr& table);
  void part(const AggregateFunction*& function) {
    auto place = in_.get<int32_t>();
    auto all = all_aggregates();
    if (place >= static_cast<int32_t>(all.size()) || place < kNoAggregate) refuse("it calls an aggregate that does not exist");
    function = place == kNoAggregate ? nullptr : place == kCountRows ? &count_rows_aggregate() : &all[static_cast<size_t>(place)];
  }
  template <typename Struct>
  requires requires(PlanReader& reader, Struct& value) { walk(reader, value); }
  void part(Struct& value) { walk(*this, value); }

 private:
  using Node = decltype(PhysicalNode::node);

  template <size_t Index = 0>
  void make_node(Node& made, size_t index) {
    if constexpr (Index == std::variant_size_v<Node>) {
      refuse("it has a step that does not exist");
    } else if (index == Index) {
      walk(*this, made.template emplace<Index>());
    } else {
      make_node<Index + 1>(made, index);
    }
  }

  PhysicalPtr node() {
    auto made = std::make_unique<PhysicalNode>();
    make_node(made->node, in_.get<uint8_t>());
    part(made->layout);
    part(made->distribution);
    part(made->estimated_rows);
    size_t children = in_.get_count();
    for (size_t i = 0; i < children; ++i) made->children.push_back(node());
    return made;
  }

  ByteReader in_;
  bool local_files_ = false;
  const TableOpener& open_;
  std::vector<ExpressionPtr> known_;
};

// What a scan relies on; the bytes came from another rank.
void check_row_files(const RowFileTable& table) {
  for (const RowFile& file : table.files) {
    const int64_t fields = table.format == FileFormat::Json ? static_cast<int64_t>(table.members.size()) : file.fields;
    const bool fits = file.sources.size() == table.columns.size() && file.texts.size() == table.columns.size() &&
                      file.are_null.size() == table.columns.size() && file.fields >= 0 && file.fields <= INT32_MAX && file.first_byte >= 0;
    if (!fits || std::any_of(file.sources.begin(), file.sources.end(), [&](int64_t source) { return source >= fields; }))
      refuse("a file has other columns than its table");
  }
}

constexpr uint32_t kNoExpression = UINT32_MAX;

void PlanWriter::part(const ExpressionPtr& expression) {
  if (!expression) return out_.put(kNoExpression);
  auto known = known_.find(expression.get());
  if (known != known_.end()) return out_.put(known->second);
  ENSURE(known_.size() < kNoExpression);
  auto number = static_cast<uint32_t>(known_.size());
  known_.emplace(expression.get(), number);
  out_.put(number);
  part(expression->kind());
  part(expression->type());
  out_.put(expression->position());
  part(expression->children());
  if (expression->kind() == ExpressionKind::Constant) {
    part(expression->value());
    out_.put(expression->is_untyped());
  } else if (expression->kind() == ExpressionKind::Column) {
    part(expression->column_id());
  } else if (expression->kind() == ExpressionKind::Call) {
    const std::vector<const Function*>& all = all_functions();
    auto found = std::find(all.begin(), all.end(), &expression->function());
    ENSURE(found != all.end(), "function {} is in no table", expression->function().name);
    out_.put<uint32_t>(static_cast<uint32_t>(found - all.begin()));
  }
}

void PlanReader::part(ExpressionPtr& expression) {
  auto number = in_.get<uint32_t>();
  if (number == kNoExpression) return;
  if (number < known_.size()) {
    expression = known_[number];
    if (!expression) refuse("an expression contains itself");
    return;
  }
  if (number != known_.size()) refuse("an expression is missing");
  known_.emplace_back();
  ExpressionKind kind{};
  LogicalType type = TypeKind::BigInt;
  part(kind);
  part(type);
  auto position = in_.get<int64_t>();
  std::vector<ExpressionPtr> children;
  part(children);
  if (std::find(children.begin(), children.end(), nullptr) != children.end()) refuse("an expression lacks an operand");
  switch (kind) {
    case ExpressionKind::Constant: {
      ScalarValue value{type};
      part(value);
      bool is_untyped = in_.get<bool>();
      expression = is_untyped ? Expression::untyped(std::move(value), position) : Expression::constant(std::move(value), position);
      break;
    }
    case ExpressionKind::Column: {
      ColumnId id;
      part(id);
      expression = Expression::column(id, type, position);
      break;
    }
    case ExpressionKind::Call: {
      auto place = in_.get<uint32_t>();
      if (place >= all_functions().size()) refuse("it calls a function that does not exist");
      expression = Expression::call(*all_functions()[place], std::move(children), type, position);
      break;
    }
    case ExpressionKind::Cast:
      if (children.size() != 1) refuse("a cast lacks its operand");
      expression = Expression::cast(children[0], type, position);
      break;
    case ExpressionKind::And:
    case ExpressionKind::Or: expression = Expression::logical(kind, std::move(children), position); break;
    case ExpressionKind::Case:
    case ExpressionKind::Coalesce: expression = Expression::conditional(kind, std::move(children), type, position); break;
    default: refuse("an expression has an unknown kind");
  }
  known_[number] = expression;
}

void PlanWriter::part(const TablePtr& table) {
  part(table->name());
  out_.put<bool>(table->is_in_memory());
  if (table->is_in_memory()) return part(table->columns());
  out_.put<bool>(table->has_footers());
  if (!table->has_footers()) {
    AbsolutePaths absolute;
    RowFileTable files = *table->row_files();
    for (RowFile& file : files.files) file.path = absolute.of(file.path);
    return part(files);
  }
  const TableListing& listing = *table->files().listing;
  AbsolutePaths absolute;
  std::vector<std::string> patterns;
  for (const std::string& pattern : listing.patterns) patterns.push_back(absolute.of(pattern));
  part(patterns);
  if (local_files_) return part(table->columns());
  out_.put(static_cast<uint64_t>(listing.keys.size()));
  for (const PartitionKey& key : listing.keys) {
    part(key.name);
    part(key.type);
  }
  // The paths of a table's files have most of their characters in common.
  out_.put(static_cast<uint64_t>(table->files().places.size()));
  std::string previous;
  for (size_t place : table->files().places) {
    std::string path = absolute.of(listing.files[place].path);
    const size_t same = static_cast<size_t>(std::mismatch(path.begin(), path.end(), previous.begin(), previous.end()).first - path.begin());
    out_.put(static_cast<uint32_t>(same));
    out_.put_text(std::string_view(path).substr(same));
    for (const auto& [key, value] : listing.files[place].partitions) out_.put_text(value);
    previous = std::move(path);
  }
  out_.put(fingerprint(table->files()));
}

void PlanReader::part(TablePtr& table) {
  std::string name = in_.get_text();
  if (in_.get<bool>()) {
    std::vector<TableColumnInfo> columns;
    size_t count = in_.get_count();
    for (size_t i = 0; i < count; ++i) part(columns.emplace_back(TableColumnInfo{"", TypeKind::BigInt, "", false}));
    table = Table::of_chunks(std::move(name), std::move(columns), {}, {});
    return;
  }
  if (!in_.get<bool>()) {
    RowFileTable files;
    part(files);
    check_row_files(files);
    table = Table::of_row_files(std::move(name), std::move(files));
    return;
  }
  TableListing listing;
  part(listing.patterns);
  if (local_files_) {
    std::vector<TableColumnInfo> columns;
    size_t count = in_.get_count();
    for (size_t i = 0; i < count; ++i) part(columns.emplace_back(TableColumnInfo{"", TypeKind::BigInt, "", false}));
    table = open_(name, std::move(listing));
    return require_same_columns(name, columns, table->columns());
  }
  listing.keys.resize(in_.get_count(sizeof(uint64_t)));
  for (PartitionKey& key : listing.keys) {
    key.name = in_.get_text();
    part(key.type);
    const TypeKind kind = key.type.kind();
    if (key.name.size() > kLongestPath || (kind != TypeKind::BigInt && kind != TypeKind::Date && kind != TypeKind::Varchar))
      refuse("a partition column is wrong");
  }
  const size_t files = in_.get_count(sizeof(uint32_t) + (1 + listing.keys.size()) * sizeof(uint64_t));
  std::string path;
  for (size_t i = 0; i < files; ++i) {
    const size_t same = in_.get<uint32_t>();
    if (same > path.size()) refuse("a path is too short");
    path = path.substr(0, same) + in_.get_text();
    if (path.size() > kLongestPath) refuse("a path is too long");
    FoundFile& file = listing.files.emplace_back(FoundFile{path, {}});
    for (const PartitionKey& key : listing.keys) file.partitions.emplace_back(key.name, in_.get_text());
  }
  const auto expected = in_.get<uint64_t>();
  if (listing.files.empty()) refuse("a table has no files");
  const std::string pattern = listing.patterns.empty() ? "they" : listing.patterns[0];
  table = open_(name, std::move(listing));
  if (fingerprint(table->files()) != expected)
    throw UserError(fmt::format("the files of table {} are not those that rank 0 sees; {} must be the same files for all ranks", name, pattern));
}

}  // namespace

std::string serialize_plan(const PhysicalPlan& plan) {
  return PlanWriter().write(plan);
}

PhysicalPlan deserialize_plan(std::string_view bytes, const TableOpener& open) {
  return PlanReader(bytes, open).read();
}

}  // namespace pistachio
