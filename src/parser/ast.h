// The syntax tree, as written; names are not resolved. Our own small tree, so that only the parser depends on libpg_query. Every node has
// its position, a byte offset into the parsed text (-1: none): for operators, AND, IN, BETWEEN and the like that of the word or sign, for
// everything else where it starts. Names are folded to lower case unless quoted. Plain value types. ParseLimits in parse.h bounds the
// depth.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pistachio::ast {

struct Expression;
struct Query;
struct TableReference;

// Deletes chains (a + a + ..., joins, unions: trees as deep as they are long) without recursion, so that any stack is large enough.
// Pointers from std::make_unique convert to these pointers.
struct DeleteTree {
  DeleteTree() = default;
  template <typename Node>
  DeleteTree(std::default_delete<Node>) noexcept {}  // NOLINT: the conversion is the point
  void operator()(Expression* root) const noexcept;
  void operator()(Query* root) const noexcept;
  void operator()(TableReference* root) const noexcept;
};
using ExpressionPtr = std::unique_ptr<Expression, DeleteTree>;
using QueryPtr = std::unique_ptr<Query, DeleteTree>;
using TableReferencePtr = std::unique_ptr<TableReference, DeleteTree>;

// A type as written: "decimal" with modifiers 15, 2. PostgreSQL's internal names are mapped to SQL's: "integer", "bigint", "smallint",
// "real", "double", "boolean", "varchar", "decimal", "date", "time", "timestamp", "timestamptz", "interval", "blob"; others are unchanged.
struct TypeName {
  std::string name;
  std::vector<int64_t> modifiers;
  // INTERVAL '1' DAY: the fields of the literal, lower case ("day", "year to month"); empty: none given.
  std::string interval_fields;
  int64_t position = -1;
};

// ---- expressions

struct Literal {
  enum class Kind { Null, Boolean, Number, Text };
  Kind kind = Kind::Null;
  std::string text;  // Number: digits as written; Boolean: "true" or "false"
};

// a, t.a, s.t.a
struct ColumnName {
  std::vector<std::string> parts;
};

struct SelectItem {
  ExpressionPtr expression;
  std::string alias;
};

// * or t.* in a select list, ALL in ORDER BY, and COLUMNS(...) in an expression, which stands for several.
struct Star {
  struct Renaming {
    std::string from;
    std::string to;
  };
  std::vector<std::string> qualifier;
  bool is_columns = false;                         // COLUMNS(...)
  std::optional<std::string> pattern;              // COLUMNS('pattern'): names that contain a match
  std::vector<std::string> names;                  // COLUMNS(['a', 'b'])
  std::vector<std::vector<std::string>> excluded;  // EXCLUDE (a, t.b)
  std::vector<SelectItem> replaced;                // REPLACE (a + 1 AS a)
  std::vector<Renaming> renamed;                   // RENAME (a AS b)
};

// One or two operands. Names: + - * / % ^ || = <> < <= > >= ~ ~* !~ !~* and the words "like", "not like", "ilike", "not ilike",
// "similar to", "not similar to", "is distinct from", "is not distinct from". LIKE with ESCAPE has the escape as third operand.
struct Operator {
  std::string name;
  std::vector<ExpressionPtr> operands;
};

struct Logical {
  enum class Kind { And, Or, Not };
  Kind kind = Kind::And;
  std::vector<ExpressionPtr> operands;  // AND, OR: two or more
};

struct Test {
  enum class Kind { IsNull, IsNotNull, IsTrue, IsNotTrue, IsFalse, IsNotFalse, IsUnknown, IsNotUnknown };
  Kind kind = Kind::IsNull;
  ExpressionPtr operand;
};

struct Between {
  ExpressionPtr operand;
  ExpressionPtr low;
  ExpressionPtr high;
  bool negated = false;
  bool symmetric = false;
};

struct InList {
  ExpressionPtr operand;
  std::vector<ExpressionPtr> list;
  bool negated = false;
};

struct OrderItem {
  enum class Nulls { Default, First, Last };
  ExpressionPtr expression;  // Star: all columns of the result
  bool descending = false;
  Nulls nulls = Nulls::Default;
};

// Where a frame begins or ends.
struct FrameBound {
  enum class Kind { UnboundedPreceding, Preceding, CurrentRow, Following, UnboundedFollowing };
  Kind kind = Kind::UnboundedPreceding;
  ExpressionPtr offset;  // Preceding, Following
};

struct WindowFrame {
  enum class Unit { Rows, Range, Groups };
  enum class Exclusion { NoOthers, CurrentRow, Group, Ties };
  Unit unit = Unit::Range;
  FrameBound begin;
  FrameBound end;
  Exclusion exclusion = Exclusion::NoOthers;
};

// OVER (...), OVER name, and an entry of the WINDOW clause.
struct WindowDefinition {
  std::string name;  // in the WINDOW clause
  std::string base;  // the named window that this one is, or extends; empty: none
  bool is_reference = false;  // OVER base, without brackets
  std::vector<ExpressionPtr> partition_by;
  std::vector<OrderItem> order_by;
  std::optional<WindowFrame> frame;  // none: the default one
  int64_t position = -1;
};

