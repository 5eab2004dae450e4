"""Host functions become plans; what the host cannot do is refused with the op's place."""

from __future__ import annotations

import numpy as np
import pytest
from runtime_programs import COPY_KERNEL, host, launch

from weft.dsl.diagnostics import WeftError
from weft.runtime.host import program
from weft.runtime.host.host import make_plan
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import Alloc, BufferView, Copy, Free, Launch, Plan, ScalarOf, ScalarValue
from weft.runtime.plan.resolve import resolve

C1 = "%c1 = arith.constant 1 : index"
SUBVIEW = "memref<8xf32, strided<[1], offset: 8>>"


def plan_of(function: str, kernels: str = COPY_KERNEL, entry: str | None = None) -> Plan:
    plan = make_plan(host(function, kernels), entry)
    assert load(dump(plan)) == plan
    return plan


def steps(plan: Plan) -> list[str]:
    """The steps in a few words each."""
    words: list[str] = []
    for step in plan.steps:
        if isinstance(step, Launch):
            views = [a.buffer if isinstance(a, BufferView) else str(a.value) for a in step.args]
            words.append(f"{step.kernel}({', '.join(views)})")
        elif isinstance(step, Copy):
            words.append(f"{step.source.buffer} -> {step.target.buffer}")
        else:
            words.append(f"{'alloc' if isinstance(step, Alloc) else 'free'} {step.buffer}")
    return words


def test_roles_and_names() -> None:
    plan = plan_of(f"""func.func @f(%a: memref<8xf32> {{weft.name = "A"}}, %b: memref<8xf32>, %unused: memref<4xi8>,
        %s: f32, %o: memref<8xf32> {{bufferize.result}}) {{ {C1}
        {launch("copy", "%a: memref<8xf32>, %b: memref<8xf32>")}
        {launch("copy", "%a: memref<8xf32>, %o: memref<8xf32>")} return }}""")
    assert [(b.name, b.role) for b in plan.buffers] == [
        ("A", "input"),
        ("arg1", "inout"),
        ("arg2", "input"),
        ("result0", "output"),
    ]
    assert [s.name for s in plan.scalars] == ["arg3"]
    assert steps(plan) == ["copy(A, arg1)", "copy(A, result0)"]


def test_launch_sizes_fold() -> None:
    plan = plan_of(f"""func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{ {C1}
        %n = arith.constant 1000 : index
        %t = arith.constant 48 : index
        %g = arith.ceildivsi %n, %t : index
        %h = affine.apply affine_map<(d0)[s0] -> ((d0 + s0) floordiv 2 + d0 mod 3)>(%n)[%t]
        %m = affine.min affine_map<(d0) -> (d0, 24)>(%n)
        %c = arith.cmpi slt, %n, %t : index
        %k = arith.select %c, %n, %c1 : index
        {launch("copy", "%a: memref<8xf32>, %b: memref<8xf32>", "%g, %h, %c1", "%t, %k, %c1")}
        {launch("copy", "%a: memref<8xf32>, %b: memref<8xf32>", "%m, %c1, %c1")} return }}""")
    assert [(s.grid, s.block) for s in plan.launches] == [((21, 525, 1), (48, 1, 1)), ((24, 1, 1), (1, 1, 1))]


def test_temporaries_are_allocated_and_freed() -> None:
    plan = plan_of(f"""func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{ {C1}
        %t = memref.alloc() : memref<8xf32>
        %u = memref.alloca() : memref<8xf32>
        {launch("copy", "%a: memref<8xf32>, %t: memref<8xf32>")}
        memref.copy %t, %u : memref<8xf32> to memref<8xf32>
        memref.dealloc %t : memref<8xf32>
        memref.copy %u, %b : memref<8xf32> to memref<8xf32> return }}""")
    assert steps(plan) == [
        "alloc temp0",
        "copy(arg0, temp0)",
        "alloc temp1",
        "temp0 -> temp1",
        "free temp0",
        "temp1 -> arg1",
        "free temp1",
    ]


