"""Keep a measurement beside the page that shows it, and make the page anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .measuring import ROOT, line


def record(file: Path, docs: Path) -> int:
    """Write `performance/measured.json` and `performance.md` into the folder of the pages. What was wrong stands in the tables."""
    measured = json.loads(file.read_text())
    kept = docs / "performance" / "measured.json"
    kept.write_text(json.dumps(measured, indent=1) + "\n")
    sys.path.insert(0, str(ROOT / "tests" / "docs"))
    import evidence_tables
    import tutorial_page

    evidence_tables.recorded.cache_clear()
    evidence_tables.MEASURED = kept
    (docs / "performance.md").write_text(tutorial_page.page(docs / "performance" / "page.md"))
    for result in measured["results"]:
        if not result["right"]:
            print(line(result), file=sys.stderr)
    return 0 if all(result["right"] for result in measured["results"]) else 1
