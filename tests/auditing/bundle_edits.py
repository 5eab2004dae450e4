"""Changes of bundles that are aimed: at flags and attributes, types, affine maps, what a plan's steps use in which order, and what
a C++ compiler reads beside the words of a program. Each gives another text, or the same where it has no place."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

FAST = ("fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "nnan,ninf")
FLOATS = re.compile(
    r"(arith\.(?:add|sub|mul|div|rem|neg|maximum|minimum|maxnum|minnum|cmp)f\b[^:\n]*|math\.\w+ [^:\n]*) :"
)
INTEGERS = re.compile(r"(arith\.(?:addi|subi|muli|shli|index_cast|trunci) [^:\n]*) :")
ARGUMENT = re.compile(r'\{((?:bufferize\.result, )?weft\.name = "\w+")\}')
OF_ARGUMENTS = (
    "llvm.noalias", "llvm.readonly", "llvm.readnone", "llvm.writeonly", "llvm.nonnull", "llvm.noundef", "llvm.nocapture",
    "llvm.align = 128 : i64", "llvm.dereferenceable = 4096 : i64", "llvm.byval = i64", "llvm.inreg", "llvm.returned",
    'bufferization.access = "none"', "bufferization.writable = false", "nvvm.grid_constant", "tt.divisibility = 16 : i32",
)  # fmt: skip
OF_FUNCTIONS = (
    'passthrough = ["noreturn"]', 'passthrough = ["alwaysinline", ["target-cpu", "skylake"]]', "llvm.emit_c_interface", "no_inline",
    'target_cpu = "znver4"', 'unsafe_fp_math = true', "nvvm.maxntid = array<i32: 1>", "nvvm.reqntid = array<i32: 1, 1, 1>",
    "nvvm.minctasm = 4 : i32", "llvm.readnone", 'memory_effects = "none"', "weft.unproven = true", "weft.unchecked = true",
    "known_cluster_size = array<i32: 2, 1, 1>", 'sym_visibility = "private"', "gpu.known_block_size = array<i32: 1, 1, 1>",
    "vscale_range = 4 : i64", 'garbageCollector = "x"', "weft.max_registers = 8 : i64", "weft.other",
)  # fmt: skip
OF_OPS = (
    "nontemporal = true", "llvm.loop_annotation", 'loop_annotation = "x"', "alignment = 64 : i64", "weft.unroll", "inbounds",
    "weft.atomic", 'operandSegmentSizes = array<i32: 0>', 'weft.name = "x"', "invariant", "volatile_", "llvm.access_groups = []",
    "weft.order = 1 : i64", 'weft.participants = affine_set<() : (0 == 0)>', "exact", "isExact", "nonNeg", "invariant = true",
    "uniform", "cooperative", "upper_bound = 1 : index", "mark = array<ui32: 1>", 'mark = loc("x")', "isCTAOnly = true",
    "weft.candidate = 0 : i64", "weft.swizzle = 128 : i64", 'weft.proven = "x"', "weft.leaves = []", "weft.merge", "unsignedCmp",
)  # fmt: skip
OPS = re.compile(r"^( +(?:%\S+ = )?(?:memref|arith|scf|gpu|vector|affine)\.[^\n{}]*?)( : [^\n]*)?$", re.M)


def _one(pattern: re.Pattern[str], text: str, draw: random.Random, change: Callable[[re.Match[str]], str]) -> str:
    """The text with one match changed."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = draw.choice(found)
    return text[: match.start()] + change(match) + text[match.end() :]


def flags(text: str, draw: random.Random) -> str:
    """A flag of an op, or an attribute of an op, a function, or an argument, that is not there."""
    match draw.randrange(5):
        case 0:
            return _one(FLOATS, text, draw, lambda m: f"{m[1]} fastmath<{draw.choice(FAST)}> :")
        case 1:
            return _one(INTEGERS, text, draw, lambda m: f"{m[1]} overflow<{draw.choice(('nsw', 'nuw', 'nsw, nuw'))}> :")
        case 2:
            return _one(ARGUMENT, text, draw, lambda m: f"{{{draw.choice(OF_ARGUMENTS)}, {m[1]}}}")
        case 3:
            more = draw.choice(OF_FUNCTIONS)
            if draw.random() < 0.5:
                return _one(re.compile(r"attributes \{"), text, draw, lambda m: f"{m[0]}{more}, ")
            return _one(
                re.compile(r"(func\.func @[^\n]*\)) \{\n"), text, draw, lambda m: f"{m[1]} attributes {{{more}}} {{\n"
            )
    return _one(OPS, text, draw, lambda m: f"{m[1]} {{{draw.choice(OF_OPS)}}}{m[2] or ''}")