def test_windows() -> None:
    kernel = f"""gpu.func @k(%a: {SUBVIEW}, %b: memref<2x2xf32, strided<[1, 4], offset: ?>>, %c: memref<?xf32>) kernel {{
        gpu.return }}"""
    plan = plan_of(
        f"""func.func @f(%a: memref<4x8xf32>, %b: memref<16xf32>) {{ {C1}
        %c2 = arith.constant 2 : index
        %s = memref.subview %a[1, 0] [1, 8] [1, 1] : memref<4x8xf32> to {SUBVIEW}
        %e = memref.expand_shape %b [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
        %w = memref.subview %e[%c2, 1] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1], offset: ?>>
        %t = memref.transpose %w (i, j) -> (j, i)
           : memref<2x2xf32, strided<[4, 1], offset: ?>> to memref<2x2xf32, strided<[1, 4], offset: ?>>
        %x = memref.collapse_shape %a [[0, 1]] : memref<4x8xf32> into memref<32xf32>
        %y = memref.cast %x : memref<32xf32> to memref<?xf32>
        {launch("k", f"%s: {SUBVIEW}, %t: memref<2x2xf32, strided<[1, 4], offset: ?>>, %y: memref<?xf32>")} return }}""",
        kernel,
    )
    assert plan.launches[0].args == (
        BufferView("arg0", 8, (8,), (1,)),
        BufferView("arg1", 9, (2, 2), (1, 4)),
        BufferView("arg0", 0, (32,), (1,)),
    )


def test_control_is_unrolled_and_calls_are_followed() -> None:
    plan = plan_of(f"""
      func.func private @swap(%x: memref<8xf32>, %y: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {{ {C1}
        {launch("copy", "%x: memref<8xf32>, %y: memref<8xf32>")} return %y, %x : memref<8xf32>, memref<8xf32> }}
      func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{ {C1}
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a, %q = %b) -> (memref<8xf32>, memref<8xf32>) {{
          %n:2 = func.call @swap(%p, %q) : (memref<8xf32>, memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)
          scf.yield %n#0, %n#1 : memref<8xf32>, memref<8xf32> }}
        %c = arith.cmpi eq, %c0, %c3 : index
        scf.if %c {{ memref.copy %a, %b : memref<8xf32> to memref<8xf32> }} return }}""")
    assert steps(plan) == ["copy(arg0, arg1)", "copy(arg1, arg0)", "copy(arg0, arg1)"]


def test_dynamic_shapes_stay_symbolic() -> None:
    kernel = "gpu.func @k(%a: memref<?x4xf32>, %n: index, %s: f32, %t: memref<?xf32>) kernel { gpu.return }"
    plan = plan_of(
        f"""func.func @f(%a: memref<?x4xf32>, %m: i32, %s: f32) {{ {C1}
        %c0 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %n = memref.dim %a, %c0 : memref<?x4xf32>
        %g = arith.ceildivsi %n, %c16 : index
        %i = arith.index_cast %m : i32 to index
        %k = arith.addi %n, %i : index
        %t = memref.alloc(%k) : memref<?xf32>
        {launch("k", "%a: memref<?x4xf32>, %k: index, %s: f32, %t: memref<?xf32>", "%g, %c1, %c1")} return }}""",
        kernel,
    )
    fixed = resolve(plan, {"arg0": (40, 4)}, {"arg1": 5, "arg2": 0.5})
    assert fixed.launches[0].grid == (3, 1, 1)
    assert fixed.launches[0].args[1:3] == (ScalarValue("index", 45), ScalarValue("f32", 0.5))
    assert {b.name: b.shape for b in fixed.buffers}["temp0"] == (45,)
    assert plan.launches[0].args[2] == ScalarValue("f32", ScalarOf("arg2"))


def test_returned_memrefs_are_outputs() -> None:
    plan = plan_of(f"""func.func @f(%a: memref<8xf32>) -> memref<8xf32> {{ {C1}
        %t = memref.alloc() : memref<8xf32>
        {launch("copy", "%a: memref<8xf32>, %t: memref<8xf32>")} return %t : memref<8xf32> }}""")
    assert [b.name for b in plan.outputs] == ["result0"]
    assert steps(plan) == ["alloc temp0", "copy(arg0, temp0)", "temp0 -> result0", "free temp0"]


