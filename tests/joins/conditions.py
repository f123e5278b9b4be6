"""Conditions of generated joins: the SQL text of each and its truth for a pair of rows."""

from dataclasses import dataclass

from tests.joins.naive_join import compare, conjunction, disjunction, negation


@dataclass(frozen=True)
class KeyComparison:
    left: str  # table
    operator: str
    right: str
    place: int
    same_type: bool = False

    def sql(self):
        return f"{self.left}.k{self.place + 1} {self.operator} {self.right}.k{self.place + 1}"

    def key(self, row):
        return None if row is None else (row.own if self.same_type else row.compared)[self.place]

    def truth(self, rows):
        return compare(self.operator, self.key(rows.get(self.left)), self.key(rows.get(self.right)))


@dataclass(frozen=True)
class ValueComparison:
    """Between the plain integer columns of two tables, one of them with an offset."""

    left: str
    operator: str
    right: str
    shift: int = 0

    def sql(self):
        return f"{column(self.left)} {self.operator} {column(self.right)}" + (f" + {self.shift}" if self.shift else "")

    def truth(self, rows):
        right = value_of(rows.get(self.right))
        return compare(self.operator, value_of(rows.get(self.left)), None if right is None else right + self.shift)


@dataclass(frozen=True)
class ConstantComparison:
    table: str
    operator: str
    constant: int

    def sql(self):
        return f"{column(self.table)} {self.operator} {self.constant}"

    def truth(self, rows):
        return compare(self.operator, value_of(rows.get(self.table)), self.constant)


@dataclass(frozen=True)
class IsNull:
    table: str

    def sql(self):
        return f"{column(self.table)} IS NULL"

    def truth(self, rows):
        return value_of(rows.get(self.table)) is None


@dataclass(frozen=True)
class AnyOf:
    parts: tuple

    def sql(self):
        return "(" + " OR ".join(part.sql() for part in self.parts) + ")"

    def truth(self, rows):
        return disjunction(part.truth(rows) for part in self.parts)


@dataclass(frozen=True)
class Not:
    part: object

    def sql(self):
        return f"NOT ({self.part.sql()})"

    def truth(self, rows):
        return negation(self.part.truth(rows))


@dataclass(frozen=True)
class Constant:
    text: str
    value: object

    def sql(self):
        return self.text

    def truth(self, _):
        return self.value


def column(table):
    return f"{table}.{table}_value"


def value_of(row):
    return None if row is None else row.value


def sql_of(conditions):
    return " AND ".join(condition.sql() for condition in conditions) or "TRUE"


def holds(conditions, rows):
    return conjunction(condition.truth(rows) for condition in conditions) is True


def matcher(conditions, right_name, right):
    """The `match` function of `naive_join.join`: indexes of the matching environments in `right`. Compares tuples of keys first,
    because the other conditions take time proportional to the product of both sides."""
    keys = [one for one in conditions if isinstance(one, KeyComparison) and one.operator == "=" and right_name in (one.left, one.right)]
    rest = [one for one in conditions if one not in keys]

    def own_keys(rows, table):
        return tuple(one.key(rows.get(table(one))) for one in keys)

    right_keys = [own_keys(environment, lambda _: right_name) for environment in right]

    def match(rows):
        wanted = own_keys(rows, lambda one: one.left if one.right == right_name else one.right)
        if None in wanted:
            return []
        places = [place for place, found in enumerate(right_keys) if found == wanted]
        return [place for place in places if holds(rest, rows | right[place])] if rest else places
    return match
