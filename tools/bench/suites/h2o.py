"""The group-by and join questions of the h2o.ai/DuckDB database benchmark, on data made by its recipe.

Group-by: K = 100 values in the columns of few groups, N/K in those of many, no NULLs, unsorted. Joins: N rows on the left; small,
medium and big have N/1e6, N/1e3 and N rows; a tenth of the keys of each side has no partner. The random numbers are not R's: they
are hashes of row number, column and seed. Answers of more than 10,000 rows are added up instead of fetched."""

from tests.support import duckdb_oracle
from tools.bench.suites.query_suite import Query, Suite, checksum
from tools.data_folder import ensure_folder

VALUES = 100  # K
R2 = "SELECT id2, id4, {} AS r2 FROM x GROUP BY id2, id4"


def add_options(parser):
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of x (default 10000000)")
    parser.add_argument("--seed", type=int, default=1)


def prepare(arguments):
    folder = ensure_folder(f"h2o_{arguments.rows}_seed{arguments.seed}", lambda partial: fill(partial, arguments.rows, arguments.seed))
    return Suite(f"h2o, {arguments.rows:,} rows", folder, queries())


class Generator:
    """Tables from SQL with hashes of row number, column and seed as random numbers."""

    def __init__(self, folder, rows, seed):
        self.folder, self.rows, self.seed = folder, rows, seed
        self.connection = duckdb_oracle.connect()

    def integer(self, column, count):
        """From 0 to count - 1."""
        return f"(hash(i, '{column}', {self.seed}) % {count})::INTEGER"

    def real(self, column, maximum):
        """From 0 to maximum, with six digits."""
        return f"round((hash(i, '{column}', {self.seed}) >> 11)::DOUBLE / (1::UBIGINT << 53)::DOUBLE * {maximum}, 6)"

    def write(self, table, columns, rows, joins=""):
        chosen = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
        self.connection.execute(f"COPY (SELECT {chosen} FROM range({rows}) AS t(i) {joins}) TO '{self.folder}/{table}.parquet' (FORMAT parquet)")

    def make_keys(self, level, count):
        """Tables left_LEVEL and right_LEVEL (place, key) of `count` shuffled keys each, of which 90 % are in both."""
        common, one_sided = count * 9 // 10, count - count * 9 // 10
        shuffled = f"SELECT i + 1 AS key, row_number() OVER (ORDER BY hash(i, 'keys {level}', {self.seed}), i) - 1 AS place FROM range({count + one_sided}) AS t(i)"
        self.connection.execute(f"CREATE TEMP TABLE keys AS {shuffled}")
        for side, condition in (("left", f"place < {count}"), ("right", f"place < {common} OR place >= {count}")):
            self.connection.execute(f"CREATE TEMP TABLE {side}_{level} AS SELECT key::INTEGER AS key, row_number() OVER "
                                    f"(ORDER BY hash(key, '{side}', {self.seed}), key) - 1 AS place FROM keys WHERE {condition}")
        self.connection.execute("DROP TABLE keys")

    def write_joined(self, table, side, rows, levels, value, counts):
        """Columns id1 to id<levels> with the keys of each level, as text in the three columns after id3. Every key occurs: the first rows count through them."""
        joins = "".join(f" JOIN {side}_{level} ON {side}_{level}.place = CASE WHEN i < {counts[level]} THEN i ELSE "
                        f"{self.integer(f'{table} {level}', counts[level])} END" for level in levels)
        numbers = {f"id{level}": f"{side}_{level}.key" for level in levels}
        texts = {f"id{level + 3}": f"'id' || {side}_{level}.key" for level in levels}
        self.write(table, {**numbers, **texts, value: self.real(f"{table} {value}", 100)}, rows, joins)