def test_a_dynamic_result_takes_the_shape_of_what_is_copied() -> None:
    plan = plan_of("""func.func @f(%a: memref<?xf32>, %o: memref<?xf32> {bufferize.result}) {
        memref.copy %a, %o : memref<?xf32> to memref<?xf32> return }""")
    assert {b.name: b.shape for b in resolve(plan, {"arg0": (7,)}, {}).buffers}["result0"] == (7,)


@pytest.mark.parametrize(
    ("text", "element", "expected"),
    [
        ("[1.5, -2.0]", "f32", np.array([1.5, -2], np.float32)),
        ("0.5", "f16", np.full(2, 0.5, np.float16)),
        ("[1.0, -2.5]", "bf16", np.array([0x3F80, 0xC020], np.uint16)),
        ("[0x7F80, 1.0]", "bf16", np.array([0x7F80, 0x3F80], np.uint16)),
        ('"0x803F20C0"', "bf16", np.array([0x3F80, 0xC020], np.uint16)),
        ("[-1, 7]", "i8", np.array([-1, 7], np.int8)),
        ("[true, false]", "i1", np.array([1, 0], np.uint8)),
    ],
)
def test_constants(text: str, element: str, expected: np.ndarray) -> None:
    type_ = f"memref<2x{element}>"
    plan = plan_of(
        f"""memref.global "private" constant @k : {type_} = dense<{text}>
        func.func @f(%o: {type_}) {{ {C1}
        %k = memref.get_global @k : {type_}
        memref.copy %k, %o : {type_} to {type_} return }}"""
    )
    assert {b.name: b.data for b in plan.buffers}["k"] == expected.tobytes()


def test_async_tokens_need_nothing() -> None:
    plan = plan_of(f"""func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{ {C1}
        %t0 = gpu.wait async
        %m, %t1 = gpu.alloc async [%t0] () : memref<8xf32>
        %t2 = gpu.memcpy async [%t1] %m, %a : memref<8xf32>, memref<8xf32>
        %t3 = gpu.launch_func async [%t2] @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
            args(%m : memref<8xf32>, %b : memref<8xf32>)
        %t4 = gpu.dealloc async [%t3] %m : memref<8xf32>
        gpu.wait [%t4] return }}""")
    assert steps(plan) == ["alloc temp0", "arg0 -> temp0", "copy(temp0, arg1)", "free temp0"]


def test_shared_memory_is_counted() -> None:
    def kernel(name: str, size: int) -> str:
        return f"""gpu.func @{name}(%a: memref<8xf32>) workgroup(%s: memref<{size}xf32, #gpu.address_space<workgroup>>)
            kernel {{ gpu.return }}"""

    plan = plan_of(
        f"""func.func @f(%a: memref<8xf32>) {{ {C1}
        {launch("small", "%a: memref<8xf32>")} {launch("large", "%a: memref<8xf32>")} return }}""",
        kernel("small", 33) + kernel("large", 16384),
    )
    assert [(k.shared_bytes, k.dynamic_shared_bytes) for k in plan.kernels] == [(132, 0), (65536, 65536)]


