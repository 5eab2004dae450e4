"""MLIR that others wrote, and kinds of it that are seldom met: judged, run or refused, and never a traceback, an abort or a hang.

`corpus/` holds pieces of our own, of each class that was found; a comment says what `weft verify` has to say of each. Upstream's
own tests are looked through in a soak: `WEFT_UPSTREAM_TESTS=llvm-project/mlir/test/Dialect/Linalg pytest tests/upstream`, one
folder or several with `:` between them, as pieces for `weft verify` and as payloads of generic schedules (`cases.py`).
`WEFT_UPSTREAM_SHARE=10` takes one in ten of the schedules. Dynamic sizes are also made static, where that parses.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import pieces
from outcomes import BAD, Judgement, judged

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.mlir"))
UPSTREAM = [Path(p) for p in os.environ.get("WEFT_UPSTREAM_TESTS", "").split(":") if p]
SHARE = int(os.environ.get("WEFT_UPSTREAM_SHARE", "1"))
CORPUS_SHARE = 1 if "WEFT_SOAK" in os.environ else 20
_DYNAMIC = re.compile(r"(?<=[<x])\?(?=x)")
_WANTED = re.compile(r"^// verify: (\w+)$", re.MULTILINE)


def wrong(found: list[Judgement]) -> list[str]:
    """Those that end in a way in which nothing may end, with what is needed to see it again."""
    return [f"{j.outcome}: {j.piece}, {j.case}\n{j.schedule or ''}\n{j.said[-3000:]}" for j in found if j.outcome in BAD]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_pieces_of_our_own(path: Path) -> None:
    texts = {f"{path.name}:{number}": text for number, text in enumerate(pieces(path.read_text()))}
    found = list(judged(texts.items(), CORPUS_SHARE))
    assert wrong(found) == []
    assert [f"{j.piece}: {j.case}" for j in found if j.outcome == "wrong"] == []
    wanted = {name: match[1] for name, text in texts.items() if (match := _WANTED.search(text))}
    assert {j.piece: _said(j) for j in found if j.case == "verify"} == wanted


def _said(judgement: Judgement) -> str:
    code = re.search(r"W\d{4}", judgement.said)
    return judgement.outcome if code is None else code[0]


@pytest.mark.parametrize("folder", UPSTREAM, ids=str)
def test_upstreams_own(folder: Path) -> None:
    found = list(judged(_of_folder(folder), SHARE))
    counts = Counter(j.outcome for j in found)
    print(f"{folder}: {len({j.piece for j in found})} pieces, " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    assert wrong(found) == []


def _of_folder(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.mlir")):
        for number, text in enumerate(pieces(path.read_text(errors="replace"))):
            yield f"{path}:{number}", text
            if (static := _DYNAMIC.sub("6", text)) != text:
                yield f"{path}:{number}, static", static
