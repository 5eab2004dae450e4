"""`weft audit`: what `weft build` has written passes; what was changed does not, whatever was changed and signed again.

The soak (WEFT_SOAK=1) makes 24,000 changes, others for each WEFT_SEED, and goes on with WEFT_FIRST, the number of the first.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from bundle_mutants import BUNDLES, built, outcome, words, wrongly_accepted

import weft
from weft import cli
from weft.auditing import audit_bundle
from weft.dsl.diagnostics import WeftError
from weft.runtime.cpu import allow_lists

SOAK = "WEFT_SOAK" in os.environ
SEED, FIRST, CHANGES = (
    os.environ.get("WEFT_SEED", "first"),
    int(os.environ.get("WEFT_FIRST", "0")),
    24_000 if SOAK else 30,
)
RECIPES = [
    "softmax",
    "argmax",
    "concurrent_convs",
    "histogram",
    "igemm_tensor",
    *(["hopper", "attention", "simt"] if SOAK else []),
]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """That of `naive`, to be changed."""
    (tmp_path / "bundle").mkdir()
    for name, text in built("naive").items():
        (tmp_path / "bundle" / name).write_text(text)
    return tmp_path / "bundle"


def sign(bundle: Path) -> None:
    plan = json.loads((bundle / "plan.json").read_text())
    plan["texts"] = {
        name: hashlib.sha256((bundle / name).read_bytes()).hexdigest() for name in ("kernels.cu", "module.mlir")
    }
    (bundle / "plan.json").write_text(json.dumps(plan))


def replaced(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
    sign(path.parent)


def codes(bundle: Path) -> list[str]:
    return sorted({d.code for d in audit_bundle(bundle).diagnostics})


@pytest.mark.parametrize("name", BUNDLES)
def test_what_was_built_passes(name: str, tmp_path: Path) -> None:
    assert outcome(built(name), tmp_path / "bundle") == "accepted"


@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name: str, tmp_path: Path) -> None:
    """Plan and text follow from the module as it is read again."""
    found = audit_bundle(weft.build(name, tmp_path / "bundle"))
    assert found.ok and found.verdict is not None and found.verdict.ok and not found.different, found.diagnostics


def test_agreements_are_in_the_module() -> None:
    assert "weft.agreements" in built("open")["module.mlir"] and '"agreements"' in built("open")["plan.json"]


def test_changes(tmp_path: Path) -> None:
    found = Counter[str]()
    wrong = list(wrongly_accepted(range(FIRST, FIRST + CHANGES), SEED, tmp_path / "bundle", found))
    refused = sum(count for what, count in found.items() if what.endswith(": refused"))
    print(f"{refused} changes refused, {len(wrong)} accepted: {dict(sorted(found.items()))}")
    assert not wrong, "\n".join(wrong)
    assert refused > CHANGES // 3, "most changes are of bundles that are none"


CHANGED = {
    "a sum for a product": (["W0766", "W0767"], "module.mlir", [("arith.mulf", "arith.addf")]),
    "another text": (["W0766"], "kernels.cu", [(" * ", " + ")]),
    "assembler of PTX": (["W0766"], "kernels.cu", [("{\n", '{\n  asm volatile("trap;");\n')]),
    "one more kernel": (["W0766"], "kernels.cu", [('extern "C"', '__device__ int other;\nextern "C"')]),
    "an attribute that none has": (["W0765"], "module.mlir", [("known_grid_size", "passthrough")]),
    "assembler of the module": (["W0765"], "module.mlir", [("{gpu.cont", '{llvm.module_asm = ["ud2"], gpu.cont')]),
    "what a kernel's argument is for": (
        ["W0765"], "module.mlir", [('{weft.name = "C"}) kernel', '{llvm.readonly, weft.name = "C"}) kernel')]
    ),
    "what a function is called": (
        ["W0765"], "module.mlir", [('weft.name = "C"}) {', 'weft.name = "C"}) attributes {llvm.emit_c_interface} {')]
    ),
    "what a function does": (["W0765"], "module.mlir", [("attributes {known", "attributes {llvm.readnone, known")]),
    "what memory is for": (["W0765"], "module.mlir", [("alloca() {", "alloca() {llvm.readnone, ")]),
    "fast arithmetic": (["W0765"], "module.mlir", [("mulf %5, %4 :", "mulf %5, %4 fastmath<fast> :")]),
    "a rounding mode of what rounds nothing": (
        ["W0765"], "module.mlir", [("alloca() {", "alloca() {roundingmode = array<i32: 1>, ")]
    ),
    "the width of indices": (
        ["W0765"], "module.mlir", [("{gpu.cont", "{dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>, gpu.cont")]
    ),
    "for which machine": (
        ["W0765"], "module.mlir", [("gpu.module @matmul_kernel", "gpu.module @matmul_kernel [#nvvm.target<O = 3>]")]
    ),
    "an index that the text leaves out": (["W0765"], "module.mlir", [("%alloca[%c0, %c0]", "%alloca[%c8, %c0]")]),
    "another grid": (["W0767"], "plan.json", [('"grid": [1, 1, 1]', '"grid": [1, 2, 1]')]),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGED)
def test_signed_again(case: str, bundle: Path) -> None:
    wanted, name, pairs = CHANGED[case]
    sign(bundle)
    replaced(bundle / name, *pairs)
    found = codes(bundle)
    assert wanted[0] in found, found
    assert cli.run(["audit", str(bundle)]) == 1


def test_a_race(tmp_path: Path) -> None:
    """Both text and plan follow from the module, and the module has a race."""
    weft.build("shared", tmp_path / "bundle", settings={"m": 16, "n": 16, "k": 20})
    module = tmp_path / "bundle" / "module.mlir"
    replaced(
        module,
        (
            "gpu.barrier memfence [#gpu.address_space<workgroup>]"
            if "memfence [#" in module.read_text()
            else "gpu.barrier",
            "",
        ),
    )
    found = codes(tmp_path / "bundle")
    assert "W0766" in found and any(code.startswith("W060") for code in found), found


def test_other_words_for_the_same(bundle: Path) -> None:
    """Space in JSON and in the module changes nothing; any other text of kernels is refused, a comment, too."""
    replaced(bundle / "module.mlir", ("      gpu.return", "\n// end\n        gpu.return"))
    assert audit_bundle(bundle).ok
    replaced(bundle / "kernels.cu", ("{\n", "{\n\n"))
    assert codes(bundle) == ["W0766"]
    assert words((bundle / "kernels.cu").read_text()) == words(built("naive")["kernels.cu"])


def test_a_bundle_without_digests(bundle: Path) -> None:
    plan = json.loads((bundle / "plan.json").read_text())
    del plan["texts"]
    (bundle / "plan.json").write_text(json.dumps(plan))
    assert codes(bundle) == ["W0767"]


@pytest.mark.parametrize("said", [{"compared": "exactly"}, {"unchecked": "no"}, {}])
def test_what_a_bundle_says_of_a_comparison_is_told(said: dict[str, str], bundle: Path) -> None:
    """No file shows it: what is left out is told, too."""
    plan = json.loads((bundle / "plan.json").read_text())
    plan = {key: value for key, value in plan.items() if key not in ("compared", "unchecked")} | said
    (bundle / "plan.json").write_text(json.dumps(plan))
    found = audit_bundle(bundle)
    told = None if "compared" in said else said.get("unchecked", "nothing in it states that they were")
    assert found.ok and found.unchecked == told


SINGLE = """schedule s() {
  let sum = match linalg.generic
  map sum to threads(x: 32)
  launch sum
}"""


def test_a_mark_of_what_is_not_proven(tmp_path: Path) -> None:
    """It is in the plan, too."""
    payload = """func.func @f(%x: memref<32xf32>, %y: memref<32xf32>) {
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<32xf32>) outs(%y : memref<32xf32>) { ^bb0(%a: f32, %o: f32): linalg.yield %a : f32 }
      return }"""
    made = weft.build(SINGLE, tmp_path / "bundle", payload=payload)
    module = made / "module.mlir"
    replaced(module, ("kernel attributes {", 'kernel attributes {weft.unproven = "let through", '))
    found = audit_bundle(made)
    assert "plan.json" in found.different


FREE = """module attributes {llvm.data_layout = "e-m:e-i64:64", llvm.target_triple = "x86_64-unknown-linux-gnu"} {
  func.func @f(%x: memref<32xi32> {llvm.noalias, llvm.nonnull}, %y: memref<32xi32> {llvm.noalias, llvm.writeonly})
      attributes {llvm.linkage = #llvm.linkage<external>, llvm.emit_c_interface} {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<32xi32>) outs(%y : memref<32xi32>) {
    ^bb0(%a: i32, %o: i32):
      %b = arith.addi %a, %a overflow<nsw> : i32
      %c = arith.sitofp %b : i32 to f32
      %d = arith.mulf %c, %c fastmath<fast> : f32
      %e = arith.fptosi %d : f32 to i32
      %two = arith.constant 2 : i32
      %g = arith.divsi %e, %two exact : i32
      %h = arith.shrui %g, %two {isExact} : i32
      %w = arith.extui %h {nonNeg} : i32 to i64
      %n = arith.trunci %w : i64 to i32
      linalg.yield %n : i32
    }
    return
  }
}"""


def test_what_a_payload_lets_compilers_assume(tmp_path: Path) -> None:
    """It is no part of a bundle, whose text does not say it, either: what was built passes."""
    made = weft.build(SINGLE, tmp_path / "bundle", payload=FREE)
    text = (made / "module.mlir").read_text()
    assert audit_bundle(made).ok
    assert not [word for word in ("fastmath", "overflow", "exact", "Exact", "nonNeg") if word in text], text
    assert text.count("llvm.") == text.count("llvm.noalias") == 2


HINTED = """module attributes {gpu.container_module, dlti.dl_spec = #dlti.dl_spec<index = 64 : i64>, other.mark = "x"} {
  func.func @f(%x: memref<32xf32> {other.mark}, %y: memref<32xf32>) attributes {mark, other.mark} {
    %c1 = arith.constant {mark} 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>, %y : memref<32xf32>)
    return
  }
  gpu.module @k [#nvvm.target<O = 3>] {
    gpu.func @k(%x: memref<32xf32> {llvm.align = 64 : i64, other.mark}, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x upper_bound 32 {mark}
      %v = memref.load %x[%t] {alignment = 64 : i64, nontemporal = true, invariant = true} : memref<32xf32>
      memref.store %v, %y[%t] {alignment = 4 : i64, other.mark} : memref<32xf32>
      gpu.return
    }
  }
}"""


def test_what_a_payload_says_of_machines_and_to_others(tmp_path: Path) -> None:
    """Hints, the machine, and attributes of nobody's: they are no part of a bundle, and what was built passes."""
    made = weft.build('schedule s() { run-pass "gpu-kernel-outlining" }', tmp_path / "bundle", payload=HINTED)
    text = (made / "module.mlir").read_text()
    assert audit_bundle(made).ok and "alignment = 4" in text
    words = ("mark", "dlti", "nvvm", "llvm", "nontemporal", "invariant", "= 64", "upper_bound")
    assert not [word for word in words if word in text], text


