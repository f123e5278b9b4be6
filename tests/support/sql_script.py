"""Runs many statements in one process of the engine and gives their results apart."""

import tempfile
from pathlib import Path

from tests.support import pistachio_process

MARK = "=== end of result ==="


def run_statements(statements, *options, folder=None):
    """The CSV text of each statement; an error is a text that starts with `error: `. Raises when the process dies."""
    with tempfile.TemporaryDirectory(prefix="pistachio_script_") as scratch:
        file = Path(scratch) / "statements.sql"
        file.write_text("".join(f"{text.strip().rstrip(';')};\nSELECT '{MARK}' AS m;\n" for text in statements))
        words = ["-d", folder] if folder else []
        done = pistachio_process.run(*words, "-f", file, "--format", "csv", "-s", "on_error=continue", *options)
    parts = done.stdout.split(f"m\n{MARK}\n")
    if len(parts) != len(statements) + 1:
        raise RuntimeError(f"{len(parts) - 1} results for {len(statements)} statements; exit status {done.returncode}: {done.stderr[-500:]}")
    return parts[:-1]
