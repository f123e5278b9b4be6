"""Results of the SQL tests, from DuckDB.

    tools/sql_results.py check FILE.slt...     runs the statements in DuckDB and shows where it disagrees with the file
    tools/sql_results.py fill FILE.slt...      writes DuckDB's rows below each query (leaves statements that it cannot run
unchanged)

Statements under a comment `# judge: no` are skipped: our result differs on purpose, and the comment says why."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from tests.support import duckdb_oracle  # noqa: E402


def read_cases(path):
    """Blocks of lines: (comments, header, sql lines, result lines or None)."""
    for block in path.read_text().split("\n\n"):
        lines = [line for line in block.split("\n")]
        while lines and lines[0] == "":
            lines.pop(0)
        comments = []
        while lines and lines[0].startswith("#"):
            comments.append(lines.pop(0))
        if not lines:
            yield comments, None, [], None
            continue
        header, rest = lines[0], lines[1:]
        if "----" in rest:
            cut = rest.index("----")
            yield comments, header, rest[:cut], [line for line in rest[cut + 1:] if line != ""]
        else:
            yield comments, header, [line for line in rest if line != ""], None


def shown(value):
    if value is None:
        return "NULL"
    return "(empty)" if value == "" else value


def shown_rows(answer):
    return ["\t".join(shown(value) for value in row) for row in answer.rows]


def parse_row(line):
    return tuple(None if cell == "NULL" else "" if cell == "(empty)" else cell for cell in line.split("\t"))


def run(path, fill):
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    duckdb_oracle.speak_like_pistachio(connection)
    problems, written = 0, []
    for comments, header, sql_lines, rows in read_cases(path):
        sql = "\n".join(sql_lines)
        asked = header is not None and not any("judge: no" in comment for comment in comments)
        if asked and "${FILES}" in sql:
            asked = False
        answer = None
        if asked:
            try:
                answer = duckdb_oracle.answer(connection, sql)
                if header.startswith("statement error"):
                    print(f"{path.name}: DuckDB accepts: {sql}")
                    problems += 1
            except duckdb.Error as error:
                if not header.startswith("statement error"):
                    print(f"{path.name}: DuckDB refuses: {sql}\n    {str(error).splitlines()[0]}")
                    problems += 1
        if header and header.startswith("query"):
            if answer is not None and fill:
                rows = shown_rows(answer) if "ordered" in header else sorted(shown_rows(answer))
            elif answer is not None:
                difference = duckdb_oracle.difference([parse_row(line) for line in rows], answer, ordered="ordered" in header)
                if difference:
                    print(f"{path.name}: {sql}\n    {difference}")
                    problems += 1
        written.append("\n".join(comments + ([header] if header else []) + sql_lines + (["----"] + rows if rows is not None else [])))
    if fill:
        path.write_text("\n\n".join(written).rstrip("\n") + "\n")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "fill"])
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    problems = sum(run(path, arguments.action == "fill") for path in arguments.files)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
