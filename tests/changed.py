"""What differs from the last commit, and which sources import it.

    python tests/changed.py        the modules of Weft whose types an edit may break: those that differ, and those that import one
"""

from __future__ import annotations

import subprocess

from places import ROOT
from rooms import arrows, files_of


def changed() -> set[str]:
    """Files that differ from the last commit, and new ones, by their paths in the repository."""
    listed = (["diff", "--name-only", "--diff-filter=d", "HEAD"], ["ls-files", "--others", "--exclude-standard"])
    found = (subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout for words in listed)
    return {name for lines in found for name in lines.splitlines()}


def typed() -> set[str]:
    """The modules that differ, and those that import one of these."""
    paths = {name: path.relative_to(ROOT).as_posix() for name, path in files_of().items()}
    differ = changed().intersection(paths.values())
    importing = (paths[arrow.source] for arrow in arrows() if paths[arrow.target] in differ) if differ else ()
    return differ.union(importing)


if __name__ == "__main__":
    print(*sorted(typed()))
