"""One query per shape: groups by number and type of keys, joins by multiplicity, filters by selectivity, distinct counts, top-N,
sorts, LIKE, few of many columns, many small files.

Large results are added up instead of fetched; OFFSET 1 keeps a sort below the sums from being dropped."""

from tests.support import duckdb_oracle
from tools.bench.suites.query_suite import Query, Suite
from tools.data_folder import ensure_folder

GROUPS = {"4": 4, "1e3": 1_000, "1e6": 1_000_000, "1e7": 10_000_000}
PERMILLES = {"0.1": 1, "1": 10, "10": 100, "50": 500, "90": 900, "99": 990}
WIDE_COLUMNS, FILES = 500, 2_000


def add_options(parser):
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the largest table (default 10000000)")
    parser.add_argument("--seed", type=int, default=1)


def prepare(arguments):
    folder = ensure_folder(f"shapes_{arguments.rows}_seed{arguments.seed}", lambda partial: fill(partial, arguments.rows, arguments.seed))
    return Suite(f"shapes, {arguments.rows:,} rows", folder, [*groups(), *joins(), *scans(), *orders()])


def fill(folder, rows, seed):
    connection = duckdb_oracle.connect()
    connection.execute(f"CREATE MACRO pick(x, salt, n) AS (hash(x, salt, {seed}) % n)::INTEGER")

    def write(path, columns, count):
        chosen = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
        connection.execute(f"COPY (SELECT {chosen} FROM range({count}) AS t(i)) TO '{folder}/{path}.parquet' (FORMAT parquet)")

    keys = {f"k{name}": f"pick(i, 'k{name}', {count})" for name, count in GROUPS.items()}
    texts = {f"s{name}": f"format('key{{:08d}}', pick(i, 'k{name}', {count}))" for name, count in GROUPS.items()}
    # Three columns that have as many combinations together as there are keys.
    parts = {part: expression for name in GROUPS for part, expression in
             ((f"a{name}", f"{keys[f'k{name}']} // 100"), (f"b{name}", f"'part' || {keys[f'k{name}']} % 10"), (f"c{name}", f"{keys[f'k{name}']} // 10 % 10"))}
    values = {"v": "pick(i, 'v', 1000)", "d": "pick(i, 'd', 1000000) / 1000", "p": "pick(i, 'p', 1000)", "r": "hash(i, 'r')::HUGEINT::DOUBLE",
              "t": "md5(i::VARCHAR) || ' ' || CASE WHEN pick(i, 'word', 100) = 0 THEN 'special' ELSE 'ordinary' END || ' requests'"}
    write("rows", {"id": "i::INTEGER", **keys, **texts, **parts, **values}, rows)
    # A prime permutes the row numbers: each key once, in another order.
    write("once", {"id": f"(i * 7368787 % {rows})::INTEGER", "w": "pick(i, 'w', 1000)"}, rows)
    # rows / 10 keys: each once, ten and two times on average, and ten of them with half of the rows.
    write("tenth", {"k": "i::INTEGER", "w": "pick(i, 'w', 1000)"}, rows // 10)
    write("many", {"k": f"pick(i, 'many', {rows // 10})", "v": "pick(i, 'v', 1000)"}, rows)
    write("several", {"k": f"pick(i, 'several', {rows // 10})", "w": "pick(i, 'w', 1000)"}, rows // 5)
    write("skewed", {"k": f"CASE WHEN pick(i, 'hot', 2) = 0 THEN pick(i, 'hot key', 10) ELSE pick(i, 'cold key', {rows // 10}) END", "v": "pick(i, 'v', 1000)"}, rows)
    write("wide", {f"c{number}": f"pick(i, 'c{number}', 1000)" for number in range(WIDE_COLUMNS)}, max(1, rows // 50))
    (folder / "small_files").mkdir()
    each = max(1, rows // 10 // FILES)
    connection.execute(f"CREATE TEMP TABLE small AS SELECT i // {each} AS file, pick(i, 'k', 1000) AS k, pick(i, 'v', 1000) AS v FROM range({each * FILES}) AS t(i)")
    for file in range(FILES):
        connection.execute(f"COPY (SELECT k, v FROM small WHERE file = {file}) TO '{folder}/small_files/{file:04}.parquet' (FORMAT parquet)")


def groups():
    for name in GROUPS:
        for kind, keys in (("int", f"k{name}"), ("text", f"s{name}"), ("columns", f"a{name}, b{name}, c{name}")):
            yield Query(f"group_{kind}_{name}", f"SELECT count(*), sum(n), max(s) FROM (SELECT {keys}, count(*) AS n, sum(v) AS s FROM rows GROUP BY {keys}) AS groups")
    for name in ("int", "text"):
        column = {"int": "k", "text": "s"}[name]
        for size in ("1e3", "1e7"):
            yield Query(f"distinct_{name}_{size}", f"SELECT count(DISTINCT {column}{size}) FROM rows")
    yield Query("distinct_per_group", "SELECT k4, count(DISTINCT k1e6) FROM rows GROUP BY k4")


def joins():
    yield Query("join_1_1", "SELECT count(*), sum(v), sum(w) FROM rows JOIN once ON rows.id = once.id")
    yield Query("join_n_1", "SELECT count(*), sum(v), sum(w) FROM many JOIN tenth ON many.k = tenth.k")
    yield Query("join_n_1_selective", "SELECT count(*), sum(v), sum(w) FROM many JOIN tenth ON many.k = tenth.k WHERE w < 10")
    yield Query("join_n_m", "SELECT count(*), sum(v), sum(w) FROM many JOIN several ON many.k = several.k")
    yield Query("join_skewed", "SELECT count(*), sum(v), sum(w) FROM skewed JOIN several ON skewed.k = several.k")
    yield Query("join_left", "SELECT count(*), sum(v), sum(w) FROM many LEFT JOIN several ON many.k = several.k + 500")
    yield Query("join_semi", "SELECT count(*), sum(v) FROM many WHERE k IN (SELECT k FROM several WHERE w < 500)")
    yield Query("join_anti", "SELECT count(*), sum(v) FROM many WHERE NOT EXISTS (SELECT 1 FROM several WHERE several.k = many.k)")


def scans():
    for name, permille in PERMILLES.items():
        yield Query(f"filter_{name}%", f"SELECT count(*), sum(v), sum(d) FROM rows WHERE p < {permille}")
    for name, pattern in (("prefix", "ab%"), ("suffix", "%ab special requests"), ("inner", "%special%"), ("parts", "%f%special%requests%")):
        yield Query(f"like_{name}", f"SELECT count(*) FROM rows WHERE t LIKE '{pattern}'")
    yield Query("wide_3_of_500", "SELECT count(*), sum(c17), sum(c250) FROM wide WHERE c499 < 500")
    yield Query("small_files", "SELECT k, count(*), sum(v) FROM small_files GROUP BY k")


def orders():
    for name, column in (("int", "k1e7"), ("double", "r"), ("text", "t")):
        yield Query(f"top_10_{name}", f"SELECT {column}, id FROM rows ORDER BY {column}, id LIMIT 10")
        yield Query(f"sort_{name}", f"SELECT count(*), sum(id) FROM (SELECT id FROM rows ORDER BY {column}, id OFFSET 1) AS sorted")
    yield Query("top_10000", "SELECT count(*), sum(id) FROM (SELECT id FROM rows ORDER BY k1e7 DESC, id LIMIT 10000) AS top")
    yield Query("top_2_per_group", "SELECT count(*), sum(id) FROM (SELECT id, row_number() OVER (PARTITION BY k1e6 ORDER BY r) AS n FROM rows) AS ranked WHERE n <= 2")