SHOWN = frozenset((
    "action", "address_spaces", "aligned", "arg_attrs", "asyncObject", "bypassL1", "callee", "cases", "cast",
    "cluster_size", "cluster_stride", "condition", "constant", "dimension", "dstElements", "format", "function_type",
    "group", "hostShared", "in_bounds", "initial_value", "isCTAOnly", "kernel", "kind", "known_block_size",
    "known_cluster_size", "known_grid_size", "layoutA", "layoutB", "lowerBoundMap", "map", "mask", "mask_dim_sizes",
    "mmaShape", "mode", "msg", "name", "numGroups", "numTiles", "offsets", "op", "permutation", "permutation_map",
    "predicate", "private_attrib_attrs", "read", "reassociation", "reduction_dims", "regCount", "relaxed", "res_attrs",
    "satfinite", "scaleA", "scaleB", "scaleD", "scope", "shape", "sizes", "space", "static_basis", "static_offsets",
    "static_output_shape", "static_position", "static_sizes", "static_strides", "step", "strides", "sym_name",
    "sym_visibility", "tf32Enabled", "transpose", "transposeA", "transposeB", "type", "typeA", "typeB", "typeD",
    "unsignedCmp", "upperBoundMap", "value", "waitGroup", "workgroup_attrib_attrs", "workgroup_attributions",
))  # fmt: skip
"""Attributes of ops that say what is computed, by whom and when: text and plan show them, or the ops are refused."""


