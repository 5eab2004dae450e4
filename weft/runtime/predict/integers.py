"""The results of an instruction for all threads at once: integers, predicates and addresses. Floats
are unknown."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from .operands import MASK, PREDICATE, Registers, Value, is_unset, many, pair, read
from .registers import divided, parts
from .sass import MachineInstruction


def _signed(value: Value) -> Value:
    value = value & MASK
    return (value ^ 0x80000000) - 0x80000000


def _as_int(flag: Value) -> Value:
    return flag.astype(np.int64) if many(flag) else int(flag)


# ---- what instructions give ----------------------------------------------------------------------

Outcome = dict[str, Value]
"""Register or predicate → its value after the instruction."""


def _wide(name: str, value: Value) -> Outcome:
    if name.endswith("Z"):
        return {}
    kind, number = re.match(r"(U?R)(\d+)", name).groups()  # type: ignore[union-attr]
    next_ = f"{kind}{int(number) + 1}"
    return {name: None, next_: None} if value is None else {name: value & MASK, next_: value >> 32 & MASK}


def _sum(state: Registers, x: MachineInstruction) -> Outcome:
    results, sources = divided(x)
    carries = [s for s in sources if PREDICATE.match(s)]
    values = [read(state, s) for s in sources if not PREDICATE.match(s)]
    if "X" in x.modifiers:
        flags = [read(state, c) for c in carries]
        values += [None if f is None else _as_int(f) for f in flags]
    total = None if any(v is None for v in values) else reduce(operator.add, values)
    out: Outcome = {results[0]: None if total is None else total & MASK}
    for count, name in enumerate(results[1:], 1):
        out[name] = None if total is None else (total >> 32) >= count
    return out


def _multiply(state: Registers, x: MachineInstruction) -> Outcome:
    results, sources = divided(x)
    carries = [s for s in sources if PREDICATE.match(s)]
    a, b, c = [s for s in sources if not PREDICATE.match(s)][:3]
    wide, high, unsigned = "WIDE" in x.modifiers, "HI" in x.modifiers, "U32" in x.modifiers
    left, right = read(state, a), read(state, b)
    added = pair(state, c) if wide or high else read(state, c)
    extra = [read(state, p) for p in carries] if "X" in x.modifiers else []
    if left is None or right is None or added is None or any(e is None for e in extra):
        return {**(_wide(results[0], None) if wide else {results[0]: None}), **dict.fromkeys(results[1:])}
    if wide or high:
        left, right = (left & MASK, right & MASK) if unsigned else (_signed(left), _signed(right))
        product = _product(left, right)
        if high:  # the upper half of a 64-bit sum, as in quotients by some constants: n * m + (n << 32)
            return {results[0]: _plus(product, added) >> 32 & MASK, **dict.fromkeys(results[1:])}
        total = _plus(product, added) + sum(_as_int(e) for e in extra)
        out = _wide(results[0], total)
        return {**out, **{p: (total >> 64) > 0 if not many(total) else None for p in results[1:]}}
    one = not (many(left) or many(right))
    total = (left & MASK) * (right & MASK) if one else _product(_signed(left), _signed(right))
    total = (_plus(total & MASK, added) + sum(_as_int(e) for e in extra)) & MASK
    return {results[0]: total, **dict.fromkeys(results[1:])}


def _product(left: Value, right: Value) -> Value:
    """A 64-bit product; with arrays it wraps, as in the machine."""
    with np.errstate(over="ignore"):
        return left * right


def _plus(left: Value, right: Value) -> Value:
    """A sum; if only one operand is an array, the other is wrapped to a signed 64-bit number first."""
    a, b = (v if many(v) or not (many(left) or many(right)) else (v + 2**63) % 2**64 - 2**63 for v in (left, right))
    with np.errstate(over="ignore"):
        return a + b


def _lea(state: Registers, x: MachineInstruction) -> Outcome:
    results, sources = divided(x)
    carries = [s for s in sources if PREDICATE.match(s)]
    rest = [s for s in sources if not PREDICATE.match(s)]
    values = [read(state, s) for s in rest]
    flags = [read(state, c) for c in carries] if "X" in x.modifiers else []
    if any(v is None for v in (*values, *flags)):
        return dict.fromkeys(results)
    if "HI" in x.modifiers:
        if "SX32" in x.modifiers:
            a, b, shift = values
            shifted = _signed(a) >> (32 - shift)
        else:
            a, b, high, shift = values
            shifted = (high << shift) | ((a & MASK) >> (32 - shift))
        total = (shifted & MASK) + b
    else:
        a, b, shift = values
        total = ((a << shift) & MASK) + b
    total = total + sum(_as_int(f) for f in flags)
    return {results[0]: total & MASK, **dict.fromkeys(results[1:], total >> 32 != 0)}


def _lut(values: Sequence[Value], table: int, full: int) -> Value:
    """A bitwise function of three operands, given by its truth table."""
    a, b, c = values
    total: Value = 0
    for row in range(8):
        if table >> row & 1:
            total = total | ((a if row & 4 else a ^ full) & (b if row & 2 else b ^ full) & (c if row & 1 else c ^ full))
    return total


def _lop3(state: Registers, x: MachineInstruction) -> Outcome:
    results, sources = parts(x.arguments)
    if len(results) > 1 and results[0].lstrip("U").startswith("P"):
        results = [results[1], results[0]]
    table = int(sources[3], 0)
    values = [read(state, s) for s in sources[:3]]
    if table == 0xC0 and 0 in [v for v in values[:2] if isinstance(v, int)]:
        return {results[0]: 0, **dict.fromkeys(results[1:], False)}
    if any(v is None for v in values):
        return dict.fromkeys(results)
    value = _lut([v & MASK for v in values], table, MASK)
    return {results[0]: value, **dict.fromkeys(results[1:], value != 0)}


def _plop3(state: Registers, x: MachineInstruction) -> Outcome:
    first, second, *sources = x.arguments
    flags = [read(state, s) for s in sources[:3]]
    if any(f is None for f in flags):
        return {first: None, second: None}
    bits = [_as_int(f) for f in flags]
    tables = [int(s, 0) for s in sources[3:5]]
    return {name: _lut(bits, table, 1) != 0 for name, table in zip((first, second), tables, strict=False)}


def _shift(state: Registers, x: MachineInstruction) -> Outcome:
    (result, *_), (a, by, b) = x.arguments[:1], x.arguments[1:4]
    low, count, high = read(state, a), read(state, by), read(state, b)
    if low is None or count is None or high is None:
        return {result: None}
    if "W" in x.modifiers:
        count = count & (63 if "U64" in x.modifiers or "S64" in x.modifiers else 31)
    if "L" in x.modifiers:
        if "U64" in x.modifiers:  # the upper half of the result
            return {result: ((high << count) | ((low & MASK) >> (32 - count) if _positive(count) else 0)) & MASK}
        return {result: (low << _least(count)) & MASK if "HI" not in x.modifiers else (high << _least(count)) & MASK}
    if "U64" in x.modifiers or "S64" in x.modifiers:
        return {result: (((high & MASK) << (32 - count)) | (low >> count)) & MASK if _positive(count) else low}
    value = (_signed(high) if "S32" in x.modifiers else high) if "HI" in x.modifiers else low
    return {result: (value >> _least(count)) & MASK}


def _positive(count: Value) -> bool:
    return not isinstance(count, int) or 0 < count <= 32


def _least(count: Value) -> Value:
    return np.minimum(count, 63) if many(count) else min(count, 63)


_COMPARE = {name: getattr(operator, name.lower()) for name in ("LT", "LE", "GT", "GE", "EQ", "NE")}


def _compare(state: Registers, x: MachineInstruction) -> Outcome:
    first, second, a, b, *more = x.arguments
    left, right = read(state, a), read(state, b)
    others = [read(state, m) for m in more]
    if left is None or right is None or any(o is None for o in others):
        return {first: None, second: None}
    how = x.modifiers[0]
    left, right = (left & MASK, right & MASK) if "U32" in x.modifiers else (_signed(left), _signed(right))
    if "EX" in x.modifiers:
        strict = {"GE": "GT", "LE": "LT"}.get(how, how)
        same = _COMPARE["EQ"](left, right)
        found = same & others[1] if how == "EQ" else _COMPARE[strict](left, right) | (same & others[1])
    else:
        found = _COMPARE[how](left, right)
    with_ = others[0] if others else True
    opposite = np.logical_not(found) if many(found) else not found
    if "OR" in x.modifiers:
        return {first: found | with_, second: opposite | with_}
    if "XOR" in x.modifiers:
        return {first: found ^ with_, second: opposite ^ with_}
    return {first: found & with_, second: opposite & with_}


def _select(state: Registers, x: MachineInstruction) -> Outcome:
    result, a, b, flag = x.arguments[:4]
    return {result: _choice(*(read(state, name) for name in (flag, a, b)))}


def _choice(chosen: Value, left: Value, right: Value) -> Value:
    if chosen is None:
        return None
    if not many(chosen):
        return left if chosen else right
    return None if left is None or right is None else np.where(chosen, left, right) & MASK


def _minimum(state: Registers, x: MachineInstruction) -> Outcome:
    result, a, b, flag = x.arguments[:4]
    left, right, least = read(state, a), read(state, b), read(state, flag)
    if left is None or right is None or least is None:
        return {result: None}
    smaller = left & MASK < right & MASK if "U32" in x.modifiers else _signed(left) < _signed(right)
    return {result: _choice(smaller == least, left, right)}


def _sum_or_other(state: Registers, x: MachineInstruction) -> Outcome:
    """`VIADDMNMX R0, a, b, c, P`: the minimum (P) or the maximum (not P) of a + b and c."""
    result, a, b, c, flag = x.arguments[:5]
    left, more, right, least = (read(state, s) for s in (a, b, c, flag))
    if left is None or more is None or right is None or least is None or not {*x.modifiers} <= {"U32"}:
        return {result: None}
    total = (left + more) & MASK
    smaller = total < right & MASK if x.modifiers else _signed(total) < _signed(right)
    return {result: _choice(smaller == least, total, right)}


def _packed(state: Registers, x: MachineInstruction) -> Outcome:
    """`P2R R0, PR, R1, 0x20`: R1, with the bits of the mask replaced by predicates."""
    result, _, a, mask = x.arguments[:4]
    bits, total = int(mask, 0), read(state, a)
    flags = {n: read(state, f"P{n}") for n in range(7) if bits >> n & 1}
    if total is None or x.modifiers or any(f is None for f in flags.values()):
        return {result: None}
    total = total & ~bits & MASK
    for n, flag in flags.items():
        total = total | _as_int(flag) << n
    return {result: total}


def _unpacked(state: Registers, x: MachineInstruction) -> Outcome:
    """`R2P PR, R0, 0x20`: sets the predicates of the mask to bits of R0."""
    _, a, mask = x.arguments[:3]
    value = read(state, a)
    return {f"P{n}": None if value is None else value >> n & 1 != 0 for n in range(7) if int(mask, 0) >> n & 1}


def _permute(state: Registers, x: MachineInstruction) -> Outcome:
    result, a, selector, b = x.arguments[:4]
    pick = read(state, selector)
    # an unset register is half set here: the value of its other half is irrelevant
    low, high = (0 if is_unset(state, name) else read(state, name) for name in (a, b))
    if low is None or high is None or not isinstance(pick, int):
        return {result: None}
    total: Value = 0
    for at in range(4):
        nibble = pick >> 4 * at & 15
        byte = (low if nibble & 4 == 0 else high) >> 8 * (nibble & 3) & 255
        if nibble & 8:
            byte = (byte >> 7) * 255
        total = total | byte << 8 * at
    return {result: total}


def _constant(state: Registers, x: MachineInstruction) -> Outcome:
    result, source = x.arguments[:2]
    return _wide(result, pair(state, source)) if "64" in x.modifiers else {result: read(state, source)}


def _special(state: Registers, x: MachineInstruction) -> Outcome:
    result, source = x.arguments[:2]
    value = state.specials.get(source)
    return _wide(result, value) if x.mnemonic == "CS2R" and "32" not in x.modifiers else {result: value}


def _absolute(state: Registers, x: MachineInstruction) -> Outcome:
    value = read(state, x.arguments[1])
    return {x.arguments[0]: None if value is None else abs(_signed(value)) & MASK}


def _halves(state: Registers, x: MachineInstruction) -> Outcome:
    """`HFMA2.MMA R5, -RZ, RZ, 0, 5.96e-08`: a constant of two halves."""
    result, a, b, *constants = x.arguments
    if a.lstrip("-") != "RZ" or b.lstrip("-") != "RZ" or len(constants) != 2 or constants[0].startswith("R"):
        return {result: None}
    numbers = [float(constant.replace("QNAN", "NAN")) for constant in constants]  # `float` accepts `+INF` unchanged
    high, low = np.array([abs(n) if n != n else n for n in numbers], np.float16).view(np.uint16).tolist()
    return {result: high << 16 | low}


COMPUTES: dict[str, Callable[[Registers, MachineInstruction], Outcome]] = {
    **dict.fromkeys(["IADD3", "UIADD3", "VIADD", "IADD"], _sum),
    **dict.fromkeys(["IMAD", "UIMAD"], _multiply),
    **dict.fromkeys(["LEA", "ULEA"], _lea),
    **dict.fromkeys(["LOP3", "ULOP3"], _lop3),
    **dict.fromkeys(["PLOP3", "UPLOP3"], _plop3),
    **dict.fromkeys(["SHF", "USHF"], _shift),
    **dict.fromkeys(["ISETP", "UISETP"], _compare),
    **dict.fromkeys(["SEL", "USEL"], _select),
    **dict.fromkeys(["IMNMX", "VIMNMX", "UIMNMX"], _minimum),
    **dict.fromkeys(["PRMT", "UPRMT"], _permute),
    **dict.fromkeys(["MOV", "UMOV"], lambda state, x: {x.arguments[0]: read(state, x.arguments[1])}),
    **dict.fromkeys(["LDC", "ULDC", "LDCU"], _constant),
    **dict.fromkeys(["S2R", "S2UR", "CS2R"], _special),
    "USETMAXREG": lambda state, x: {x.arguments[0]: True} if "TRY_ALLOC" in x.modifiers else {},
    "IABS": _absolute,
    "VIADDMNMX": _sum_or_other,
    "P2R": _packed,
    "R2P": _unpacked,
    "HFMA2": _halves,
    # `FCHK P0, R2, R9`: whether a quotient's operands are outside the range of the fast division
    "FCHK": lambda _, x: {x.arguments[0]: False},
}
"""Mnemonic → function that computes the results. Integers are computed; some checks of floats have
an assumed result. All other instructions have unknown results."""
GRANTED = frozenset({"FCHK"})
"""Instructions with a result that is assumed, independent of their operands."""
