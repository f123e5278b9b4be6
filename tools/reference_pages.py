"""Writes docs/functions.md and docs/settings.md from what the program says about itself.

    tools/reference_pages.py            writes the pages
    tools/reference_pages.py --check    says which pages are stale; exit status 1 if one is
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import pistachio_process as pistachio  # noqa: E402

ORIGIN = "<!-- Written by tools/reference_pages.py from the tables in the program: change those, not this. -->"


def rows_of(statement):
    done = pistachio.run("-c", statement, "--format", "json")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def cell(text):
    return text.replace("|", "\\|")


def code(text):
    return f"`{cell(text)}`" if text else ""


def table(headings, rows):
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def functions_page():
    functions = rows_of("SHOW FUNCTIONS")
    parts = [f"# Functions\n\n{ORIGIN}\n\n`SHOW FUNCTIONS` gives the same list. \"Nulls\" says how NULL arguments are treated.\n"]
    for kind, title in (("function", "Functions"), ("operator", "Operators"), ("aggregate", "Aggregates"), ("window", "Window functions")):
        rows = [(code(own["signature"]), own["nulls"], cell(own["description"])) for own in functions if own["kind"] == kind]
        parts.append(f"## {title}\n\n{table((kind, 'nulls', 'meaning'), rows)}")
    return "\n".join(parts)


def settings_page():
    settings = [(code(own["name"]), cell(own["takes"]), code(own["default"]), cell(own["description"])) for own in rows_of("SHOW ALL")]
    rules = [(code(own["name"]), cell(own["use"]), cell(own["reason"])) for own in rows_of("SHOW rules")]
    return (f"# Settings\n\n{ORIGIN}\n\nSet with `-s name=value`, `SET name = value` or `PISTACHIO_NAME` in the environment; `SHOW ALL` gives the values.\n\n"
            f"{table(('setting', 'takes', 'default', 'meaning'), settings)}\n"
            f"## Optimizer rules\n\nIn the order they run. `disabled_rules` switches off optional ones.\n\n{table(('rule', 'use', 'why'), rules)}")


def pages():
    """Path and text of each page."""
    return {ROOT / "docs/functions.md": functions_page(), ROOT / "docs/settings.md": settings_page()}


def stale_pages():
    return [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        stale = stale_pages()
        for path in stale:
            print(f"{path.relative_to(ROOT)} is stale: run tools/reference_pages.py")
        return 1 if stale else 0
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