def test_every_attribute_of_every_op_is_shown_or_may_not_be_there() -> None:
    """By the bindings' own definitions of the ops that a finished module may have."""
    known = allow_lists.KERNEL_OPS | allow_lists.RULES.keys() | {"func.func", "gpu.func", "gpu.module", "memref.global"}
    free = {*allow_lists._HINTS, *allow_lists._NO_FLAGS, "roundingmode"}  # the last one is refused for what it says
    unknown: dict[str, set[str]] = {}
    for dialect in sorted({op.partition(".")[0] for op in known}):
        source = inspect.getsource(importlib.import_module(f"torch_mlir.dialects._{dialect}_ops_gen"))
        for defined in source.split("\nclass ")[1:]:
            name = re.search(r'OPERATION_NAME = "([^"]+)"', defined)
            if name is not None and name[1] in known:
                has = set(re.findall(r'attributes\["(\w+)"\]', defined)) - SHOWN - free - allow_lists._OF_EVERY_OP
                unknown |= {name[1]: has} if has else {}
    assert not unknown


def test_json_and_exit_codes(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["audit", str(bundle), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["ok"]
        and found["proven"]
        and found["different"] == []
        and "not known where this program" in found["not_known"]
    )
    assert found["indices"]["inside"] == found["indices"]["all"] > 0
    replaced(bundle / "kernels.cu", (" * ", " + "))
    assert cli.run(["audit", str(bundle), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["ok"] and found["different"] == ["kernels.cu"] and found["diagnostics"][0]["code"] == "W0766"
    assert cli.run(["audit", str(tmp_path / "nowhere")]) == 1
    assert cli.run(["audit"]) == 2
    assert cli.run(["audit", str(bundle), "--fix"]) == 2


@pytest.mark.parametrize("broken", ["module", "bytes", "plan", "kernel", "string"])
def test_no_bundle_gives_no_traceback(broken: str, bundle: Path) -> None:
    match broken:
        case "module":
            (bundle / "module.mlir").write_text("module {")
        case "bytes":
            (bundle / "module.mlir").write_bytes(b"ML\xefR\x00")
        case "plan":
            (bundle / "plan.json").write_text("{}")
        case "kernel":
            (bundle / "kernels.cu").write_text("")
        case "string":
            replaced(bundle / "module.mlir", ('weft.name = "A"', r'weft.name = "\FF"'))
    done = subprocess.run([sys.executable, "-m", "weft", "audit", str(bundle)], capture_output=True, text=True)
    assert done.returncode == 1 and "error[W" in done.stderr and "Traceback" not in done.stderr


def test_windows_of_other_ranks(bundle: Path) -> None:
    """A plan with more strides than sizes was a traceback."""
    plan = json.loads((bundle / "plan.json").read_text())
    plan["steps"][0]["args"][0]["strides"].append(1)
    (bundle / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(WeftError, match="W0703"):
        audit_bundle(bundle)