REFUSED = {
    "an op in no launch": (
        "W0730",
        "linalg.fill at .* is in no launch",
        """func.func @f(%a: memref<8xf32>) { %z = arith.constant 0.0 : f32
        linalg.fill ins(%z : f32) outs(%a : memref<8xf32>) return }""",
    ),
    "a load": (
        "W0730",
        "memref.load",
        """func.func @f(%a: memref<8xindex>) { %c0 = arith.constant 0 : index
        %v = memref.load %a[%c0] : memref<8xindex> return }""",
    ),
    "a load behind a launch": (
        "W0730",
        "memref.load at .* is in no launch, and a run does nothing on the host between launches\n",
        f"""func.func @f(%a: memref<8xf32>) {{ {C1}
        {launch("copy", "%a: memref<8xf32>, %a: memref<8xf32>")} %v = memref.load %a[%c1] : memref<8xf32> return }}""",
    ),
    "a loop of the host's behind a launch": (
        "W0730",
        "scf.while at .* is in no launch, and a run does nothing on the host between launches\n",
        f"""func.func @f(%a: memref<8xf32>) {{ {C1}
        {launch("copy", "%a: memref<8xf32>, %a: memref<8xf32>")}
        %no = arith.constant false
        scf.while : () -> () {{ scf.condition(%no) }} do {{ scf.yield }} return }}""",
    ),
    "a called function that loads behind a launch": (
        "W0730",
        "memref.load at .* and a run does nothing on the host between launches",
        f"""func.func private @g(%a: memref<8xf32>) {{ {C1} %v = memref.load %a[%c1] : memref<8xf32> return }}
        func.func @f(%a: memref<8xf32>) {{ {C1}
        {launch("copy", "%a: memref<8xf32>, %a: memref<8xf32>")} call @g(%a) : (memref<8xf32>) -> () return }}""",
    ),
    "an op in no launch behind a launch": (
        "W0730",
        r"linalg.fill at \S+ is in no launch\n",
        f"""func.func @f(%a: memref<8xf32>) {{ {C1} %z = arith.constant 0.0 : f32
        {launch("copy", "%a: memref<8xf32>, %a: memref<8xf32>")}
        linalg.fill ins(%z : f32) outs(%a : memref<8xf32>) return }}""",
    ),
    "gpu.launch": (
        "W0731",
        "not outlined",
        f"""func.func @f(%a: memref<8xf32>) {{ {C1}
        gpu.launch blocks(%x, %y, %z) in (%g = %c1, %h = %c1, %i = %c1)
            threads(%u, %v, %w) in (%j = %c1, %k = %c1, %l = %c1) {{ gpu.terminator }} return }}""",
    ),
    "tensors": ("W0733", "is still tensor<8xf32>", "func.func @f(%a: tensor<8xf32>) { return }"),
    "a strided argument": (
        "W0733",
        "arrays are passed contiguous",
        "func.func @f(%a: memref<8xf32, strided<[2]>>) { return }",
    ),
    "an element type": ("W0733", "no array can be passed", "func.func @f(%a: memref<8xi7>) { return }"),
    "a scalar result": ("W0731", "returns a scalar", "func.func @f(%a: f32) -> f32 { return %a : f32 }"),
    "a loop over a shape": (
        "W0734",
        "bound of scf.for depends",
        f"""func.func @f(%a: memref<?xf32>) {{ {C1}
        %n = memref.dim %a, %c1 : memref<?xf32>
        scf.for %i = %c1 to %n step %c1 {{ }} return }}""".replace("%a, %c1 :", "%a, %c0 :").replace(
            "{ %c1", "{ %c0 = arith.constant 0 : index\n %c1"
        ),
    ),
    "endless": (
        "W0736",
        "more than 1000 steps",
        f"""func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{ {C1}
        %n = arith.constant 1000000 : index
        scf.for %i = %c1 to %n step %c1 {{ memref.copy %a, %b : memref<8xf32> to memref<8xf32> }} return }}""",
    ),
    "recursion": (
        "W0731",
        "calls itself",
        "func.func @f(%a: memref<8xf32>) { call @f(%a) : (memref<8xf32>) -> () return }",
    ),
    "a call into nothing": (
        "W0731",
        "has no body",
        "func.func private @g()\n func.func @f() { call @g() : () -> () return }",
    ),
    "freeing an argument": (
        "W0731",
        "belongs to the caller",
        "func.func @f(%a: memref<8xf32>) { memref.dealloc %a : memref<8xf32> return }",
    ),
    "a double free": (
        "W0706",
        "freed twice",
        """func.func @f() { %t = memref.alloc() : memref<8xf32>
        memref.dealloc %t : memref<8xf32>
        memref.dealloc %t : memref<8xf32> return }""",
    ),
    "a window outside": (
        "W0708",
        "elements 4 … 11",
        f"""func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{
        %s = memref.reinterpret_cast %a to offset: [4], sizes: [8], strides: [1]
           : memref<8xf32> to memref<8xf32, strided<[1], offset: 4>>
        memref.copy %s, %b : memref<8xf32, strided<[1], offset: 4>> to memref<8xf32> {C1} return }}""",
    ),
    "too many threads": (
        "W0704",
        "2048 threads in x",
        f"""func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {{ {C1}
        %n = arith.constant 2048 : index
        {launch("copy", "%a: memref<8xf32>, %b: memref<8xf32>", block="%n, %c1, %c1")} return }}""",
    ),
    "a dynamic result": (
        "W0735",
        "`result0`",
        """func.func @f(%a: memref<8xf32>, %o: memref<?xf32> {bufferize.result}) { return }""",
    ),
    "a variable": (
        "W0731",
        "not a constant with a known value",
        """memref.global "private" @v : memref<2xf32>
        func.func @f(%a: memref<2xf32>) { %v = memref.get_global @v : memref<2xf32>
        memref.copy %v, %a : memref<2xf32> to memref<2xf32> return }""",
    ),
    "a division by zero": (
        "W0709",
        "by 0",
        f"""func.func @f() {{ {C1}
        %c0 = arith.constant 0 : index
        %q = arith.divsi %c1, %c0 : index return }}""",
    ),
    "two entries": (
        "W0732",
        "several functions could run: @f, @g",
        f"""func.func @f(%a: memref<8xf32>) {{ {C1} {launch("copy", "%a: memref<8xf32>, %a: memref<8xf32>")} return }}
        func.func @g(%a: memref<8xf32>) {{ {C1} {launch("copy", "%a: memref<8xf32>, %a: memref<8xf32>")} return }}""",
    ),
    "no entry": ("W0732", "no public function", "func.func private @f()"),
    "a name twice": (
        "W0733",
        "the same name",
        'func.func @f(%a: memref<8xf32> {weft.name = "x"}, %b: memref<8xf32> {weft.name = "x"}) { return }',
    ),
    "another block size": (
        "W0737",
        "known_block_size of @fixed is",
        f"""func.func @f(%a: memref<8xf32>) {{ {C1} {launch("fixed", "%a: memref<8xf32>")} return }}""",
    ),
}
FIXED = (
    """gpu.func @fixed(%a: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} { gpu.return }"""
)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, message, function = REFUSED[case]
    assert program.MAX_STEPS == 100_000
    monkeypatch.setattr(program, "MAX_STEPS", 1_000)  # a hundredth, for it takes as long as it says
    with pytest.raises(WeftError, match=f"{code}.*{message}"):
        make_plan(host(function, COPY_KERNEL + FIXED))


