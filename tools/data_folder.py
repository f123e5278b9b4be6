"""Folders of generated data under data/, each made once."""

import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def ensure_folder(name, fill, is_complete=Path.exists):
    """Returns data/NAME, which `fill(folder)` makes unless it is complete. An interrupted run leaves nothing that looks complete."""
    folder = ROOT / "data" / name
    if is_complete(folder):
        return folder
    print(f"data: making {folder.relative_to(ROOT)}", file=sys.stderr)
    began = time.perf_counter()
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    fill(partial)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    print(f"data: done ({time.perf_counter() - began:.1f} s)", file=sys.stderr)
    return folder
