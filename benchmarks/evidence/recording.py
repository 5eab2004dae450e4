"""Keep a measurement beside the pages that show it, and make these anew."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .measuring import ROOT, line


def record(file: Path, docs: Path) -> int:
    """Write `performance/measured.json` into the folder of the pages, and those pages that show what was measured and whose
    templates are there. What was wrong stands in the tables."""
    measured = json.loads(file.read_text())
    kept = docs / "performance" / "measured.json"
    kept.write_text(_one_a_line(measured))
    sys.path[:0] = [str(ROOT / "tests" / "docs"), str(ROOT / "tests")]
    import evidence_tables
    import ladder
    import reductions_page
    import tutorial_page
    import warpgroups_page

    evidence_tables.recorded.cache_clear()
    evidence_tables.MEASURED = kept
    of_pages = {
        "performance": tutorial_page.expanded, "tutorial": tutorial_page.expanded, "warpgroups": warpgroups_page.expanded,
        "reductions": reductions_page.expanded,
    }  # fmt: skip
    for name, expanded in of_pages.items():
        if (template := docs / name / "page.md").exists():
            (docs / f"{name}.md").write_text(ladder.page(template, expanded))
    for result in measured["results"]:
        if not result["right"]:
            print(line(result), file=sys.stderr)
    return 0 if all(result["right"] for result in measured["results"]) else 1


def _one_a_line(measured: Mapping[str, Any]) -> str:
    """As JSON, each result in a line of its own: a file of a fraction of the size, of which a difference can be read."""
    about = "".join(
        f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in measured.items() if name != "results"
    )
    results = ",\n".join(json.dumps(result) for result in measured["results"])
    return f'{{{about}"results": [\n{results}\n]}}\n'
