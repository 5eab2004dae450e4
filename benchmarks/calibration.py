"""Predictions beside a kept measurement: the constants of the model are fitted to half of the items, and tested on the others.

    git worktree add ../measured COMMIT                  # the commit that was measured
    (cd ../measured; python benchmarks/gpu.py prepare build/gpu)
    python benchmarks/calibration.py test ../measured/build/gpu        # into docs/performance/predicted.json
    python benchmarks/calibration.py fit ../measured/build/gpu         # what constants the first half asks for

An item is a computation at a size; all its schedules are in the same half. Bundles are compiled and predicted as they were written.
Blocks that stay are left out of `fit`, and of `test` unless `--all`: the model needs up to a minute for each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from weft.dsl.diagnostics import WeftError
from weft.runtime.files.bundle import read_bundle
from weft.runtime.plan.resolve import resolve
from weft.runtime.predict.chips import CHIPS, Chip
from weft.runtime.predict.prediction import predict

ROOT = Path(__file__).parents[1]
MEASURED, PREDICTED = (ROOT / "docs" / "performance" / f"{name}.json" for name in ("measured", "predicted"))
MEASURED_ON = CHIPS["h200"]
CANDIDATES: Mapping[str, Sequence[float]] = {
    "start": (600, 800, 1000), "l2_stores": (2000, 2200, 2500), "l2": (5700, 6300, 6900), "tensor_share": (0.41, 0.43, 0.46),
    "group_share": (0.77, 0.79, 0.81), "dram_share": (0.82, 0.84, 0.86), "fetch": (8, 9, 10), "launch": (1.3e-6, 1.5e-6, 1.7e-6),
}  # fmt: skip
"""Constants of a chip that nobody publishes, or that are published and not reached; and what is tried for each."""
WITHIN, WORST = math.log(1.15), math.log(1.5)
"""A prediction that is off by more is counted; one that is off by more still weighs no more in the fit: it has another cause."""
FAMILIES = ("attention_tensor", "igemm_tensor_nchw", "tensor", "hopper")
"""Kernels by tensor cores, by what their recipe or schedule is called; others are named by their group."""


@dataclass(frozen=True)
class Row:
    """A schedule of an item: its bundle, and what was measured of it.

    Args:
        half: 0 of the items that constants are fitted to, 1 of the others.
        predicted: seconds, one for each chip that was asked of; None where the model refuses.
    """

    item: str
    entry: str
    bundle: str
    measured: float
    half: int
    predicted: tuple[float | None, ...] = ()

    @property
    def family(self) -> str:
        """Of what kind its kernels are."""
        group, _, name = self.item.partition(": ")
        said = f"{name.partition(' ')[0] if group == 'recipes' else ''} {self.entry}"
        found = next((one for one in FAMILIES if one in said), None)
        return f"{group}: {found}" if found else group

    @property
    def stays(self) -> bool:
        return "stay" in self.entry


def rows(folder: Path) -> list[Row]:
    """All that was measured, of the bundles of a folder."""
    items = json.loads((folder / "items.json").read_text())
    bundles = {(one["item"], entry): name for one in items for entry, name in one["entries"].items()}
    found = []
    for one in json.loads(MEASURED.read_text())["results"]:
        for entry, mine in one.get("entries", {}).items() if "libraries" in one else ():
            if "seconds" in mine and (one["item"], entry) in bundles:
                half = hashlib.sha1(one["item"].encode()).digest()[0] % 2
                found.append(Row(one["item"], entry, str(folder / bundles[one["item"], entry]), mine["seconds"], half))
    return found


def predicted(asked: tuple[Row, Sequence[Chip]]) -> Row:
    """The row with what the model says for each of some chips."""
    row, chips = asked
    bundle = read_bundle(Path(row.bundle))
    shapes = {a.name: tuple(n for n in a.shape if n is not None) for a in bundle.signature.arguments if a.shape is not None}
    plan = resolve(bundle.plan, shapes, {})
    try:
        return replace(row, predicted=tuple(predict(plan, bundle.cuda, chip).seconds for chip in chips))
    except WeftError as error:
        print(f"{row.item} {row.entry}: {error}", file=sys.stderr)
        return replace(row, predicted=(None,) * len(chips))


def errors(ones: Iterable[Row], number: int = 0) -> list[float]:
    """ln(predicted / measured), by the chip of that number."""
    return [math.log(said / row.measured) for row in ones if (said := row.predicted[number]) is not None]


def loss(found: Sequence[float]) -> float:
    return sum(min(abs(one), WORST) ** 2 for one in found) / len(found)


def fitted(half: Sequence[Row], each: int, jobs: int) -> Chip:
    """The chip with those candidates, one constant after the other, that are closest to the measured times."""
    by_item: dict[str, list[Row]] = {}
    for row in sorted(half, key=lambda row: hashlib.sha1(row.entry.encode()).digest()):
        by_item.setdefault(row.item, []).append(row)
    sample, chip = [row for ones in by_item.values() for row in ones[:each]], MEASURED_ON
    with Pool(jobs) as pool:
        for name, values in CANDIDATES.items():
            chips = [replace(chip, **{name: value}) for value in values]
            found = pool.map(predicted, [(row, chips) for row in sample], chunksize=2)
            losses = [loss(errors(found, n)) for n in range(len(chips))]
            chip = chips[losses.index(min(losses))]
            told = (f"{value:g} {off**0.5:.4f}" for value, off in zip(values, losses, strict=True))
            print(f"{name}: {', '.join(told)}", flush=True)
    return chip


def constants(chip: Chip) -> dict[str, float]:
    """What was fitted, as the chip has it."""
    return {name: asdict(chip)[name] for name in CANDIDATES}


def summary(ones: Sequence[Row]) -> str:
    """The geometric mean of predicted / measured, and how many are off."""
    found = errors(ones)
    off = sum(abs(one) > WITHIN for one in found)
    mean, worst = math.exp(sum(found) / len(found)), max(found, key=abs)
    return f"{len(found):4} rows, mean {mean:.2f}, {off / len(found):4.0%} off by more than 15 %, worst {math.exp(worst):.2f}"


def table(ones: Sequence[Row]) -> list[str]:
    """A line for all, and for each family, the worst last."""
    known = [row for row in ones if row.predicted[0] is not None]
    families: dict[str, list[Row]] = {}
    for row in known:
        families.setdefault(row.family, []).append(row)
    order = sorted(families.items(), key=lambda pair: loss(errors(pair[1])))
    lines = [f"{name:38} {summary(mine)}" for name, mine in (("all", known), *order)]
    return [*lines, f"refused: {len(ones) - len(known)} of {len(ones)}"]


def kept(ones: Sequence[Row]) -> dict[str, Any]:
    """As the page takes it."""
    each = [
        {"item": row.item, "entry": row.entry, "family": row.family, "half": row.half, "predicted": row.predicted[0]}
        for row in ones
    ]
    return {"chip": MEASURED_ON.name, "constants": constants(MEASURED_ON), "rows": each}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("fit", "test"))
    parser.add_argument("folder", type=Path, help="where `gpu.py prepare` of the measured commit wrote its bundles")
    parser.add_argument("-o", dest="output", type=Path, default=PREDICTED, help="where `test` keeps its rows")
    parser.add_argument("--all", action="store_true", help="blocks that stay, too")
    parser.add_argument("--each", type=int, default=2, help="schedules of an item that `fit` looks at")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    chosen = parser.parse_args(arguments)
    every = [row for row in rows(chosen.folder) if chosen.all or not row.stays]
    if chosen.command == "fit":
        print(json.dumps(constants(fitted([row for row in every if row.half == 0], chosen.each, chosen.jobs))))
        return 0
    with Pool(chosen.jobs) as pool:
        found = pool.map(predicted, [(row, [MEASURED_ON]) for row in every], chunksize=2)
    whole = kept(found)
    whole_rows = ",\n".join(json.dumps(one) for one in whole.pop("rows"))
    chosen.output.write_text(f'{json.dumps(whole)[:-1]}, "rows": [\n{whole_rows}\n]}}\n')
    for half, title in enumerate(("fitted to these items", "tested on these items")):
        print(title, *table([row for row in found if row.half == half]), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