// Functions and aggregates; also coalesce, nullif, greatest, least, extract(field text, value), current_date, current_timestamp, ...
// Special SQL syntax becomes plain calls: position(a IN b) is strpos(b, a); trim is btrim, ltrim, rtrim (value[, characters]);
// substring(a FROM b FOR c) is substring(a, b, c); overlay(value, new, from[, length]); x AT TIME ZONE z is timezone(z, x);
// current_timestamp(3) has the precision as argument.
struct Call {
  std::string name;
  std::vector<ExpressionPtr> arguments;
  bool star = false;  // count(*)
  bool distinct = false;
  ExpressionPtr filter;
  std::vector<OrderItem> order_by;
  std::unique_ptr<WindowDefinition> over;  // null: no window function
  bool within_group = false;               // order_by is that of WITHIN GROUP
  bool ignore_nulls = false;               // IGNORE NULLS; RESPECT NULLS is the default
};

struct Cast {
  ExpressionPtr operand;
  TypeName type;
};

struct Case {
  struct When {
    ExpressionPtr condition;  // with an operand: the value it is compared with
    ExpressionPtr result;
  };
  ExpressionPtr operand;  // may be null
  std::vector<When> whens;
  ExpressionPtr otherwise;  // may be null
};

struct Subquery {
  // In is `operand = ANY (query)`. NOT IN is a Logical Not of In.
  enum class Kind { Scalar, Exists, In, Any, All };
  Kind kind = Kind::Scalar;
  ExpressionPtr operand;   // In, Any, All
  std::string comparison;  // Any, All: = <> < <= > >=
  QueryPtr query;
};

// (a, b), ROW(a, b)
struct Row {
  std::vector<ExpressionPtr> fields;
};

struct Expression {
  std::variant<Literal, ColumnName, Star, Operator, Logical, Test, Between, InList, Call, Cast, Case, Subquery, Row> node;
  int64_t position = -1;
};

// ---- tables

struct NamedTable {
  std::vector<std::string> parts;
};

// FROM 'file', FROM 'dir/*.parquet'
struct FileTable {
  std::string path;
};

// header = true, names = ['a', 'b'] or types = {'a': 'INTEGER'}; also with := or =>
struct TableOption {
  std::string name;  // in lower case
  std::vector<ExpressionPtr> values;
  std::vector<std::string> keys;  // of {...}
  bool is_list = false;
  int64_t position = -1;
};

// FROM read_parquet('file'), also with a list: read_parquet(ARRAY['a', 'b']) or read_parquet('a', 'b')
struct TableFunction {
  std::string name;
  std::vector<ExpressionPtr> arguments;
  std::vector<TableOption> options;
  bool is_copy = false;  // of COPY FROM: the values have the types of the target's columns
};

struct SubqueryTable {
  QueryPtr query;
  bool lateral = false;
};

struct JoinTable {
  enum class Kind { Inner, Left, Right, Full, Cross, Semi, Anti };
  Kind kind = Kind::Inner;
  bool natural = false;
  std::vector<std::string> using_columns;
  ExpressionPtr condition;  // may be null
  TableReferencePtr left;
  TableReferencePtr right;
};

struct TableReference {
  std::variant<NamedTable, FileTable, TableFunction, SubqueryTable, JoinTable> node;
  std::string alias;
  std::vector<std::string> column_aliases;
  int64_t position = -1;
};

// ---- queries

struct Select {
  bool distinct = false;
  std::vector<ExpressionPtr> distinct_on;
  std::vector<SelectItem> items;
  std::vector<TableReferencePtr> from;  // the comma list
  ExpressionPtr where;
  std::vector<ExpressionPtr> group_by;
  bool group_by_all = false;      // GROUP BY ALL: by all items of the select list without an aggregate
  bool group_by_nothing = false;  // GROUP BY (): one group, even without rows
  // GROUPING SETS, ROLLUP and CUBE, multiplied out: each set as places in group_by.
  std::optional<std::vector<std::vector<size_t>>> grouping_sets;
  bool distinct_sets = false;  // GROUP BY DISTINCT: equal sets count once
  ExpressionPtr having;
  std::vector<WindowDefinition> windows;  // the WINDOW clause
  ExpressionPtr qualify;
};

struct Values {
  std::vector<std::vector<ExpressionPtr>> rows;
};

struct SetOperation {
  enum class Kind { Union, Intersect, Except };
  Kind kind = Kind::Union;
  bool all = false;
  QueryPtr left;
  QueryPtr right;
};

struct CommonTable {
  std::string name;
  std::vector<std::string> column_aliases;
  QueryPtr query;
  // AS MATERIALIZED, AS NOT MATERIALIZED
  std::optional<bool> materialized;
  int64_t position = -1;
};

