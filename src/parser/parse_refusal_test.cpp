// Unsupported syntax is rejected by name. The mark ^ is the expected position.
#include <gtest/gtest.h>

#include <utility>

#include "parser/parse_harness.h"

namespace pistachio {
namespace {

using Cases = std::vector<std::pair<const char*, const char*>>;

void expect_refused(const Cases& cases) {
  for (const auto& [marked, what] : cases) expect_failure_at_mark(marked, std::string(what) + " is not supported");
}

TEST(ParseRefusal, Statements) {
  expect_refused({{"^merge into t using s on a when matched then do nothing", "MERGE"},
                  {"copy t to ^stdout", "COPY with STDIN or STDOUT (--format writes results to the standard output)"},
                  {"copy t to ^program 'cat'", "COPY with PROGRAM"},
                  {"copy t from 'f' ^where true", "WHERE in COPY (use INSERT INTO ... SELECT)"},
                  {"^create or replace function f() returns int language sql as 'select 1'", "CREATE FUNCTION"},
                  {"^create materialized view v as select 1", "CREATE MATERIALIZED VIEW"},
                  {"^drop materialized view s", "DROP MATERIALIZED VIEW"},
                  {"^vacuum", "VACUUM"},
                  {"^analyze t", "ANALYZE"},
                  {"^prepare p as select 1", "PREPARE"},
                  {"^grant select on t to u", "GRANT"},
                  {"^listen x", "LISTEN"},
                  {"explain ^create materialized view v as select 1", "CREATE MATERIALIZED VIEW"}});
}

TEST(ParseRefusal, Copies) {
  expect_failure_at_mark("copy t ^from 'f'", "the format of f is unknown: add (FORMAT csv), json, arrow or parquet");
  expect_failure_at_mark("copy t from 'f' (^format avro)", "FORMAT of COPY FROM is csv, json, arrow or parquet");
  expect_failure_at_mark("^copy (insert into t values (1) returning a) to 'f'", "COPY takes a query or a table");
  expect_failure_at_mark("copy t to 'f' (^partition_by)", "PARTITION_BY of COPY takes one list of columns");
  expect_failure_at_mark("copy t to 'f' (^partition_by (a), partition_by (b))", "PARTITION_BY of COPY takes one list of columns");
}

TEST(ParseRefusal, PartsOfStatements) {
  expect_refused({{"^set local a = 1", "SET LOCAL"},
                  {"^set a = 1, 2", "A list of values in SET"},
                  {"^set a from current", "SET ... FROM CURRENT"},
                  {"^set transaction read only", "SET TRANSACTION"},
                  {"explain (analyze, ^costs off) select 1", "COSTS of EXPLAIN"},
                  {"explain analyze ^verbose select 1", "VERBOSE of EXPLAIN"},
                  {"explain (^format yaml) select 1", "This format of EXPLAIN (only TEXT and JSON)"},
                  {"create ^recursive view v (a) as select 1", "RECURSIVE VIEW"},
                  {"create view ^v with (security_barrier) as select 1", "WITH (options) of a view"},
                  {"create view v as select 1 with ^check option", "WITH CHECK OPTION"},
                  {"create ^unlogged table t (a int)", "UNLOGGED"},
                  {"create table ^t (like u)", "LIKE of another table"},
                  {"create table ^t (a int) inherits (u)", "INHERITS or PARTITION OF"},
                  {"create table t (a int) ^partition by list (a)", "PARTITION BY"},
                  {"create table t of ^u", "A table OF a type"},
                  {"create table ^t (a int) with (x = 1)", "WITH (options) of a table"},
                  {"create temp table t (a int) ^on commit drop", "ON COMMIT"},
                  {"create table t (a int) ^tablespace s", "TABLESPACE"},
                  {"create table t (a int ^references u)", "A foreign key"},
                  {"create table t (a int ^generated always as identity)", "GENERATED AS IDENTITY"},
                  {"create table t (a ^int[])", "An array type"},
                  {"create table t (a text ^collate \"de\")", "This collation (only \"C\")"},
                  {"create table t as select 1 with ^no data", "WITH NO DATA"},
                  {"create table t as ^execute p", "EXECUTE"},
                  {"^with q as (select 1) insert into t select 1", "WITH before INSERT (write it after the table name)"},
                  {"insert into t values (1) ^on conflict do nothing", "ON CONFLICT"},
                  {"insert into ^t as u values (1)", "An alias of the table in INSERT"},
                  {"insert into t values (^default)", "DEFAULT as a value"},
                  {"insert into t (^a[1]) values (1)", "A subscript or field of a column"},
                  {"drop table t ^cascade", "CASCADE"}});
}

TEST(ParseRefusal, PartsOfQueries) {
  expect_refused({{"select 1 ^into t", "SELECT INTO"},
                  {"select a from t ^for update", "FOR UPDATE"},
                  {"select a from t ^for share", "FOR SHARE"},
                  {"select a from t ^for no key update", "FOR NO KEY UPDATE"},
                  {"select a from t order by a using ^>", "ORDER BY ... USING"},
                  {"with ^q as (insert into t values (1) returning a) select 1", "A statement that changes data in WITH"},
                  {"select * from t ^tablesample system (1)", "TABLESAMPLE"},
                  {"select * from only ^t", "ONLY"},
                  {"select * from ^rows from (f(1))", "ROWS FROM"},
                  {"select * from f(1) ^with ordinality", "WITH ORDINALITY"},
                  {"select * from ^f(1) as x(a int)", "A column definition list"},
                  {"select * from ^t join u using (a) as x", "An alias of USING (x)"}});
}

TEST(ParseRefusal, Expressions) {
  expect_refused({{"select ^$1", "A parameter ($1)"},
                  {"select ^array[1]", "An array"},
                  {"select ^array(select 1)", "An array"},
                  {"select f(^['a'])", "An array"},
                  {"select ^a[1]", "A subscript or field of a value"},
                  {"select (^a).b", "A subscript or field of a value"},
                  {"select f(^a => 1)", "A named argument"},
                  {"select ^f(variadic a)", "VARIADIC"},
                  {"select ^s.f(1)", "A function with a schema name"},
                  {"select ^xmlparse(document 'x')", "XML"},
                  {"select ^b'101'", "A bit string"},
                  {"select a ^collate \"de_DE\"", "The collation \"de_DE\" (only \"C\")"},
                  {"select a ^@@ b", "The operator @@"},
                  {"select a ^&& b", "The operator &&"},
                  {"select ^@ a", "The prefix operator @"},
                  {"select a ^operator(pg_catalog.+) b", "OPERATOR(schema.name)"},
                  {"select a ^= any (b)", "ANY over an array value"},
                  {"select a ^= all (b)", "ALL over an array value"},
                  {"select a ^< any (array[1])", "The operator < ANY over a list"},
                  {"select a ^= all (array[1])", "The operator = ALL over a list"},
                  {"select a ^= any (array[]::int[])", "ANY over an array value"},
                  {"select a ^like any (select 1)", "The operator ~~ with a subquery"},
                  {"select a::^int[]", "An array type"},
                  {"select a::^s.t", "A type with a schema name"},
                  {"select a::^t(x)", "A type modifier that is not an integer"}});
  expect_failure_at_mark("select count(^t.*) from t", "* can only stand in a select list and in count(*)");
  expect_failure_at_mark("select 1 from t where ^t.*", "* can only stand in a select list and in count(*)");
  expect_failure_at_mark("^select from t", "SELECT needs at least one column");
  expect_failure_at_mark("create table ^t ()", "a table needs at least one column");
}

TEST(ParseRefusal, Describe) {
  expect_failure_at_mark("^describe", "DESCRIBE needs a table, a file or a query");
  expect_failure_at_mark("^describe t where a", "DESCRIBE takes one table, one file or one query");
  expect_failure_at_mark("^describe t, u", "DESCRIBE takes one table, one file or one query");
  expect_failure_at_mark("describe t ^1", "syntax error at or near \"1\"");
  expect_failure_at_mark("describe ^with q as (select 1) insert into t select 1", "DESCRIBE needs a table, a file or a query");
}

TEST(ParseError, SyntaxErrors) {
  expect_failure_at_mark("^selec 1", "syntax error at or near \"selec\"");
  expect_failure_at_mark("select 1; ^selec 2", "syntax error at or near \"selec\"");
  expect_failure_at_mark("select 1 from^", "syntax error at end of input");
  expect_failure_at_mark("select 1 from^  -- comment\n ; select 2", "syntax error at end of input");
  expect_failure_at_mark("select (1^", "syntax error at end of input");
  expect_failure_at_mark("select ^4GB", "trailing junk after numeric literal at or near \"4G\"");
  expect_failure_at_mark("select ^'abc", "unterminated quoted string");
  expect_failure_at_mark("select 1; select ^\"abc", "unterminated quoted identifier");
  expect_failure_at_mark("select 1 ^/* abc", "unterminated comment");
  expect_failure_at_mark("select ^$x$ abc", "unterminated dollar-quoted string");
}

TEST(ParseError, PositionsAreBytesOfTheOriginal) {
  expect_failure_at_mark("select 'äöü€😀', ä frm ^x y", "syntax error at or near \"x\"");
  expect_failure_at_mark("select 1;\n select 'ä' from 'ö.parquet' t ^u v", "syntax error at or near \"u\"");
  expect_failure_at_mark("select 'ä', ^array[1] from 'ö.parquet'", "An array is not supported");
  expect_failure_at_mark("select 1 from 'ö.parquet' where ^array[1]", "An array is not supported");
  const std::string long_name(100, 'n');
  expect_failure_at_mark("select a b ^" + long_name, "syntax error at or near \"" + long_name.substr(0, 60) + "...\"");
}

TEST(ParseError, Encoding) {
  EXPECT_EQ(failure_of("select '\xff'").message, "the text is not valid UTF-8");
  EXPECT_EQ(failure_of("select '\xff'").position, 8);
  for (const char* bad : {"\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf8", "\x80"}) {
    EXPECT_EQ(failure_of(std::string("select '") + bad + "'").message, "the text is not valid UTF-8");
  }
  EXPECT_EQ(failure_of(std::string_view("select \0 1", 10)).message, "the text contains a zero byte");
  EXPECT_EQ(failure_of(std::string_view("select \0 1", 10)).position, 7);
  EXPECT_EQ(failure_of("select E'\\xff'").message, "invalid byte sequence for encoding \"UTF8\": 0xff");
}

}  // namespace
}  // namespace pistachio
