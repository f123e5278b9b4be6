#include "binder/bind_fixture.h"

namespace pistachio {
namespace {

class TypeInferenceTest : public BindTest {
 protected:
  TypeInferenceTest() {
    tables.add("n", {{"ti", TypeKind::TinyInt, ""},
                     {"si", TypeKind::SmallInt, ""},
                     {"i", TypeKind::Integer, ""},
                     {"bi", TypeKind::BigInt, ""},
                     {"r", TypeKind::Real, ""},
                     {"f", TypeKind::Double, ""},
                     {"d92", LogicalType::decimal(9, 2), ""},
                     {"d384", LogicalType::decimal(38, 4), ""},
                     {"s", TypeKind::Varchar, ""},
                     {"da", TypeKind::Date, ""},
                     {"ts", TypeKind::Timestamp, ""},
                     {"tz", TypeKind::TimestampTz, ""},
                     {"tm", TypeKind::Time, ""},
                     {"iv", TypeKind::Interval, ""},
                     {"bo", TypeKind::Boolean, ""}});
  }

  // The type of an expression over the table n.
  std::string type_of(const std::string& expression) {
    std::string columns = columns_of("select " + expression + " as x from n");
    return columns.starts_with("x ") ? columns.substr(2) : columns;
  }
  // The type of the column of a set operation.
  std::string union_type(const std::string& left, const std::string& right) {
    return columns_of("select " + left + " as x from n union select " + right + " from n");
  }
};

TEST_F(TypeInferenceTest, ArithmeticOfWholeNumbers) {
  EXPECT_EQ(type_of("ti + ti"), "TINYINT");
  EXPECT_EQ(type_of("si + ti"), "SMALLINT");
  EXPECT_EQ(type_of("si + i"), "INTEGER");
  EXPECT_EQ(type_of("i * bi"), "BIGINT");
  EXPECT_EQ(type_of("i / 2"), "INTEGER");
  EXPECT_EQ(type_of("si % 2"), "INTEGER");
  EXPECT_EQ(type_of("-si"), "SMALLINT");
  EXPECT_EQ(type_of("2147483647"), "INTEGER");
  EXPECT_EQ(type_of("2147483648"), "BIGINT");
  EXPECT_EQ(type_of("9223372036854775808"), "DECIMAL(19,0)");
}

TEST_F(TypeInferenceTest, ArithmeticOfDecimals) {
  EXPECT_EQ(type_of("d92 + d92"), "DECIMAL(10,2)");
  EXPECT_EQ(type_of("d92 + i"), "DECIMAL(13,2)");
  EXPECT_EQ(type_of("d92 * d92"), "DECIMAL(18,4)");
  EXPECT_EQ(type_of("d384 + 1"), "DECIMAL(38,4)");
  EXPECT_EQ(type_of("1.50"), "DECIMAL(3,2)");
}

TEST_F(TypeInferenceTest, FloatingPointWins) {
  EXPECT_EQ(type_of("r + r"), "REAL");
  EXPECT_EQ(type_of("r + i"), "DOUBLE");
  EXPECT_EQ(type_of("r + d92"), "DOUBLE");
  EXPECT_EQ(type_of("r + f"), "DOUBLE");
  EXPECT_EQ(type_of("d384 * f"), "DOUBLE");
}

TEST_F(TypeInferenceTest, DatesAndIntervals) {
  EXPECT_EQ(type_of("da + 1"), "DATE");
  EXPECT_EQ(type_of("da - da"), "INTEGER");
  EXPECT_EQ(type_of("da + iv"), "TIMESTAMP");
  EXPECT_EQ(type_of("ts - ts"), "INTERVAL");
  EXPECT_EQ(type_of("tz - iv"), "TIMESTAMP WITH TIME ZONE");
  EXPECT_EQ(type_of("iv * 2"), "INTERVAL");
  EXPECT_EQ(type_of("da < ts"), "BOOLEAN");
  EXPECT_TRUE(type_of("ts + ts").starts_with("ERROR + does not take (TIMESTAMP, TIMESTAMP)"));
  EXPECT_TRUE(type_of("da * 2").starts_with("ERROR * does not take (DATE, INTEGER)"));
}

TEST_F(TypeInferenceTest, TextLiteralsTakeTheOtherType) {
  EXPECT_EQ(type_of("da = '2020-01-01'"), "BOOLEAN");
  EXPECT_EQ(type_of("i + '1'"), "INTEGER");
  EXPECT_EQ(type_of("'a' || 'b'"), "VARCHAR");
  EXPECT_EQ(type_of("'a'"), "VARCHAR");
  EXPECT_EQ(type_of("null"), "VARCHAR");
  EXPECT_EQ(type_of("i in ('1', '2')"), "BOOLEAN");
  EXPECT_EQ(type_of("da between '2020-01-01' and '2020-12-31'"), "BOOLEAN");
  // A text column is not a literal.
  EXPECT_TRUE(type_of("i = s").starts_with("ERROR = does not take (INTEGER, VARCHAR)"));
  EXPECT_EQ(error_of("select 1 from t where a = 'x'"), "'x' is not a valid INTEGER ['x']");
}

TEST_F(TypeInferenceTest, ConditionsMustBeBoolean) {
  EXPECT_NE(error_of("select 1 from t where a / 2.0"), "no error");
  EXPECT_NE(error_of("select 1 from t where not 1.5"), "no error");
  EXPECT_NE(error_of("select 1 from t where a = 1 and 1.5"), "no error");
  EXPECT_NE(error_of("select case when 1.5 then 1 end from t"), "no error");
  EXPECT_NE(error_of("select 1 from t join u on 1.5"), "no error");
  EXPECT_EQ(error_of("select 1 from t where a and not b"), "no error");
  EXPECT_EQ(error_of("select 1 from t where null"), "no error");
  EXPECT_EQ(error_of("select 1 from t where 'true'"), "no error");
}

TEST_F(TypeInferenceTest, BranchesMeetInOneType) {
  EXPECT_EQ(type_of("case when bo then i else d92 end"), "DECIMAL(12,2)");
  EXPECT_EQ(type_of("case when bo then si else null end"), "SMALLINT");
  EXPECT_EQ(type_of("case when bo then '2020-01-01' else da end"), "DATE");
  EXPECT_EQ(type_of("coalesce(ti, bi)"), "BIGINT");
  EXPECT_EQ(type_of("coalesce(da, ts)"), "TIMESTAMP");
  EXPECT_EQ(type_of("coalesce(null, null)"), "VARCHAR");
  // Only operators turn REAL and a whole number into DOUBLE.
  EXPECT_EQ(type_of("case when bo then r else i end"), "REAL");
  EXPECT_TRUE(type_of("case when bo then i else da end").starts_with("ERROR "));
  EXPECT_TRUE(type_of("case when bo then i else s end").starts_with("ERROR "));
}

TEST_F(TypeInferenceTest, SetOperationsMeetInOneType) {
  EXPECT_EQ(union_type("ti", "si"), "x SMALLINT");
  EXPECT_EQ(union_type("bi", "f"), "x DOUBLE");
  EXPECT_EQ(union_type("r", "i"), "x REAL");
  EXPECT_EQ(union_type("d92", "i"), "x DECIMAL(12,2)");
  EXPECT_EQ(union_type("da", "ts"), "x TIMESTAMP");
  EXPECT_EQ(union_type("null", "iv"), "x INTERVAL");
  EXPECT_EQ(union_type("'2020-01-01'", "da"), "x DATE");
  EXPECT_EQ(union_type("'a'", "'b'"), "x VARCHAR");
  EXPECT_EQ(union_type("i", "bo"), "ERROR UNION: column 1 is INTEGER on the left and BOOLEAN on the right");
  EXPECT_EQ(union_type("s", "i"), "ERROR UNION: column 1 is VARCHAR on the left and INTEGER on the right");
  EXPECT_EQ(union_type("i", "i, i"), "ERROR UNION of 1 and 2 columns");
}

TEST_F(TypeInferenceTest, ChainsOfSetOperationsMeetFromTheLeft) {
  EXPECT_EQ(columns_of("select null as x union select null union select 1"), "x INTEGER");
  EXPECT_EQ(columns_of("select 1 as x union all select 2.5 union all select 3::double precision"), "x DOUBLE");
  // Two literals are text, as in PostgreSQL; a number then does not fit.
  EXPECT_EQ(columns_of("select '1' as x union select '2' union select 3"),
            "ERROR UNION: column 1 is VARCHAR on the left and INTEGER on the right");
  EXPECT_EQ(columns_of("select '1' as x union (select '2' union select 3)"), "x INTEGER");
  // Names come from the first operand.
  EXPECT_EQ(columns_of("select a as first from t except select c as second from u"), "first INTEGER");
}

TEST_F(TypeInferenceTest, ValuesMeetInOneType) {
  EXPECT_EQ(columns_of("values (1, 'a'), (2.5, null)"), "column1 DECIMAL(11,1), column2 VARCHAR");
  EXPECT_EQ(columns_of("select * from (values (null, date '2020-01-01'), (1, '2021-01-01')) v(x, y)"), "x INTEGER, y DATE");
  EXPECT_EQ(error_of("values (1), (2, 3)"), "VALUES has rows of 1 and 2 values [values (1), (2, 3)]");
  EXPECT_NE(error_of("values (1), (date '2020-01-01')"), "no error");
}

TEST_F(TypeInferenceTest, AggregatesWiden) {
  EXPECT_EQ(type_of("sum(si)"), "BIGINT");
  EXPECT_EQ(type_of("sum(bi)"), "DECIMAL(38,0)");
  EXPECT_EQ(type_of("sum(d92)"), "DECIMAL(38,2)");
  EXPECT_EQ(type_of("sum(r)"), "DOUBLE");
  EXPECT_EQ(type_of("avg(i)"), "DOUBLE");
  EXPECT_EQ(type_of("min(da)"), "DATE");
  EXPECT_EQ(type_of("max(s)"), "VARCHAR");
  EXPECT_EQ(type_of("count(s)"), "BIGINT");
  EXPECT_EQ(type_of("sum(s)"), "ERROR sum does not take VARCHAR");
  EXPECT_EQ(type_of("sum(bo)"), "ERROR sum does not take BOOLEAN");
}

TEST_F(TypeInferenceTest, SubqueriesCompareInTheTypeOfTheOperator) {
  EXPECT_EQ(columns_of("select i in (select bi from n) as x, r = any (select i from n) as y from n"), "x BOOLEAN, y BOOLEAN");
  EXPECT_TRUE(columns_of("select i in (select s from n) from n").starts_with("ERROR = does not take (INTEGER, VARCHAR)"));
  EXPECT_EQ(columns_of("select (select da from n) as x"), "x DATE");
}

}  // namespace
}  // namespace pistachio