def test_entry_by_name() -> None:
    text = "func.func @f() { return }\n func.func private @g(%a: memref<8xf32>) { return }"
    assert make_plan(host(text), "g").entry == "g"
    with pytest.raises(WeftError, match="W0732: no function @h with a body; there are: @f, @g"):
        make_plan(host(text), "h")


def test_the_only_function_that_launches_runs() -> None:
    text = f"""func.func @other() {{ return }}
      func.func @f(%a: memref<8xf32>) {{ {C1} {launch("copy", "%a: memref<8xf32>, %a: memref<8xf32>")} return }}"""
    assert make_plan(host(text, COPY_KERNEL)).entry == "f"


def test_free_steps_come_last() -> None:
    plan = plan_of("func.func @f() { %t = memref.alloc() : memref<8xf32> return }")
    assert isinstance(plan.steps[-1], Free)


@pytest.mark.parametrize("layout", ["affine_map<(i, j) -> (j, i)>", "affine_map<(i, j) -> (i floordiv 2, j)>"])
def test_layouts_without_strides_are_refused(layout: str) -> None:
    with pytest.raises(WeftError, match=r"W0398: argument `arg0` of @f is memref<4x8xf32, .*has no strides"):
        plan_of(f"func.func @f(%a: memref<4x8xf32, {layout}>) {{ return }}", kernels="")