struct Query {
  std::vector<CommonTable> with;
  bool recursive = false;
  std::variant<Select, Values, SetOperation> body;
  std::vector<OrderItem> order_by;
  ExpressionPtr limit;  // null: none (LIMIT ALL too)
  bool with_ties = false;  // FETCH ... WITH TIES
  ExpressionPtr offset;
  int64_t position = -1;
};

// ---- statements

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;

struct SelectStatement {
  QueryPtr query;
};

struct CreateView {
  std::vector<std::string> name;
  std::vector<std::string> column_aliases;
  QueryPtr query;
  bool or_replace = false;
  bool temporary = false;
  std::string query_text;  // as written
};

struct ColumnDefinition {
  std::string name;
  TypeName type;
  bool not_null = false;
  ExpressionPtr default_value;  // may be null
  int64_t position = -1;
};

// What the rows of a table must fulfil.
struct TableRules {
  struct Check {
    std::string name;
    std::string condition;  // as SQL
  };
  struct Key {
    std::string name;
    std::vector<std::string> columns;
    bool is_primary = false;  // not only unique but not NULL
  };
  std::vector<Check> checks;
  std::vector<Key> keys;
};

// With a query or with column definitions.
struct CreateTable {
  std::vector<std::string> name;
  std::vector<ColumnDefinition> columns;
  TableRules rules;
  std::vector<std::string> column_aliases;  // of CREATE TABLE t(a, b) AS
  QueryPtr query;
  bool temporary = false;
  bool if_not_exists = false;
  bool or_replace = false;
};

struct Insert {
  std::vector<std::string> table;
  std::vector<std::string> columns;
  QueryPtr query;      // null: DEFAULT VALUES
  QueryPtr returning;  // over the inserted rows under the table's name; may be null
};

struct Update {
  std::vector<std::string> table;
  std::vector<std::string> columns;
  std::vector<bool> sets_default;  // by column: SET a = DEFAULT
  // Each row of the table, whether it is changed, and the new value of each of `columns`, NULL for other rows.
  QueryPtr query;
  QueryPtr returning;  // over the changed rows
};

struct Delete {
  std::vector<std::string> table;
  QueryPtr query;      // each row of the table, and whether it is deleted
  QueryPtr returning;  // over the deleted rows
};

struct Truncate {
  std::vector<std::vector<std::string>> tables;
};

// One change of ALTER TABLE.
struct AlterTable {
  enum class Kind {
    AddColumn,
    DropColumn,
    RenameColumn,
    RenameTable,
    RenameView,
    SetDefault,
    DropDefault,
    SetNotNull,
    DropNotNull,
    SetType,
    AddConstraint,
    DropConstraint
  };
  Kind kind = Kind::AddColumn;
  std::vector<std::string> table;
  bool if_exists = false;   // the table
  bool missing_ok = false;  // the column: IF [NOT] EXISTS
  std::string column;       // or the constraint
  std::string new_name;
  ColumnDefinition definition;  // AddColumn; SetDefault and SetType use a part of it
  TableRules rules;             // AddConstraint
};

struct AlterTables {
  std::vector<AlterTable> changes;
};

struct CreateIndex {
  std::string name;
  std::vector<std::string> table;
  std::vector<std::string> columns;
  bool is_unique = false;
  bool if_not_exists = false;
};

struct CreateSchema {
  std::string name;
  bool if_not_exists = false;
};

struct Transaction {
  enum class Kind { Begin, Commit, Rollback };
  Kind kind = Kind::Begin;
};

struct Drop {
  enum class Kind { Table, View, Schema, Index };
  Kind kind = Kind::Table;
  std::vector<std::vector<std::string>> names;
  bool if_exists = false;
};

struct Explain {
  enum class Format { Text, Json };
  bool analyze = false;
  Format format = Format::Text;
  StatementPtr statement;
};

// SET name = value; RESET name and SET name TO DEFAULT have no value; RESET ALL has the name "all".
struct Set {
  std::string name;
  std::optional<std::string> value;
};

// SHOW name, SHOW ALL (name "all"), SHOW TABLES (name "tables"), SHOW FUNCTIONS (name "functions")
struct Show {
  std::string name;
};

// DESCRIBE table, DESCRIBE 'file', DESCRIBE SELECT ...: all become a query
struct Describe {
  QueryPtr query;
};

// COPY (query) TO 'file' (...), COPY table TO 'file' (...). COPY FROM becomes an INSERT.
struct Copy {
  struct Option {
    std::string name;                 // in lower case
    std::vector<std::string> values;  // as text; empty: the option alone, which means true
  };
  QueryPtr query;  // ordered by `partition_by` if there is any
  std::string path;
  std::vector<std::string> partition_by;
  std::vector<Option> options;  // the others
};

struct Statement {
  std::variant<SelectStatement, CreateView, CreateTable, Insert, Update, Delete, Truncate, AlterTables, CreateIndex, CreateSchema,
               Transaction, Drop, Explain, Set, Show, Describe, Copy>
      node;
  int64_t position = -1;
  std::string text;  // as written, without the semicolon
};

}  // namespace pistachio::ast
