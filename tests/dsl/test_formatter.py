"""The one form of a schedule's text."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import ROOT

from weft.dsl.diagnostics import WeftError
from weft.dsl.formatter import format_text

CASES = {
    "spaces": (
        "schedule  s(a:int=1 in[1,2 ,],h:handle){\nlet(x,_)=tile   h[_,-a, min( a,2 )*(1+ -2)]\n}",
        "schedule s(a: int = 1 in [1, 2], h: handle) {\n  let (x, _) = tile h [_, -a, min(a, 2) * (1 + -2)]\n}\n",
    ),
    "spaces of map and match": (
        "schedule s() {\n map a . b to threads( y :? , x: 4 )block-cyclic ( 3 ) vector 2\n"
        " match  a.b # 1 in  @f\n map a to threads( * )\n map a to warpgroups( y )\n}",
        "schedule s() {\n  map a.b to threads(y: ?, x: 4) block-cyclic(3) vector 2\n"
        "  match a.b #1 in @f\n  map a to threads(*)\n  map a to warpgroups(y)\n}\n",
    ),
    "matches by structure": (
        'schedule s() {\nlet a=match   "x"   or fill or reduction   loop   of  b . acc where rank==4 and lhs.0-1>-2\n'
        "let b = match?   consumer of a.out1\nlet n=a.lhs.0-a.sizes.1*2\nlet(t,o)=tile a[1,...]\nmap  o like  t\n}",
        'schedule s() {\n  let a = match "x" or fill or reduction loop of b.acc where rank == 4 and lhs.0 - 1 > -2\n'
        "  let b = match? consumer of a.out1\n  let n = a.lhs.0 - a.sizes.1 * 2\n"
        "  let (t, o) = tile a [1, ...]\n  map o like t\n}\n",
    ),
    "blocks": (
        "schedule s() { if a{print}\nelse if not b {\n\n\n}\nelse {print } foreach x in [1]{ print\n\n\n\n print }\n\n}"
        .replace("} foreach", "}\n foreach"),
        "schedule s() {\n  if a {\n    print\n  } else if not b {} else {\n    print\n  }\n"
        "  foreach x in [1] {\n    print\n\n    print\n  }\n}\n",
    ),
    "blocks in one line": (
        "schedule s(){\nif a{print}  // c\nforeach x in[1]{if x==b{print x}else{ }}\n"
        "if a{f()}else if b{let c=tile d[1]}else{let c=d}\nif b{g()}\nelse if b{print}\nversions{assume A.1<=4}else{print\n}\n"
        "schedule t(){if a{print}}\n}",
        "schedule s() {\n  if a { print }  // c\n  foreach x in [1] { if x == b { print x } else {} }\n"
        "  if a { f() } else if b { let c = tile d [1] } else { let c = d }\n  if b {\n    g()\n  } else if b {\n    print\n  }\n"
        "  versions {\n    assume A.1 <= 4\n  } else {\n    print\n  }\n  schedule t() {\n    if a { print }\n  }\n}\n",
    ),
    "a line that is too long for its blocks": (
        f"schedule s() {{\nif {' and '.join(f'condition_{n}' for n in range(9))} {{ print }}\n"
        f"if {' and '.join(f'condition_{n}' for n in range(8))} {{ print a }} else {{ print b }} // c\n}}",
        f"schedule s() {{\n  if {' and '.join(f'condition_{n}' for n in range(9))} {{\n    print\n  }}\n"
        f"  if {' and '.join(f'condition_{n}' for n in range(8))} {{\n    print a\n  }} else {{\n    print b\n  }}  // c\n}}\n",
    ),
    "a list of handles": (
        "schedule s() {\nforeach x in[a ,t . op,\n b, ] {print x}\n}",
        "schedule s() {\n  foreach x in [a, t.op,\n    b] {\n    print x\n  }\n}\n",
    ),
    "comments": (
        "\n\n//a\nschedule s() { //b\n//c\n\n  print//d\n  if a { //e\n } //f\n //g\n else { }\n  //h\n}//i\n//j",
        "//a\nschedule s() {  //b\n  //c\n\n  print  //d\n  if a {  //e\n  }  //f\n  //g\n  else {}\n  //h\n}  //i\n//j\n",
    ),
    "aligned comments stay where they are": (
        "schedule s() {\n  print       // a\n  bufferize   // b\n}\n",
        "schedule s() {\n  print       // a\n  bufferize   // b\n}\n",
    ),
    "breaks inside brackets stay": (
        "schedule s(\na: int = 1, // one\n   b: int = 2,\n) {\nlet x = tile h [\n1,\n  2\n]\n}",
        "schedule s(\n  a: int = 1,  // one\n  b: int = 2,\n) {\n  let x = tile h [\n    1,\n    2\n  ]\n}\n",
    ),
    "a statement that goes on": (
        "schedule s() {\n  require a and\n b or\n //why\n c\n}",
        "schedule s() {\n  require a and\n      b or\n      //why\n      c\n}\n",
    ),
    "raw text stays": (
        "schedule s() {\ntransform{ %a  =  b {\n\t} // }\n }\n}",
        "schedule s() {\n  transform { %a  =  b {\n\t} // }\n }\n}\n",
    ),
    "long calls and lists of parameters": (
        f"schedule stage({', '.join(f'parameter_{n}: int = {n}' for n in range(8))}) {{\n"
        f"let (a, b) = stage({', '.join(f'name_{n} = min(n, {n})' for n in range(8))}) // why\n"
        f"require {' and '.join(f'name_{n} == min(n, {n})' for n in range(8))}\n}}",
        "schedule stage(\n  parameter_0: int = 0, parameter_1: int = 1, parameter_2: int = 2, parameter_3: int = 3, "
        "parameter_4: int = 4,\n  parameter_5: int = 5, parameter_6: int = 6, parameter_7: int = 7\n) {\n  let (a, b) = stage(\n"
        "    name_0 = min(n, 0), name_1 = min(n, 1), name_2 = min(n, 2), name_3 = min(n, 3), name_4 = min(n, 4), "
        "name_5 = min(n, 5),\n    name_6 = min(n, 6), name_7 = min(n, 7)\n  )  // why\n"
        f"  require {' and '.join(f'name_{n} == min(n, {n})' for n in range(8))}\n}}\n",
    ),
    "conditions and schedules inside others": (
        "schedule s(h:handle=match? a.b #1){\nschedule t(){\nmap h to blocks(x:n)cyclic  if n!=none\n}\n"
        "alternatives{ t() }\nelse{\nappend h to all }\n}",
        "schedule s(h: handle = match? a.b #1) {\n  schedule t() {\n    map h to blocks(x: n) cyclic if n != none\n  }\n"
        "  alternatives {\n    t()\n  } else {\n    append h to all\n  }\n}\n",
    ),
    "line ends of Windows": ("schedule s() {\r\n  print // a\r\n}\r\n", "schedule s() {\n  print  // a\n}\n"),
    "empty": ("\n\n", ""),
    "only comments": ("\n// a\n\n\n// b", "// a\n\n// b\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_formatted(case: str) -> None:
    text, wanted = CASES[case]
    assert format_text(text, "t") == wanted
    assert format_text(wanted, "t") == wanted


@pytest.mark.parametrize("path", sorted((ROOT / "weft" / "recipes").glob("*/*.weft")), ids=lambda p: p.stem)
def test_recipes_are_formatted(path: Path) -> None:
    assert format_text(path.read_text(), path.name) == path.read_text()


@pytest.mark.parametrize("text", ["schedule {", "schedule s() {\n  pad\n}", "x" * 2_000_000, "payload a\npayload b"])
def test_what_does_not_parse_is_not_formatted(text: str) -> None:
    with pytest.raises(WeftError):
        format_text(text, "t")
