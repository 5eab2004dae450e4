"""Random reductions whose bodies do something to their inputs before they combine them, and schedules with ragged tiles of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

INTEGERS = ("i1", "i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
COMBINERS = {
    "i": ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"),
    "f": ("addf", "addf", "subf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"),
}


def real(kind: str) -> bool:
    return kind in FLOATS


def width(kind: str) -> int:
    return int(kind.lstrip("bfi"))


@dataclass
class Body:
    """The body of a reduction being written: SSA lines, one new name each."""

    r: random.Random
    lines: list[str] = field(default_factory=list)

    def op(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def converted(self, value: str, old: str, new: str) -> str:
        """The value in another type, by any of the ops that make that."""
        if old == new:
            return value
        if not real(old) and not real(new):
            names = ("trunci",) if width(new) < width(old) else ("extsi", "extui")
        elif not real(old):
            names = ("sitofp", "uitofp")
        elif not real(new):
            return self.op(f"arith.fptosi {value} : {old} to {new}")
        elif width(old) == width(new):
            return self.converted(self.op(f"arith.extf {value} : {old} to f32"), "f32", new)
        else:
            names = ("truncf",) if width(new) < width(old) else ("extf",)
        return self.op(f"arith.{self.r.choice(names)} {value} : {old} to {new}")

    def constant(self, kind: str) -> str:
        value = self.r.choice(("0", "1", "-1", "2") if kind != "i1" else ("true", "false"))
        return self.op(f"arith.constant {value}{'' if kind == 'i1' else f'.0 : {kind}' if real(kind) else f' : {kind}'}")

    def changed(self, value: str, kind: str) -> str:
        """Something done to one value."""
        r = self.r
        if real(kind):
            how = r.choice(("math.tanh", "math.absf", "arith.negf", "math.exp", "square", "constant", "select"))
            if "." in how:
                return self.op(f"{how} {value} : {kind}")
            if how == "square":
                return self.op(f"arith.mulf {value}, {value} : {kind}")
            other = self.constant(kind)
            if how == "constant":
                return self.op(f"arith.{r.choice(('addf', 'subf', 'mulf', 'maximumf'))} {value}, {other} : {kind}")
            test = self.op(f"arith.cmpf {r.choice(('ogt', 'ult', 'oeq'))}, {value}, {other} : {kind}")
        else:
            how = r.choice(("math.absi", "constant", "constant", "select"))
            if "." in how and kind != "i1":
                return self.op(f"{how} {value} : {kind}")
            other = self.constant(kind)
            if how != "select":
                return self.op(f"arith.{r.choice(('addi', 'subi', 'muli', 'andi', 'xori', 'ori'))} {value}, {other} : {kind}")
            test = self.op(f"arith.cmpi {r.choice(('sgt', 'ult', 'eq'))}, {value}, {other} : {kind}")
        return self.op(f"arith.select {test}, {value}, {other} : {kind}")

    def both(self, left: str, right: str, kind: str) -> str:
        """Something made of two values."""
        names = ("mulf", "mulf", "subf", "minimumf", "divf") if real(kind) else ("muli", "muli", "addi", "andi", "maxsi", "divsi")
        name = self.r.choice(names)
        if name == "divsi":  # by something that is 0 nowhere, but would be if a filling were read
            if kind == "i1":
                name = "andi"
            else:
                for how, number in (("andi", 6), ("ori", 1)):  # nor by -1: of the least number that is undefined
                    right = self.op(f"arith.{how} {right}, {self.op(f'arith.constant {number} : {kind}')} : {kind}")
        return self.op(f"arith.{name} {left}, {right} : {kind}")


@dataclass(frozen=True)
class Case:
    payload: str
    schedule: str


def case(r: random.Random) -> Case:
    m, k, j = r.randint(1, 9), r.randint(1, 14), r.choice((None, None, None, r.randint(1, 5)))
    total = r.choice((*INTEGERS[1:], "f32", "f32", "f64"))  # the reference has no f16: sums of them overflow elsewhere
    dims = ["d0", "d1", *(["d2"] if j is not None else [])]
    extents = {"d0": m, "d1": k, "d2": j or 0}
    body = Body(r)
    maps, shapes, scalars, values = list[str](), list[str](), list[str](), list[str]()
    for number in range(r.choice((1, 1, 2, 2, 3))):
        kind = r.choice((total, total, *INTEGERS, *FLOATS))
        axes = dims[:] if number == 0 else r.sample(dims, r.randint(1, len(dims)))
        if r.random() < 0.3:
            r.shuffle(axes)
        sizes = [extents[a] for a in axes]
        if number > 0 and r.random() < 0.2:  # a window
            axes, sizes = ["d0 + d1"], [m + k - 1]
        maps.append(f"affine_map<({', '.join(dims)}) -> ({', '.join(axes)})>")
        scalars.append(kind)
        shapes.append(f"tensor<{'x'.join(map(str, sizes))}x{kind}>")
        value = f"%a{number}"
        if r.random() < 0.3:
            value = body.changed(value, kind)
        values.append(body.converted(value, kind, total))
    if r.random() < 0.1 and not real(total):
        index = body.op(f"linalg.index {r.randrange(len(dims))} : index")
        values.append(body.op(f"arith.index_cast {index} : index to {total}"))
    while len(values) > 1:
        values = [body.both(values[0], values[1], total), *values[2:]]
    term = values[0]
    for _ in range(r.choice((0, 0, 1, 2))):
        term = body.changed(term, total)
    outs = r.choice((1, 1, 1, 1, 2))
    results, sums = [], outs == 1
    for number in range(outs):
        name = r.choice(COMBINERS["f" if real(total) else "i"])
        operands = [f"%o{number}", term]
        sums = sums and name[:3] in ("add", "sub")
        if name not in ("subf", "subi") and r.random() < 0.4:
            operands.reverse()
        results.append(body.op(f"arith.{name} {', '.join(operands)} : {total}"))
    ordered = outs == 2 and r.random() < 0.5
    if ordered:  # the largest, and where it is: the second follows the first
        larger = body.op(f"arith.{'cmpf ogt' if real(total) else 'cmpi sgt'}, {term}, %o0 : {total}")
        place = body.converted(body.op(f"arith.index_cast {body.op('linalg.index 1 : index')} : index to i32"), "i32", total)
        results = [body.op(f"arith.select {larger}, {a}, %o{n} : {total}") for n, a in enumerate((term, place))]
    unread = outs - 1 if r.random() < 0.1 else None  # what the last iteration makes: the accumulator is not read
    if unread is not None:
        results, sums = [*results[:-1], term], False
    out = f"tensor<{m}x{total}>"
    maps += [f"affine_map<({', '.join(dims)}) -> (d0)>"] * outs
    kinds = ['"parallel"', *['"reduction"'] * (len(dims) - 1)]
    given = [f"%x{n}: {t}" for n, t in enumerate(shapes)]
    starts, lines = [], []
    for n in range(outs):
        if n != unread and r.random() < 0.4:
            zero = r.choice(("0", "1")) + ("" if not real(total) else ".0")
            if real(total) and r.random() < 0.3:
                zero = "-0.0"
            lines += [f"%c{n} = arith.constant {zero} : {total}", f"%e{n} = tensor.empty() : {out}",
                      f"%s{n} = linalg.fill ins(%c{n} : {total}) outs(%e{n} : {out}) -> {out}"]  # fmt: skip
        else:
            given.append(f"%s{n}: {out}")
        starts.append(f"%s{n}")
    block = ", ".join([*(f"%a{n}: {t}" for n, t in enumerate(scalars)), *(f"%o{n}: {total}" for n in range(outs))])
    returned = ", ".join([out] * outs)
    lines.append(
        f"%r{':2' if outs == 2 else ''} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
        f"iterator_types = [{', '.join(kinds)}]}} "
        f"ins({', '.join(f'%x{n}' for n in range(len(shapes)))} : {', '.join(shapes)}) outs({', '.join(starts)} : {returned}) {{"
    )
    lines += [f"^bb0({block}):", *body.lines, f"linalg.yield {', '.join(results)} : {', '.join([total] * outs)}"]
    lines.append(f"}} -> ({returned})")
    lines.append("return " + ", ".join(["%r"] if outs == 1 else [f"%r#{n}" for n in range(outs)]) + f" : {returned}")
    payload = f"func.func @f({', '.join(given)}) -> ({returned}) {{\n" + "\n".join(lines) + "\n}\n"
    return Case(payload, schedule(r, k, j, sums, ordered))


def schedule(r: random.Random, k: int, j: int | None, sums: bool, ordered: bool) -> str:
    """Ragged in rows and sums: staged or not, in parts or not, with the rows in threads or the whole op in one.

    `ordered`: the first of several that are equal counts, so that tiles of two dimensions must keep the order.
    """
    bm, bk = r.randint(1, 5), r.randint(1, 6)
    if ordered and j is not None:
        bk = 1
    more = "" if j is None else f", {r.randint(1, 4)}"
    if sums and j is None and k > 3 and r.random() < 0.4:
        return "\n".join([
            "let g = match linalg.generic", f"let (part, zeros, sum) = split-k g {r.randint(2, 3)}",
            f"let (tiles, inner) = tile part [1, {bm}]",
            "fuse zeros into tiles", "let (lanes, one) = tile inner [1, 1]", "fuse zeros into lanes", "map tiles to blocks(y, x)",
            "map lanes to threads(y, x)",
            f"let (rows, row) = tile sum [{bm}]", "let (each, add) = tile row [1]", "map rows to blocks(x)",
            "map each to threads(x)", "insert-barriers", "verify-sync", "launch tiles", "launch rows",
        ])  # fmt: skip
    lines = ["let g = match linalg.generic", "let fills = match* linalg.fill", f"let (tiles, inner) = tile g [{bm}]"]
    lines += ["foreach init in fills {", "fuse init into tiles", "}", "map tiles to blocks(x)"]
    loops = "k, " if j is None else "k, l, "
    lines += [f"let ({loops}step) = tile inner [_, {bk}{more}]"]
    if r.random() < 0.3:
        lines += ["let (shared, copied) = promote-to-shared step.in0", "map copied to threads(*) cyclic"]
    lines += ["let (lanes, one) = tile step [1]", "foreach init in fills {", "let (il, io) = tile init [1]"]
    lines += ["map il to threads(x)", "}"]
    lines += ["map lanes to threads(x)", "insert-barriers", "verify-sync", "launch tiles"]
    return "\n".join(lines)