def fill(folder, rows, seed):
    generator = Generator(folder, rows, seed)
    many = max(1, rows // VALUES)
    generator.write("x", {
        "id1": f"format('id{{:03d}}', 1 + {generator.integer('id1', VALUES)})", "id2": f"format('id{{:03d}}', 1 + {generator.integer('id2', VALUES)})",
        "id3": f"format('id{{:010d}}', 1 + {generator.integer('id3', many)})", "id4": f"1 + {generator.integer('id4', VALUES)}",
        "id5": f"1 + {generator.integer('id5', VALUES)}", "id6": f"1 + {generator.integer('id6', many)}",
        "v1": f"1 + {generator.integer('v1', 5)}", "v2": f"1 + {generator.integer('v2', 15)}", "v3": generator.real("v3", 100)}, rows)
    counts = {1: max(10, rows // 1_000_000), 2: max(10, rows // 1_000), 3: rows}
    for level, count in counts.items():
        generator.make_keys(level, count)
    generator.write_joined("left_side", "left", rows, (1, 2, 3), "v1", counts)
    for level, table in ((1, "small"), (2, "medium"), (3, "big")):
        generator.write_joined(table, "right", counts[level], range(1, level + 1), "v2", counts)


def queries():
    groups = {
        "g1": "SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1",
        "g2": "SELECT id1, id2, sum(v1) AS v1 FROM x GROUP BY id1, id2",
        "g3": checksum("SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM x GROUP BY id3", "sum(length(id3))", "sum(v1)", "sum(v3)"),
        "g4": "SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM x GROUP BY id4",
        "g5": checksum("SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM x GROUP BY id6", "sum(id6)", "sum(v1)", "sum(v2)", "sum(v3)"),
        "g6": "SELECT id4, id5, quantile_cont(v3, 0.5) AS median_v3, stddev(v3) AS sd_v3 FROM x GROUP BY id4, id5",
        "g7": checksum("SELECT id3, max(v1) - min(v2) AS range_v1_v2 FROM x GROUP BY id3", "sum(length(id3))", "sum(range_v1_v2)"),
        "g8": checksum("SELECT id6, largest2_v3 FROM (SELECT id6, v3 AS largest2_v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS order_v3 "
                       "FROM x WHERE v3 IS NOT NULL) AS sub_query WHERE order_v3 <= 2", "sum(id6)", "sum(largest2_v3)"),
        "g9": R2.format("pow(corr(v1, v2), 2)"),
        "g10": checksum("SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS count FROM x GROUP BY id1, id2, id3, id4, id5, id6",
                        "sum(length(id1) + length(id2) + length(id3))", "sum(id4)", "sum(id5)", "sum(id6)", "sum(v3)", "sum(count)"),
    }
    left = ("id1", "id2", "id3", "v1"), ("id4", "id5", "id6")
    joins = {
        "j1": join("JOIN small USING (id1)", left, ("small.id4 AS right_id4", "v2")),
        "j2": join("JOIN medium USING (id2)", left, ("medium.id1 AS right_id1", "medium.id4 AS right_id4", "medium.id5 AS right_id5", "v2")),
        "j3": join("LEFT JOIN medium USING (id2)", left, ("medium.id1 AS right_id1", "medium.id4 AS right_id4", "medium.id5 AS right_id5", "v2")),
        "j4": join("JOIN medium USING (id5)", left, ("medium.id1 AS right_id1", "medium.id2 AS right_id2", "medium.id4 AS right_id4", "v2")),
        "j5": join("JOIN big USING (id3)", left, ("big.id1 AS right_id1", "big.id2 AS right_id2", "big.id4 AS right_id4", "big.id5 AS right_id5",
                                                  "big.id6 AS right_id6", "v2")),
    }
    # Squares of tiny correlations differ in most of their digits.
    checked = {"g9": R2.format("round(pow(corr(v1, v2), 2), 9)")}
    return [Query(name, sql, checked.get(name)) for name, sql in {**groups, **joins}.items()]


def join(clause, left, right):
    """The sums of all columns of the join."""
    numbers, texts = left
    added = {column.split(" AS ")[-1] for column in right}
    sums = [f"sum({column})" for column in (*numbers, *sorted(name for name in added if not is_text(name)))]
    lengths = [f"sum(length({column}))" for column in (*texts, *sorted(filter(is_text, added)))]
    columns = ", ".join(f"left_side.{column}" for column in (*numbers, *texts))
    return checksum(f"SELECT {columns}, {', '.join(right)} FROM left_side {clause}", *sums, *lengths)


def is_text(column):
    return column in ("right_id4", "right_id5", "right_id6")
