"""For every optimizer rule a query over the TPC-H tables whose plan shows the rule's effect."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RulePair:
    """Lines, without indentation, that are only in the plan without the rule, and only in the one with it. `also_disabled` rules
    are off in both, since they would have the same effect."""

    rule: str
    sql: str
    only_without: tuple
    only_with: tuple
    also_disabled: tuple = ()


@dataclass(frozen=True)
class RequiredRule:
    """A rule that cannot be disabled: the query, lines of its plan, and an equivalent query that does not need the rule."""

    rule: str
    sql: str
    lines: tuple
    equivalent: str


PAIRS = (
    RulePair(
        "inline_common_tables",
        """WITH late AS (SELECT o_orderkey, o_orderdate FROM orders)
           SELECT count(*) FROM late WHERE o_orderdate > DATE '1998-07-01'""",
        only_without=("common table 0:", "read common table 0", "filter"),
        only_with=("filters: (o_orderdate > DATE '1998-07-01')",),
        also_disabled=("filter_common_tables",)),
    RulePair(
        "fold_constants",
        "SELECT count(*) FROM orders WHERE o_orderdate < DATE '1992-01-01' + INTERVAL '1 month' AND (1 = 1 OR o_custkey = 5)",
        only_without=("filter",),
        only_with=("filters: (CAST(o_orderdate AS TIMESTAMP) < TIMESTAMP '1992-02-01 00:00:00')",)),
    RulePair(
        "fold_constants",  # join conditions hidden in an OR
        """SELECT count(*) FROM part, partsupp
           WHERE (p_partkey = ps_partkey AND p_size = 1) OR (p_partkey = ps_partkey AND ps_availqty = 10)""",
        only_without=("inner loop join",),
        only_with=("inner hash join", "keys: ps_partkey = p_partkey", "conditions: ((p_size = 1) OR (ps_availqty = 10))")),
    RulePair(
        "relax_correlated_joins",  # the groups in demand are those of the outer rows: a filter for the scan below the aggregate
        """SELECT l_orderkey FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_size < 5
           AND l_quantity < (SELECT 0.9 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)""",
        only_without=("single hash join",),
        only_with=("keys: p_partkey = p_partkey.2",)),
    RulePair(
        "relax_correlated_joins",  # the outer rows remain, but fewer than the groups: they are the build side
        "SELECT n_name, (SELECT max(c_acctbal) FROM customer WHERE c_nationkey = n_nationkey) FROM nation WHERE n_regionkey = 1",
        only_without=("single hash join", "keys: n_nationkey IS NOT DISTINCT FROM n_nationkey.2"),
        only_with=("right hash join",)),
    RulePair(
        "derive_group_columns",
        "SELECT o_custkey, o_custkey - 1, EXTRACT(YEAR FROM o_orderdate), 'all', count(*) FROM orders GROUP BY 1, 2, 3, 4",
        only_without=("groups: o_custkey, group, group.2, group.3",),
        only_with=("groups: o_custkey, group.2",)),
    RulePair(
        "push_down_filters",
        "SELECT count(*) FROM nation, region WHERE n_regionkey = r_regionkey AND r_name = 'ASIA'",
        only_without=("inner loop join", "filter", "conditions: (n_regionkey = r_regionkey) AND (r_name = 'ASIA')"),
        only_with=("inner hash join", "keys: n_regionkey = r_regionkey", "filters: (r_name = 'ASIA')"),
        also_disabled=("push_down_implied_conditions", "push_down_filters_again")),
    RulePair(
        "push_down_filters",  # an outer join whose unmatched rows a filter drops
        "SELECT n_name, r_name FROM nation LEFT JOIN region ON n_regionkey = r_regionkey WHERE r_name LIKE 'A%'",
        only_without=("left hash join",),
        only_with=("inner hash join",),
        also_disabled=("push_down_implied_conditions", "push_down_filters_again")),
    RulePair(
        "push_down_filters",  # the same by a join condition
        "SELECT s_name, r_name FROM (supplier LEFT JOIN nation ON s_nationkey = n_nationkey) JOIN region ON n_regionkey = r_regionkey",
        only_without=("probe: left hash join",),
        only_with=("build: inner hash join",),
        also_disabled=("push_down_implied_conditions", "push_down_filters_again")),
    RulePair(
        "push_down_filters",  # a condition on the partitions of a window, but no other
        """SELECT o_orderkey FROM (SELECT o_custkey, o_orderkey, row_number() OVER (PARTITION BY o_custkey ORDER BY o_orderkey) AS n
           FROM orders) AS numbered WHERE o_custkey < 100 AND n = 1 AND o_orderkey > 7""",
        only_without=("conditions: (o_custkey < 100) AND (row_number = 1) AND (o_orderkey > 7)",),
        only_with=("conditions: (row_number = 1) AND (o_orderkey > 7)", "filters: (o_custkey < 100)"),
        also_disabled=("push_down_implied_conditions", "push_down_filters_again")),
    RulePair(
        "imply_conditions",
        "SELECT count(*) FROM orders JOIN lineitem ON o_orderkey = l_orderkey WHERE o_orderkey < 100",
        only_without=(),
        only_with=("filters: (l_orderkey < 100)",)),
    RulePair(
        "imply_conditions",  # a = b and b = c connect a with c
        """SELECT count(*) FROM supplier, lineitem, partsupp
           WHERE s_suppkey = l_suppkey AND l_suppkey = ps_suppkey AND ps_availqty < 100 AND l_quantity < 2""",
        only_without=("keys: l_suppkey = s_suppkey",),
        only_with=("keys: s_suppkey = ps_suppkey",)),
    RulePair(
        "push_down_implied_conditions",
        "SELECT count(*) FROM orders JOIN lineitem ON o_orderkey = l_orderkey WHERE o_orderkey < 100",
        only_without=("conditions: (l_orderkey < 100)",),
        only_with=("filters: (l_orderkey < 100)",),
        also_disabled=("push_down_filters_again",)),
    RulePair(
        "order_joins",
        """SELECT count(*) FROM lineitem JOIN partsupp ON l_suppkey = ps_suppkey JOIN supplier ON ps_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey
           WHERE n_name = 'PERU'""",
        only_without=("keys: l_suppkey = ps_suppkey",),
        only_with=("keys: l_suppkey = s_suppkey",)),
    RulePair(
        "push_down_filters_again",
        "SELECT count(*) FROM orders JOIN lineitem ON o_orderkey = l_orderkey WHERE o_orderkey < 100",
        only_without=("filter", "conditions: (l_orderkey < 100)"),
        only_with=("filters: (l_orderkey < 100)",),
        also_disabled=("push_down_implied_conditions",)),
    RulePair(
        "sink_scalar_subqueries",
        """SELECT count(*) FROM customer, orders
           WHERE o_custkey = c_custkey AND c_nationkey = (SELECT n_nationkey FROM nation WHERE n_name = 'FRANCE')""",
        only_without=("probe: inner hash join", "build: scan customer"),
        only_with=("build: filter", "probe: scan customer")),
    RulePair(
        "filter_common_tables",
        """WITH years AS (SELECT EXTRACT(YEAR FROM o_orderdate) AS y, o_orderpriority AS p, sum(o_totalprice) AS total FROM orders GROUP BY 1, 2)
           SELECT count(*) FROM years AS a, years AS b WHERE a.total < b.total AND a.y = 1995 AND b.y = 1996 AND a.p = b.p AND a.p = '1-URGENT'""",
        only_without=(),
        only_with=("filter", "conditions: ((extract year(o_orderdate) = 1995) OR (extract year(o_orderdate) = 1996))", "filters: (o_orderpriority = '1-URGENT')")),
    RulePair(
        "use_semi_joins",  # another supplier of the part, in however many lines
        """SELECT count(*) FROM part WHERE p_partkey IN
           (SELECT one.l_partkey FROM lineitem AS one JOIN lineitem AS other ON one.l_partkey = other.l_partkey AND one.l_suppkey <> other.l_suppkey)""",
        only_without=("inner hash join",),
        only_with=()),
    RulePair(
        "match_by_extremes",
        """SELECT count(*) FROM lineitem AS one WHERE EXISTS
           (SELECT 1 FROM lineitem AS other WHERE one.l_partkey = other.l_partkey AND one.l_suppkey <> other.l_suppkey)""",
        only_without=("conditions: (l_suppkey <> l_suppkey.2)",),
        only_with=("conditions: ((l_suppkey <> min) OR (l_suppkey <> max))",)),
    RulePair(
        "push_down_semi_joins",
        """SELECT count(*) FROM orders JOIN lineitem ON o_orderkey = l_orderkey
           WHERE o_custkey IN (SELECT c_custkey FROM customer WHERE c_mktsegment = 'BUILDING')""",
        only_without=(),
        only_with=("build: semi hash join",)),
    RulePair(
        "choose_build_sides",
        "SELECT count(*) FROM nation JOIN customer ON n_nationkey = c_nationkey",
        only_without=("probe: scan nation", "build: scan customer"),
        only_with=("probe: scan customer", "build: scan nation")),
    RulePair(
        "choose_build_sides",
        "SELECT c_custkey, o_orderkey FROM customer LEFT JOIN orders ON c_custkey = o_custkey",
        only_without=("left hash join",),
        only_with=("right hash join",)),
    RulePair(
        "answer_from_footers",
        "SELECT min(o_orderdate), max(o_totalprice), count(o_custkey), count(*) FROM orders",
        only_without=("aggregate", "scan orders"),
        only_with=("values",)),
    RulePair(
        "share_shifted_sums",
        "SELECT sum(o_custkey + 1), sum(o_custkey - 20), sum(o_custkey) FROM orders",
        only_without=("calls: sum((o_custkey + 1)) AS sum, sum((o_custkey - 20)) AS sum.2, sum(o_custkey) AS sum.3",),
        only_with=("calls: sum(o_custkey) AS sum.4, count(o_custkey) AS count, sum(o_custkey) AS sum.3",)),
    RulePair(
        "push_down_limits",
        "SELECT o_orderkey FROM orders ORDER BY o_totalprice DESC, o_orderkey LIMIT 5 OFFSET 2",
        only_without=("sort",),
        only_with=("top 7",)),
    RulePair(
        "narrow_decimals",
        "SELECT sum(l_extendedprice * (1 - l_discount)) FROM lineitem",
        only_without=("calls: sum((l_extendedprice * (1.00 - CAST(l_discount AS DECIMAL(16,2))))) AS sum",),
        only_with=("calls: sum((l_extendedprice * (1.00 - l_discount))) AS sum",)),
    RulePair(
        "prune_columns",
        "SELECT lower(n_name) AS low FROM (SELECT *, n_nationkey * 2 AS twice FROM nation) AS n ORDER BY low",
        only_without=("columns: n_nationkey, n_name, n_regionkey, n_comment",),
        only_with=("columns: n_name",)),
)

REQUIRED = (
    RequiredRule(
        "unnest_subqueries",
        "SELECT o_orderkey FROM orders WHERE EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_quantity > 49)",
        lines=("semi hash join", "keys: o_orderkey = l_orderkey", "filters: (l_quantity > 49.00)"),
        equivalent="SELECT DISTINCT o_orderkey FROM orders JOIN lineitem ON l_orderkey = o_orderkey AND l_quantity > 49"),
    RequiredRule(
        "unnest_subqueries",
        "SELECT c_custkey, (SELECT max(o_orderdate) FROM orders WHERE o_custkey = c_custkey) FROM customer",
        lines=("aggregate", "groups: c_custkey.2"),
        equivalent="SELECT c_custkey, max(o_orderdate) FROM customer LEFT JOIN orders ON o_custkey = c_custkey GROUP BY c_custkey"),
    RequiredRule(
        "lower_set_operations",
        "SELECT c_nationkey FROM customer EXCEPT SELECT s_nationkey FROM supplier WHERE s_acctbal > 8000",
        lines=("union all", "aggregate"),
        equivalent="SELECT DISTINCT c_nationkey FROM customer WHERE c_nationkey NOT IN (SELECT s_nationkey FROM supplier WHERE s_acctbal > 8000)"),
    RequiredRule(
        "lower_set_operations",
        "SELECT c_nationkey FROM customer INTERSECT ALL SELECT s_nationkey FROM supplier",
        lines=("union all", "aggregate", "repeat"),
        equivalent="""SELECT s_nationkey FROM supplier AS s
                      WHERE (SELECT count(*) FROM supplier AS o WHERE o.s_nationkey = s.s_nationkey AND o.s_suppkey <= s.s_suppkey)
                            <= (SELECT count(*) FROM customer WHERE c_nationkey = s.s_nationkey)"""),
    RequiredRule(
        "lower_grouping_sets",  # the shared plan groups first: sets combine groups
        "SELECT c_nationkey, c_mktsegment, sum(c_acctbal) FROM customer GROUP BY ROLLUP (c_nationkey, c_mktsegment)",
        lines=("common table 0:", "union all", "aggregate", "groups: c_nationkey, c_mktsegment"),
        equivalent="""SELECT c_nationkey, c_mktsegment, sum(c_acctbal) FROM customer GROUP BY c_nationkey, c_mktsegment
                      UNION ALL SELECT c_nationkey, NULL, sum(c_acctbal) FROM customer GROUP BY c_nationkey
                      UNION ALL SELECT NULL, NULL, sum(c_acctbal) FROM customer"""),
    RequiredRule(
        "lower_ordered_aggregates",
        "SELECT n_regionkey, arg_min(n_name, n_nationkey) FROM nation GROUP BY n_regionkey",
        lines=("window", "aggregate", "groups: n_regionkey"),
        equivalent="""SELECT n_regionkey, n_name FROM nation AS n
                      WHERE n_nationkey = (SELECT min(n_nationkey) FROM nation AS o WHERE o.n_regionkey = n.n_regionkey)"""),
    RequiredRule(
        "choose_partitions",
        "SELECT n_name, p FROM nations_in_300_partitions WHERE p % 100 = 7",
        lines=("files: 4 of 300",),  # the first one has the schema
        equivalent="SELECT n_name, p FROM nation, (VALUES (7), (107), (207)) AS v (p)"),
)
