"""What the recipes `hopper` and `igemm_hopper` make at small sizes, as text in which a mistake can be made by hand: what
matters has names.

    kernel("ring").text       a module: `%full[%stage]`, `%A_map`, `!bars`, … in place of numbers and long types
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from weft.interpreter.ir.mlir import ir
from weft.pipeline import Choice, applied

SEVEN_TAPS = {"r": 7, "s": 1, "pad": 0, "c": 64, "k": 120, "bn": 64, "stages": 3}
RECIPES: Mapping[str, tuple[str, Mapping[str, object]]] = MappingProxyType({
    "ring": ("hopper", {"m": 120, "n": 120, "k": 440, "bm": 128, "bn": 64, "stages": 3, "store": 0}),
    "cluster": ("hopper", {"m": 128, "n": 120, "k": 440, "bm": 64, "bn": 64, "stages": 3, "cluster": 2, "store": 0}),
    "tiles": ("hopper", {"m": 120, "n": 192, "k": 104, "bm": 64, "bn": 64, "stages": 3, "blocks": 2, "group": 1, "store": 0}),
    "flight": ("hopper", {"m": 120, "n": 120, "k": 440, "bm": 128, "bn": 64, "stages": 3, "store": 0, "overlap": "true"}),
    "flying tiles": ("hopper", {
        "m": 120, "n": 192, "k": 104, "bm": 64, "bn": 64, "stages": 3, "blocks": 2, "group": 1, "store": 0, "overlap": "true"}),
    "flying cluster": ("hopper", {
        "m": 128, "n": 120, "k": 440, "bm": 64, "bn": 64, "stages": 3, "cluster": 2, "store": 0, "overlap": "true"}),
    "two blocks": ("hopper", {"m": 120, "n": 120, "k": 440, "bm": 128, "bn": 64, "stages": 3, "store": 0, "resident": 2}),
    "pixels": ("igemm_hopper", {"n": 3, "h": 5, "w": 6, "c": 128, "k": 64, "bm": 64, "bn": 64, "stages": 3, "store": 0}),
    "stores": ("hopper", {"m": 120, "n": 120, "k": 440, "bm": 128, "bn": 64, "stages": 3, "store": 32}),
    "stored tiles": (
        "hopper", {"m": 120, "n": 192, "k": 104, "bm": 64, "bn": 64, "stages": 3, "blocks": 2, "group": 1, "store": 32}),
    "turns": ("hopper", {
        "m": 120, "n": 360, "k": 104, "bm": 64, "bn": 192, "stages": 2, "blocks": 2, "group": 1, "store": 64, "buffers": 2}),
    "conv": ("igemm_hopper", SEVEN_TAPS | {"n": 3, "h": 11, "w": 6, "bm": 128, "store": 32}),
    "conv cluster": ("igemm_hopper", SEVEN_TAPS | {"n": 2, "h": 14, "w": 8, "bm": 64, "cluster": 2, "store": 0}),
})  # fmt: skip
"""Recipes and their settings: two consumers, seven steps on three stages, ragged along each dimension; two blocks of a cluster,
each of which loads half of a tile for both; tiles of pixels, of two images and more; and two blocks that take tile after tile,
so that the ring goes on in the middle. Those that fly overlap the products of two steps, and of two blocks a multiprocessor has
both. Where `store` is not 0, two parts of the result one after the other, in boxes; or three, which take two buffers in turn. The
convolutions of seven taps make the kernels of `ring`, `cluster` and `stores`, but for the pixels."""


@dataclass(frozen=True)
class Made:
    """A right kernel: its payload, and the module with names."""

    payload: ir.Module
    text: str


@cache
def kernel(name: str) -> Made:
    recipe, settings = RECIPES[name]
    done = applied(Choice(recipe, None, {key: str(value) for key, value in ({"resident": 1} | settings).items()}).open())
    return Made(done.payload, named(done.text))


BARS = r"(?:!nvgpu\.mbarrier\.group)?(<memorySpace = #gpu\.address_space<workgroup>, num_barriers = \d+>)"
MAP = r"(?:!nvgpu\.tensormap\.descriptor)?(<tensor = memref<\w+, #gpu\.address_space<workgroup>>, swizzle = [^<>]*>)"
MAPS = "mapA mapB mapC"
WAIT = r"try_wait\.parity %{}\[(%\w+)\], (%\w+),"
ITSELF = (
    r"(%\w+) = nvgpu\.mbarrier\.create \{weft\.name = \"(\w+)\"\}", r"(%\w+) ?: [^%]*[{ ]weft\.name = \"(\w+)\"\}",
)  # fmt: skip
"""What names itself."""
PIXELS = r"(%\w+), %\w+, (%\w+), box\[(%\w+), (%\w+), (%\w+), (%\w+)\] im2col\[(%\w+), (%\w+)\]"
OF_PIXELS = ("pixels", "arrival", "channel", "across", "down", "image", "tap_across", "tap_down")
STARTS = [
    (r"scf\.for (%\w+) = %c0 to %c\d+ step %c1 \{\s+nvgpu\.mbarrier\.init", "each"),
    (r"scf\.if (%\w+) \{\s+scf\.for", "first"), (r"scf\.if (%\w+) \{\s+$", "consumer"),
]  # fmt: skip
USES = [
    (WAIT.format("full"), "stage", "phase"), (r"scf\.for (%\w+) = \S+ to \S+ step \S+ iter_args\((%\w+)", "k", "before"),
    (r"(%\w+) = nvgpu\.warpgroup\.mma\.init", "zero"), (r"(%\w+) = nvgpu\.warpgroup\.mma (%\w+), (%\w+)", "sums", "a", "b"),
    (r"(%\w+) = memref\.subview %A_shared", "own_A"), (r"(%\w+) = memref\.subview %B_shared", "own_B"),
    (r"scf\.if (%\w+) \{\s+(%\w+) = nvgpu\.mbarrier\.(?:arrive|get) %empty", "speaks", "token"),
    (r"nvvm\.mapa %\w+, (%\w+)|$", "rank"),
]  # fmt: skip
STORES = [
    (r"(%\w+) = builtin\.unrealized_conversion_cast (%\w+)", "held", "total"), (r"(%\w+) = vector\.extract", "pair"),
    (r"vector\.store %pair, %\w+\[(%\w+), (%\w+)\]", "m", "n"),
]  # fmt: skip
BOXES = [
    *STORES[:2], (r"scf\.for (%\w+) = %c0 to %c\d+ step %c1 \{\s+(?:scf\.if|%\w+ = \S+ \S+ -> \(d0 mod \d\)>)", "part"),
    (r"nvvm\.barrier id = (%\w+)", "meeting"),
    (r"vector\.store %pair, %\w+\[(?:%\w+, )?(%\w+), (%\w+), (%\w+)\]", "panel", "line", "column"),
    (r"(%\w+) = memref.subview %C_shared", "box"),
]  # fmt: skip
LOADS = [
    (WAIT.format("empty"), "slot", "other"), (r"scf\.for (%\w+) = [^{]*\{(?:\s+%\w+ = affine[^\n]*)?\s+%slot", "k"),
    (rf"nvgpu\.tma\.async\.load %A_map\[%k, (%\w+)\]|{PIXELS}", "row", *OF_PIXELS),
    (r"(%\w+) = memref\.subview %A_shared", "tile_A"),
    (r"memref\.subview %B_shared\[%slot, ([%\w]+)", "half"),
    (r"nvgpu\.tma\.async\.load %B_map\w*\[(%\w+), (%\w+)\], %full\[%slot\] to (%\w+)", "col", "from", "tile_B"),
    (r"scf\.if (%\w+) \{", "loads"),
]  # fmt: skip


ROLES = ((1, 2), (3,))
"""Of the parts of a kernel, those of consumers and of the producer; what a role does not define stands in front of both."""


def named(text: str) -> str:
    """A module of two roles with names for what its memory barriers, copies and products use, and with maps where they are used."""
    for name, said in re.findall(r"^(#map\d*) = (.*)\n", text, re.MULTILINE):
        text = re.sub(rf"{name}(?!\d)", said, text.replace(f"{name} = {said}\n", ""))
    text = re.sub(r"\"([XWY])(_map\w*|_shared)\"", lambda found: f'"{"ABC"["XWY".index(found[1])]}{found[2]}"', text)
    host, body = text.split("  gpu.module", 1)
    for pattern in ITSELF:
        for found in re.findall(pattern, body):
            body = _renamed(body, *found)
    parts = re.split(r"(?=nvvm\.setmaxregister)|(?=\n +%\w+ = builtin\S+ %\w+ : !nvgpu\.warpgroup)", body)
    for at, patterns in enumerate((STARTS, USES, BOXES if "tma.async.store" in body else STORES, LOADS)):
        for pattern, *names in patterns:
            _name(parts, at, pattern, *names)
    text, types = f"{host}  gpu.module{''.join(parts)}", ""
    for pattern, kind, names in ((BARS, "!nvgpu.mbarrier.group", "bars"), (MAP, "!nvgpu.tensormap.descriptor", MAPS)):
        for name, said in zip(names.split(), dict.fromkeys(re.findall(pattern, text)), strict=False):
            text = text.replace(kind + said, f"!{name}").replace(said, f"!{name}")
            types += f"!{name} = {kind}{said}\n"
    return types + text


def _name(parts: list[str], at: int, pattern: str, *names: str) -> None:
    """Give names to what a pattern finds in a part: in that part alone, or in all where it is defined in front of it."""
    found = re.search(pattern, parts[at])
    assert found, pattern
    for old, new in zip(found.groups(""), names, strict=True):
        if re.fullmatch(r"%(\d+|arg\d+|subview\w*)", old):  # the others have names
            defined = [number for number, part in enumerate(parts) if f"{old} = " in part]
            own = [role for role in ROLES if at in role and set(role).intersection(defined)]
            others = [0, *(n for role in ROLES if not set(role).intersection(defined) for n in role)]
            here = [at, *(n for role in ROLES if at in role for n in role if n not in defined)]
            for number in here if at and at in defined else own[0] if own else others:
                parts[number] = _renamed(parts[number], old, new)


def _renamed(part: str, old: str, new: str) -> str:
    return re.sub(rf"{old}(?!\w)", f"%{new}", part)