TYPES = ("f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index", "tf32", "ui32", "si32")
PARTS = (
    (r"(?<=#gpu\.address_space<)(?:workgroup|private|global)", ["workgroup", "private", "global"]),
    (r"(?<=memref<)[^,>]*x(?=[if]\d|index)", ["4x", "1x", "16x16x", "20x16x", "?x", "?x?x", "64x"]),
    (r"(?<=xf32)(?=>)", [", strided<[1]>", ", strided<[1, 8]>", ", strided<[0, 1]>", ", affine_map<(i, j) -> (j, i)>", ", 3"]),
    (r"(?<=vector<)\d+(?=x)", ["1", "2", "8"]),
)  # fmt: skip


def types(text: str, draw: random.Random) -> str:
    """A type, or a memory's shape, layout or space; in one place, or wherever it is alike."""
    if draw.random() < 0.5:
        names = [kind for kind in TYPES if re.search(rf"(?<![\w.]){kind}\b|(?<=x){kind}\b", text)] or ["f32"]
        pattern, others = rf"(?<![\w.%@]){(name := draw.choice(names))}\b|(?<=\dx){name}\b|(?<=\?x){name}\b", [*TYPES]
    else:
        pattern, others = draw.choice(PARTS)
    other = draw.choice(others)
    if draw.random() < 0.5:
        return _one(re.compile(pattern), text, draw, lambda _: other)
    found = re.findall(pattern, text)
    which = draw.choice(found) if found else ""
    return re.sub(pattern, lambda m: other if m[0] == which else m[0], text)


MAPPED = re.compile(r"affine_(?:map|set)<[^>]*>[^>\n]*>?")


def maps(text: str, draw: random.Random) -> str:
    """A constant, a dimension, or an operation of an affine map or set."""

    def other(match: re.Match[str]) -> str:
        head, arrow, tail = match[0].partition("->" if "->" in match[0] else " : ")
        ways = [
            (r"\d+(?![\w])", lambda m: str(max(0, int(m[0]) + draw.choice((-1, 1, 2, int(m[0])))))),
            (r"\b[ds]\d\b", lambda m: draw.choice(("d0", "d1", "s0"))),
            (r" (?:\+|\*|mod|floordiv|ceildiv) ", lambda _: draw.choice((" + ", " * ", " mod ", " floordiv ", " ceildiv "))),
            (r"^ ?\(", lambda m: f"{m[0]}-"),
        ]  # fmt: skip
        pattern, change = draw.choice(ways)
        return head + arrow + _one(re.compile(pattern), tail, draw, change)

    return _one(MAPPED, text, draw, other)


HARDWARE = (
    (r"swizzle_(?:32|64|128)b|(?<=swizzle = )none", ["swizzle_32b", "swizzle_64b", "swizzle_128b", "none"]),
    (r"l2promo_\d+b|(?<=l2promo = )none", ["l2promo_64b", "l2promo_128b", "l2promo_256b", "none"]),
    (r"(?<=oob = )\w+", ["zero", "nan"]), (r"(?<=interleave = )\w+", ["none", "interleave_16b", "interleave_32b"]),
    (r"(?<=num_barriers = )\d+", ["1", "2", "5"]), (r"(?<=box\[)%\w+", ["%c1", "%c32", "%c64", "%c128"]),
    (r"(?<=_size = array<i32: )\d+", ["1", "2", "4", "128", "256"]), (r"(?<=registers = )\d+", ["8", "64", "255"]),
    (r"(?<=setmaxregister (?:inc|dec)rease )\d+", ["24", "40", "240"]), (r"clusters in \([^)]*\)", [""]),
    (r"(?<=waitGroup = )\d", ["0", "1", "2"]), (r"(?<=numGroups = )\d", ["0", "1", "3"]), (r"(?<=group )\d", ["0", "1", "2"]),
    (r"transpose[AB](?:, )?", ["transposeA, ", "transposeB, ", ""]), (r"relaxed = \w+", ["relaxed = true", "relaxed = false"]),
    (r"mem_scope<\w+>", ["mem_scope<cta>", "mem_scope<cluster>", "mem_scope<gpu>"]), (r" \{read\}", [""]),
    (r"proxy_kind<[\w.]+>", ["proxy_kind<async.shared>", "proxy_kind<async>", "proxy_kind<async.global>", "proxy_kind<alias>"]),
    (r"(?<=, )%\w+(?= : <memorySpace)", ["%c1", "%c2", "%c128", "%c32768"]),
    (r"(?<=multicast_mask = )%\w+", ["%c1_i16", "%c3_i16"]),
    (r"(?:to|threads in|blocks in) \(?%\w+", ["to %c1", "threads in (%c1", "blocks in (%c2"]),
    (r"nvvm\.cluster\.arrive[\w.]*", ["nvvm.cluster.arrive.relaxed", "nvvm.cluster.arrive"]),
    (r"\n *nv(?:vm|gpu)\.[^\n=]*", [""]), (r"dynamic_shared_memory_size %\w+", [""]),
)  # fmt: skip
"""Words of tensor maps, memory barriers, products, clusters and launches; and an op of these that makes no value, left out."""


