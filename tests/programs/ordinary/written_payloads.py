"""What the payloads of ordinary programs are written with: functions on tensors, a call for each op.

p = Written(x="16x40xf32", b="40xf32")
p.each("y", "16x40xf32", "i, j", "x[i, j]; b[j]", "addf a b; maximumf . 0.0")   the elements read are a, b …; `.` the last value
p.each("s", "16xf32", "i, j*", "y[i, j]", "addf a o", start=0.0)                 a reduction over j: `o` is the sum so far
p.text("s")
"""

from __future__ import annotations

from collections.abc import Sequence

CASTS = ("extf", "truncf", "extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "index_cast")
MATH = ("exp", "log", "sqrt", "rsqrt", "tanh", "sin", "cos", "absf", "erf", "fma")
SCALARS = ("f32", "i32", "index")
LEAST = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80", "f64": "0xFFF0000000000000"}
Start = str | float | int | None


class Written:
    """A function on tensors, in the making. `arguments`: by name, their shapes and types, `16x?xf32`, or a scalar's type."""

    def __init__(self, name: str = "f", /, **arguments: str) -> None:
        self.name, self.types, self.arguments, self.lines = name, dict(arguments), list(arguments), list[str]()
        self.scalars = {each for each, kind in arguments.items() if kind in SCALARS}

    def type_of(self, name: str) -> str:
        """A value's type, as it is written."""
        return self.types[name] if name in self.scalars else f"tensor<{self.types[name]}>"

    def element(self, name: str) -> str:
        return self.types[name].rpartition("x")[2]

    def line(self, name: str, kind: str, text: str) -> str:
        """An op as it is in MLIR."""
        self.types[name] = kind
        self.scalars |= {name} if text.startswith(("arith.", "affine.", "tensor.dim")) else set()
        self.lines.append(f"%{name} = {text}")
        return name

    def constant(self, value: float | str, kind: str) -> str:
        """A constant of a scalar type."""
        text = str(value)
        if text.lstrip("-") == "inf":
            text = LEAST[kind] if text[0] == "-" else LEAST[kind].replace("0xF", "0x7", 1)
        elif kind[0] in "fb" and "." not in text and not text.startswith("0x"):
            text += ".0"
        return self.line(f"c{len(self.lines)}", kind, f"arith.constant {text} : {kind}")

    def empty(self, kind: str, sizes: Sequence[str] = ()) -> str:
        """A tensor without contents. `sizes`: of its open axes, `x.0` for axis 0 of x, or a value."""
        given = [self.size(*each.split(".")) if "." in each else each for each in sizes]
        name = self.line(f"e{len(self.lines)}", kind, "")
        self.lines[-1] = f"%{name} = tensor.empty({', '.join(f'%{n}' for n in given)}) : tensor<{kind}>"
        return name

    def size(self, value: str, axis: str) -> str:
        number = self.constant(int(axis), "index")
        return self.line(f"n{len(self.lines)}", "index", f"tensor.dim %{value}, %{number} : {self.type_of(value)}")

    def fill(self, name: str, kind: str, value: float | str = 0.0, sizes: Sequence[str] = ()) -> str:
        """A tensor of one value."""
        scalar = self.constant(int(value) if kind[-3:-2] in "xi" and isinstance(value, float) else value, kind.rpartition("x")[2])
        out = self.empty(kind, sizes)
        text = f"linalg.fill ins(%{scalar} : {self.types[scalar]}) outs(%{out} : tensor<{kind}>) -> tensor<{kind}>"
        return self.line(name, kind, text)

    def started(self, kind: str, start: Start, sizes: Sequence[str]) -> str:
        """What an op's result begins with: a tensor, a constant, or nothing."""
        if start is None:
            return self.empty(kind, sizes)
        return start if isinstance(start, str) and start in self.types else self.fill(f"i{len(self.lines)}", kind, start, sizes)

    def op(self, name: str, kind: str, op: str, given: str, start: Start = 0.0, sizes: Sequence[str] = (), more: str = "") -> str:
        """A named op: `p.op("c", "4x8xf32", "linalg.matmul", "a, b")`."""
        out, ins = self.started(kind, start, sizes), given.split(", ")
        operands = ", ".join(f"%{n}" for n in ins) + " : " + ", ".join(map(self.type_of, ins))
        head, _, attributes = op.partition(" ")
        ends = " -> " + f"tensor<{kind}>" if head not in ("linalg.reduce", "linalg.transpose", "linalg.broadcast") else ""
        body, maps = (f" {attributes}", "") if attributes[:1] == "{" else ("", f" {attributes}" if attributes else "")
        return self.line(name, kind, f"{head}{body}{maps} ins({operands}) outs(%{out} : tensor<{kind}>){ends}{more}")

    def each(
        self,
        name: str,
        kinds: str,
        dims: str,
        reads: str,
        body: str,
        at: str = "",
        start: Start | Sequence[Start] = None,
        sizes: Sequence[str] = (),
    ) -> None:
        """A `linalg.generic`; dimensions with `*` are reduced. Several results, `y#0` and `y#1`, have types with a space between;
        `at`: their subscripts, with `;`, where these are not the other dimensions."""
        types = kinds.split()
        starts = list(start) if isinstance(start, Sequence) and not isinstance(start, str) else [start] * len(types)
        outs = [self.started(kind, each, sizes) for kind, each in zip(types, starts, strict=True)]
        read = [tuple(each.strip().rstrip("]").split("[")) for each in reads.split(";")] if reads else []
        starred, dims = [d[:-1] for d in dims.split(", ") if d[-1] == "*"], dims.replace("*", "")
        places = (
            [p.strip() for p in at.split(";")] if at else [", ".join(d for d in dims.split(", ") if d not in starred)] * len(types)
        )
        values = {"abcdefgh"[n]: self.element(name) for n, (name, _) in enumerate(read)}
        values |= {"opq"[n]: kind.rpartition("x")[2] for n, kind in enumerate(types)}
        inner = _Body(self, values)
        inner.write(body)
        iterators = ", ".join(f'"{"reduction" if d in starred else "parallel"}"' for d in dims.split(", "))
        maps = ", ".join(f"affine_map<({dims}) -> ({place})>" for place in (*(place for _, place in read), *places))
        given = f"ins({', '.join(f'%{n}' for n, _ in read)} : {', '.join(self.type_of(n) for n, _ in read)}) " if read else ""
        made = ", ".join(f"tensor<{kind}>" for kind in types)
        block = ", ".join(f"%_{n}: {kind}" for n, kind in values.items())
        many = len(types) > 1
        self.types |= {f"{name}#{n}" if many else name: kind for n, kind in enumerate(types)}
        self.lines += [
            f"%{name}{f':{len(types)}' if many else ''} = linalg.generic",
            f"  {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}",
            f"  {given}outs({', '.join(f'%{n}' for n in outs)} : {made}) {{",
            f"^bb0({block}):",
            *(f"  {line}" for line in inner.lines),
            f"}} -> ({made})" if len(types) > 1 else f"}} -> {made}",
        ]

    def part(self, name: str, kind: str, of: str, offsets: str, sizes: str, steps: str = "") -> str:
        """A slice."""
        steps = steps or ", ".join("1" for _ in sizes.split(", "))
        return self.line(
            name, kind, f"tensor.extract_slice %{of}[{offsets}] [{sizes}] [{steps}] : {self.type_of(of)} to tensor<{kind}>"
        )

    def padded(self, name: str, kind: str, of: str, low: str, high: str, value: float | str = 0.0) -> str:
        """A tensor in a border of one value."""
        scalar = self.constant(value, self.element(of))
        block = ", ".join(f"%_{n}: index" for n in range(low.count(",") + 1))
        text = f"tensor.pad %{of} low[{low}] high[{high}] {{\n^bb0({block}):\n"
        text += f"tensor.yield %{scalar} : {self.types[scalar]}\n}}"
        return self.line(name, kind, f"{text} : {self.type_of(of)} to tensor<{kind}>")

    def text(self, results: str) -> str:
        """The function's text."""
        given = ", ".join(f"%{name}: {self.type_of(name)}" for name in self.arguments)
        names = results.split(", ")
        types = ", ".join(map(self.type_of, names))
        body = "\n".join(f"  {line}" for line in self.lines)
        returned = f"return {', '.join(f'%{n}' for n in names)} : {types}"
        return f"func.func @{self.name}({given}) -> ({types}) {{\n{body}\n  {returned}\n}}\n"


class _Body:
    """The body of a `linalg.generic`. `values`: its arguments' types."""

    def __init__(self, around: Written, values: dict[str, str]) -> None:
        self.around, self.types, self.lines = around, dict(values), list[str]()

    def write(self, body: str) -> None:
        last, yielded = "", ""
        for number, each in enumerate(part.strip() for part in body.split(";")):
            name, _, rest = each.rpartition(" = ") if " = " in each else (f"t{number}", "", each)
            op, *given = rest.split()
            given = [last if value == "." else value for value in given]
            if op == "yield":
                yielded = f"{self._of(given)} : {', '.join(map(self._type, given))}"
                continue
            self._op(name, op, given)
            last = name
        self.lines.append(f"linalg.yield {yielded or f'{self._of([last])} : {self.types[last]}'}")

    def _op(self, name: str, op: str, given: list[str]) -> None:
        kind = next((self._type(v) for v in given[op in ("select", "extract", "cmpf", "cmpi") :] if self._type(v)), "")
        if op == "index":
            self.types[name], text = "index", f"linalg.index {given[0]} : index"
        elif op == "extract":
            table, *at = given
            self.types[name] = self.around.element(table)
            text = f"tensor.extract %{table}[{self._of(at)}] : {self.around.type_of(table)}"
        elif op in CASTS:
            self.types[name], text = given[1], f"arith.{op} {self._of(given[:1])} : {self._type(given[0])} to {given[1]}"
        else:
            how = f"{given.pop(0)}, " if op in ("cmpf", "cmpi") else ""
            operands = [v if self._type(v) else self.around.constant(v, kind) for v in given]
            self.types[name] = "i1" if how else kind
            text = f"{'math' if op in MATH else 'arith'}.{op} {how}{self._of(operands)} : {kind}"
        self.lines.append(f"%_{name} = {text}")

    def _of(self, names: Sequence[str]) -> str:
        return ", ".join(f"%_{name}" if name in self.types else f"%{name}" for name in names)

    def _type(self, name: str) -> str:
        """The type of a value, or of a scalar argument; empty for a number."""
        return self.types.get(name) or (self.around.types[name] if name in self.around.scalars else "")
