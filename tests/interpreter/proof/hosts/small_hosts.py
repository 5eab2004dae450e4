"""Small host functions with tokens and the kernels that they launch, and random graphs of launches as such functions."""

from __future__ import annotations

from test_lost_edges import Graph, text

V = "memref<8xf32>"
KERNELS = f"""gpu.module @k {{
    gpu.func @twice(%x: {V}, %y: {V}) kernel {{
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : {V}
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%t] : {V}
      gpu.return
    }}
    gpu.func @zero(%x: {V}) kernel {{
      %t = gpu.thread_id x
      %z = arith.constant 0.0 : f32
      memref.store %z, %x[%t] : {V}
      gpu.return
    }}
  }}"""


def host(*lines: str, arguments: str = f"%A: {V}, %B: {V}, %C: {V}") -> str:
    body = "\n".join(lines)
    return f"""module attributes {{gpu.container_module}} {{
  {KERNELS}
  func.func @f({arguments}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1.0 : f32
    %r = gpu.wait async
    %q = gpu.wait async
    {body}
    return
  }}
}}"""


def launch(kernel: str, *buffers: str, after: str, token: str) -> str:
    given = ", ".join(f"%{b} : {V}" for b in buffers)
    sizes = "blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)"
    return f"%{token} = gpu.launch_func async [%{after}] @k::@{kernel} {sizes} args({given})"


def kernel(number: int, reads: list[int], writes: list[int], kind: int) -> str:
    """What is written is the sum of what is read, added to what was there (0), in its place (1), or a constant that all
    kernels of this kind write (2)."""
    arguments = ", ".join(f"%a{i}: {V}" for i in range(len(reads) + len(writes)))
    body = ["%i = gpu.thread_id x", f"%s0 = arith.constant {number + 1}.0 : f32", "%half = arith.constant 0.5 : f32",
            "%same = arith.constant 7.0 : f32"]  # fmt: skip
    for i in range(len(reads)):
        body += [f"%v{i} = memref.load %a{i}[%i] : {V}", f"%s{i + 1} = arith.addf %s{i}, %v{i} : f32"]
    for i in range(len(reads), len(reads) + len(writes)):
        body += [f"%o{i} = memref.load %a{i}[%i] : {V}", f"%h{i} = arith.mulf %o{i}, %half : f32"] if kind == 0 else []
        body += [f"%n{i} = arith.addf %h{i}, %s{len(reads)} : f32"] if kind == 0 else []
        value = (f"%n{i}", f"%s{len(reads)}", "%same")[kind]
        body.append(f"memref.store {value}, %a{i}[%i] : {V}")
    return f"gpu.func @k{number}({arguments}) kernel {{\n" + "\n".join(body) + "\ngpu.return\n}"


def program(graph: Graph, kinds: list[int]) -> str:
    """The host of the graph, with kernels that compute."""
    host = text(graph)
    start, end = host.index("gpu.module @k"), host.index("func.func @main")
    count = len(graph.reads)
    made = "\n".join(kernel(b, sorted(graph.reads[b]), sorted(graph.writes[b]), kinds[b]) for b in range(count))
    launched = host[end:].replace("threads in (%c1, %c1, %c1)", "threads in (%c8, %c1, %c1)")
    launched = launched.replace("%c1 = arith.constant 1 : index", "%c1 = arith.constant 1 : index\n%c8 = arith.constant 8 : index")
    return f"{host[:start]}gpu.module @k {{\n{made}\n}}\n{launched}"