def hardware(text: str, draw: random.Random) -> str:
    """One of them, in one place, or wherever it is alike."""
    pattern, others = draw.choice([row for row in HARDWARE if re.search(row[0], text)])
    other, found = draw.choice(others), re.findall(pattern, text)
    which = draw.choice(found)
    if draw.random() < 0.5:
        return _one(re.compile(pattern), text, draw, lambda _: other)
    return re.sub(pattern, lambda m: other if m[0] == which else m[0], text)


def of_json(text: str, draw: random.Random) -> str:
    """A plan's text: a key or a number as no other program would write it, or nearly the same."""
    numbers: tuple[Callable[[str], str], ...] = (
        "{}.0".format, "{}e0".format, "0{}".format, "-{}".format, "{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}".format,
        lambda _: "true", lambda _: "NaN",
    )  # fmt: skip
    ways = (
        (r'"(\w+)": (\d+|"[^"\n]*"|true|null)', lambda m: f'"{m[1]}": {m[2]}, "{m[1]}": {draw.choice(("0", "1", m[2]))}'),
        (r"(?<=[\s\[])\d+(?=[,\s\]])", lambda m: draw.choice(numbers)(m[0])),
        (r'"(\w)(\w*)":', lambda m: draw.choice((f'"\\u{ord(m[1]):04x}{m[2]}":', f'"{m[1].upper()}{m[2]}":', f'"{m[1]}{m[2]} ":'))),
        (r"(?<=: \")[0-9a-f]{64}", lambda m: draw.choice((m[0].upper(), m[0][::-1], m[0][:-1], "0" * 64))),
        (r"\{", lambda m: draw.choice(('{"other": 1, ', '{"do": "launch", ', '{"": 0, '))), (r"[\[{]", lambda m: m[0] * 2),
    )  # fmt: skip
    pattern, change = draw.choice(ways)
    return _one(re.compile(pattern), text, draw, change)


def of_plan(text: str, draw: random.Random) -> str:
    """What steps use, in which order, how much of it; and what buffers are called."""
    plan = json.loads(text)
    steps = plan["steps"]
    step, buffer = draw.choice(steps), draw.choice(plan["buffers"])
    names = [one["name"] for one in plan["buffers"]]
    kernel = draw.choice(plan["kernels"])
    maps = [each for one in steps for each in one.get("args", []) if "box" in each]
    match draw.randrange(13):
        case 12 if maps:
            each = draw.choice(maps)
            key = draw.choice([*each])
            each[key] = _nearly(each[key], draw)
        case 0 | 12:
            draw.shuffle(steps)
        case 1:
            steps.remove(step)
        case 2:
            steps.insert(draw.randrange(len(steps) + 1), json.loads(json.dumps(step)))
        case 3:
            draw.shuffle(step.get("args", []))
        case 4:
            one, other = draw.choice(names), draw.choice(names)
            turned = {one: other, other: one}
            for each in (each for s in steps for each in s.get("args", []) if "buffer" in each):
                each["buffer"] = turned.get(each["buffer"], each["buffer"])
        case 5:
            draw.shuffle(plan["buffers"])
        case 6:
            buffer["shape"] = [n + draw.choice((-1, 1, 8)) if isinstance(n, int) else 8 for n in buffer["shape"]] or [1]
        case 7:
            buffer["role"] = draw.choice(("input", "output", "inout", "temporary"))
        case 8:
            side = draw.choice(("grid", "block"))
            now = step.get(side, [1])
            step[side] = draw.choice((now[::-1], [1, 1, 1], [n * 2 if isinstance(n, int) else n for n in now]))
        case 9:
            step[draw.choice(("shared_bytes", "stream"))] = draw.choice((0, 1, 16, 49152))
            step["after"] = draw.choice(([], [0], [len(steps)]))
        case 10:
            each = draw.choice(step.get("args") or [{}])
            each["offset"] = draw.choice((1, 4, 16))
            each["strides"] = each.get("strides", [])[::-1]
        case _:
            kernel[draw.choice(("shared_bytes", "dynamic_shared_bytes"))] = draw.choice((0, 4, 64, 1 << 16))
            kernel["symbol"] = draw.choice(plan["kernels"])["symbol"]
    return json.dumps(plan, indent=1, ensure_ascii=False) + "\n"


