"""Reductions and scans that processors share, in loops over other processors: right by every witness, or refused.

`WEFT_SOAK=1 WEFT_SEED=3000 pytest tests/interpreter/launch/shared/test_random_shares.py` goes on at a seed, 3,000 of them.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from judging import verdict
from random_shares import program

SOAK, SEED = "WEFT_SOAK" in os.environ, int(os.environ.get("WEFT_SEED", "0"))
EACH = 15
REFUSED = {
    "W0343": "more results than a thread keeps; scans of some lanes",
    "W0345": "more iterations than processors",
    "W0348": "a vector that is not in one row of what tiles leave",
    "W0351": "a fill that no thread alone can do",
    "W0352": "scans of some of a block's threads",
    "W0353": "`threads(*)` in a launch that has no other map of threads",
    "W0355": "temporaries of a size known only at run time",
    "W0601": "needs barriers, and has none",
    "W0603": "whole warps are not known to pass",
    "W0604": "no barrier can stand where it is needed",
}
"""Codes that a refusal may have, and what of."""


@pytest.mark.parametrize("first", range(SEED, SEED + (3000 if SOAK else 15), EACH))
def test_random_shares(first: int, tmp_path: Path) -> None:
    """Against the reference on the simulator, some of them by the text and as loops, too. Most are accepted."""
    found = Counter[str]()
    for seed in range(first, first + EACH):
        payload, body, one = program(random.Random(seed))
        try:
            said = verdict(payload, body, tmp_path, seed, native=seed % (4 if SOAK else 12) == 0, shapes=one.shapes)
        except Exception as error:
            raise AssertionError(f"seed {seed}\n{payload}\n{body}") from error
        assert said == "right" or set(said.split()) <= set(REFUSED), f"seed {seed}: {said}\n{payload}\n{body}"
        found[said] += 1
    print(dict(found))
    assert found["right"] > EACH // 2, found
