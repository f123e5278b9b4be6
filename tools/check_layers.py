"""Checks the layout rules of the source tree and prints every violation; exit 1 if there is one.

  - src/layers.txt names each folder with sources; a folder points only to folders on earlier lines (so there is no cycle).
  - Every `#include "folder/..."` and every USES list in the CMake files keeps to it.
  - Every such folder has a README.md of at most 20 lines (the kernels/* folders share src/kernels/README.md).
  - No source, test or tool is longer than 700 lines.
Usage: tools/check_layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

SOURCE_ENDINGS = {".h", ".cpp", ".cu", ".cuh"}
LONGEST_FILE = 700
LONGEST_README = 20
# A group name in a CMake USES list, and the one folder of the group that others may include.
GROUPS = {"kernels": "kernels/ops"}


class Layers:
    """src/layers.txt: folder -> folders it may use, in file order."""

    def __init__(self, text):
        self.uses = {}
        self.problems = []
        for number, line in enumerate(text.splitlines(), start=1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            folder, colon, used = line.partition(":")
            folder = folder.strip()
            where = f"src/layers.txt:{number}"
            if not colon:
                self.problems.append(f"{where}: not of the form 'folder: folders it may use': {line}")
                continue
            if folder in self.uses:
                self.problems.append(f"{where}: {folder} has two lines")
            for name in used.split():
                if name not in self.uses:
                    self.problems.append(f"{where}: {folder} uses {name}, which has no earlier line (levels go upwards)")
            self.uses[folder] = set(used.split())

    def folder_of(self, path):
        """The longest layer name that contains `path` (relative to src/); None outside every layer."""
        parts = path.split("/")[:-1]
        for length in range(len(parts), 0, -1):
            name = "/".join(parts[:length])
            if name in self.uses:
                return name
        return None

    def allows(self, user, used):
        return user == used or used in self.uses[user]


def sources_under(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SOURCE_ENDINGS and p.is_file())


def check_includes(source, layers):
    for path in sources_under(source):
        relative = path.relative_to(source).as_posix()
        folder = layers.folder_of(relative)
        if folder is None:
            if "/" in relative:
                yield f"src/{relative}: its folder has no line in src/layers.txt"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            included = match.group(1)
            where = f"src/{relative}:{number}"
            used = layers.folder_of(included)
            if ".." in included.split("/"):
                yield f'{where}: "{included}": includes are written from src/, without ".."'
            elif used is None:
                # A quoted include of a library is allowed, one of an unknown folder of ours is not.
                if (source / included).exists() or "/" not in included:
                    yield f'{where}: "{included}" is in no folder of src/layers.txt'
            elif not layers.allows(folder, used):
                yield f'{where}: {folder} may not include "{included}": src/layers.txt does not let it use {used}'


def check_cmake_uses(source, layers):
    names = {folder.replace("/", "_"): folder for folder in layers.uses} | GROUPS
    for path in sorted(source.rglob("CMakeLists.txt")):
        text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        where = path.relative_to(source.parent).as_posix()
        for call in re.findall(r"pistachio_folder\s*\(([^)]*)\)", text):
            words = call.split()
            name = words[words.index("NAME") + 1] if "NAME" in words else ""
            folder = names.get(name)
            if folder is None:
                yield f"{where}: target {name} has no line in src/layers.txt"
                continue
            if folder != path.parent.relative_to(source).as_posix():
                yield f"{where}: target {name} stands for src/{folder}, but lies in another folder"
            begin = words.index("USES") + 1 if "USES" in words else len(words)
            for word in words[begin:]:
                if word.isupper():  # the next keyword
                    break
                if word not in names:
                    yield f"{where}: USES {word}, which has no line in src/layers.txt"
                elif not layers.allows(folder, names[word]):
                    yield f"{where}: {folder} USES {word}, which src/layers.txt does not let it"


def check_readmes(source, layers):
    for folder in layers.uses:
        path = source / folder
        if not any(p.suffix in SOURCE_ENDINGS for p in path.glob("*")):
            continue
        readme = (source / "kernels" if folder.startswith("kernels/") else path) / "README.md"
        shown = readme.relative_to(source.parent).as_posix()
        if not readme.exists():
            yield f"{shown}: missing (job, main type, threads, memory, which file to open first)"
        elif len(readme.read_text(encoding="utf-8").splitlines()) > LONGEST_README:
            yield f"{shown}: longer than {LONGEST_README} lines"


def check_lengths(root):
    for name in ("src", "tests", "tools", "scripts"):
        for path in sorted((root / name).rglob("*")):
            if path.suffix in SOURCE_ENDINGS | {".py"} or (name == "scripts" and path.is_file()):
                lines = len(path.read_text(encoding="utf-8").splitlines())
                if lines > LONGEST_FILE:
                    yield f"{path.relative_to(root)}: {lines} lines; {LONGEST_FILE} are the most"


def check_tree(root):
    """All problems of the tree under `root`, as lines of text."""
    source = root / "src"
    layers = Layers((source / "layers.txt").read_text(encoding="utf-8"))
    problems = list(layers.problems)
    for folder in layers.uses:
        if not (source / folder).is_dir():
            problems.append(f"src/layers.txt: there is no folder src/{folder}")
    problems += check_includes(source, layers)
    problems += check_cmake_uses(source, layers)
    problems += check_readmes(source, layers)
    problems += check_lengths(root)
    return problems


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check_tree(root)
    for problem in problems:
        print(problem)
    print(f"layers: {len(problems)} problems" if problems else "layers: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