def _nearly(value: object, draw: random.Random) -> object:
    """Another value of its kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return draw.choice((0, 32, 64, 128, 256, value + 1))
    if isinstance(value, list):
        return value[::-1] if draw.random() < 0.5 else [_nearly(value[0], draw), *value[1:]] if value else [1]
    return draw.choice(("zero", "nan", "f32", "bf16", "x"))


LINES = r"""
#define float double
#define __syncthreads()
#define tx ty
#define const
#pragma unroll 1
#pragma once
#pragma GCC optimize("fast-math")
#pragma STDC FP_CONTRACT OFF
#include "/etc/passwd"
#undef __CUDA_ARCH__
#if 0
#else
#line 1
#error "x"
asm volatile("bar.sync 0;");
asm("trap;");
__syncthreads();
return;
__threadfence();
/*
*/
__nanosleep(100);
namespace {
extern "C" __device__ int x;
// \
??/
using float2 = int;
_Pragma("unroll")
if (threadIdx.x == 0)
else
do
static
__device__ __constructor__ void f();
typedef double real;
""".strip().splitlines()
TEXTS = (
    (r"__launch_bounds__\((\d+)", lambda m, r: f"__launch_bounds__({r.choice((1, 32, 1024, int(m[1]) + 1))}"),
    (r"__launch_bounds__\(\d+[^)]*\) ", lambda m, r: ""),
    (r" __restrict__", lambda m, r: r.choice(("", " volatile", " __restrict__ volatile"))),
    (r"\bconst ", lambda m, r: r.choice(("", "volatile ", "static ", "const volatile "))),
    (r"#pragma [^\n]*", lambda m, r: r.choice(("", "#pragma unroll 1", "#pragma unroll(2)", "#pragma nounroll"))),
    (r"__shared__", lambda m, r: r.choice(("", "extern __shared__", "__constant__", "__shared__ volatile"))),
    (r"__syncthreads\(\);", lambda m, r: r.choice(("", "__syncwarp();", "__threadfence_block();", "__syncthreads_count(1);"))),
    (r'extern "C" ', lambda m, r: r.choice(("", "static ", "__attribute__((weak)) "))),
    (r"0xffffffff", lambda m, r: r.choice(("0xfffffffe", "0x0000ffff", "__activemask()", "~0u"))),
    (r"(?<=\d)f\b", lambda m, r: r.choice(("", "l", "F"))),
    (r"\bint\b", lambda m, r: r.choice(("unsigned", "long long", "short", "char"))),
    (r"\bfloat\b", lambda m, r: r.choice(("double", "int", "__half"))),
    (r"\+=|\*=|[-+*<]|&&|\?", lambda m, r: r.choice(("+", "-", "*", "<=", "||", ">", "+=", "-="))),
    (r"threadIdx|blockIdx", lambda m, r: r.choice(("threadIdx", "blockIdx", "blockDim", "gridDim"))),
)  # fmt: skip


def of_text(text: str, draw: random.Random) -> str:
    """What the preprocessor, launch bounds, qualifiers, assembler and barriers make of a text."""
    if draw.random() < 0.4:
        lines = text.splitlines(keepends=True)
        lines.insert(draw.randrange(len(lines) + 1), f"{draw.choice(LINES)}\n")
        return "".join(lines)
    pattern, change = draw.choice(TEXTS)
    return _one(re.compile(pattern), text, draw, lambda m: change(m, draw))
