"""The long form of the codes of files (W00xx), syntax (W01xx) and checking (W02xx), for `weft explain CODE`."""

from .diagnostics import explanations

CODES = explanations(r"""
W0001 a file can't be read
    The file does not exist, or the system refuses to open it; the message gives the reason.
W0002 a directory instead of a file
    A schedule is one `.weft` file. Name a file in the directory.
W0003 no schedule in a file
    The file is empty, or holds only comments, a payload or includes. A schedule looks like

        schedule name(bm: int = 16) {
          let gemm = match linalg.matmul
        }
W0004 a binary file
    A schedule is text; this file holds zero bytes. UTF-16 text counts as binary: save it as UTF-8.
W0005 not UTF-8
    A schedule is UTF-8 text. The first byte that is not is in the message.
W0006 a file is too large
    Schedules written by hand are far below a million bytes; this is probably another file.
W0007 circular includes
    A file includes itself, directly or through others. Move what both files need into a third one that both include.
    (Two files may include the same third one: its schedules are included once.)
W0101 unexpected text
    The message lists what is expected there. A line holds one statement; it continues in the next line only inside (
    ) and [ ], and after an operator, a comma or `=`.
W0102 not a statement
    A line of a schedule begins with a statement's keyword, with `let`, `require`, `if`, `foreach`, `return`, or with
    the call of a schedule.

    wrong: gemm = match linalg.matmul
    right: let gemm = match linalg.matmul
W0103 a malformed string
    Strings are in double quotes, on one line, with the escapes \" \\ \n \t.
W0104 a malformed number
    Integers are decimal and fit in 64 bits; floats have digits on both sides of the point: 0.5, 1.0e-3.
W0105 a bracket is never closed
    The file ends inside the marked bracket.
W0106 an option is given twice
    Options of a statement may be in any order, each at most once.
W0107 too deeply nested or too long
    Brackets nest at most 40 deep, a statement has at most 150 operators, and an `if` at most 50 `else`. If a program
    generated the schedule, let it generate several schedules that call each other.
W0108 two payloads
    A file names at most one payload. Payloads of included files are ignored.
W0109 an assumption about a size that is not one of divisibility
    `assume A.1 % 4 == 0` says that axis 1 of the payload's argument `A` is a multiple of 4, `assume A.1 <= 4096` that it
    is no larger. Nothing else can be assumed of a size.

    wrong: assume A.1 % 4 == 1
    right: assume A.1 % 4 == 0
W0201 two schedules of the same name
    Schedules of a file, and of the files it includes, have different names.
W0202 schedules that recurse
    A schedule cannot call itself, directly or through others. Use `foreach` to repeat.
W0203 no such schedule
    A call names a schedule in this file or in one that it includes.
W0204 not a statement of this version
    The language has the statement, but this version of Weft does not implement it. `weft statements` lists those that
    it does.
W0205 a reserved name
    `true`, `false`, `not`, `_` and the element types (`f32`, `i8`, …) cannot name parameters or handles. Other words
    of the language can: a handle may be called `k`, `x`, `tile` or `block`.
W0206 a name is bound twice
    A name refers to one thing. Once its handle is consumed, the name is free again:

        let gemm = interchange gemm [1, 0, 2]
W0207 a misplaced `return`
    `return (a, b)` is the last line of a schedule, outside `if` and `foreach`.
W0208 a wrong argument
    An argument's name is not that of a parameter, or is given twice, or there are too many arguments.
W0209 an argument is missing
    Handles and parameters without a default must be given in a call.
W0210 a value of the wrong type
    A parameter's type is int, float, bool, str, type (an element type such as f32) or handle. An int is accepted
    where a float is expected.
W0211 a value outside the domain
    `bm: int = 64 in [32, 64]` accepts only the values of its list, also as the default.
W0212 an invalid domain or default
    A domain is a list of different constants of the parameter's type. Handles have neither domain nor default.
W0213 a parameter without a value
    Give one with `--set name=value`, or write a default.
W0214 an unknown parameter
    A setting's name is not that of a parameter of the schedule.
W0215 an option that this version does not accept
    The language has the option, but the statement does not implement it in this version.
W0220 an unknown name
    Names are those of parameters, of `foreach` variables, and of handles bound by `let` above, in this block or
    around it.
W0221 a handle where a value is expected, or the reverse
    A handle names an op of the payload; a value is a number, a string or a type. `let t = tile …` binds all results:
    `t.loop` and `t.op` are handles, `t` alone is not. `match*` binds all ops that match: iterate over them with
    `foreach`.
W0222 no such result
    `t.loop` is the result `loop` of the statement bound to `t`; `weft statements` lists the results.
W0223 a consumed handle
    A statement that rewrites an op consumes its handle and returns handles to the ops that it creates. After

        let (tiles, inner) = tile gemm [64, 64]

    `gemm` is consumed; `inner` is the op inside the new loop `tiles`.
W0224 an operand is expected
    `promote-to-shared step.lhs`: the op's handle, a dot, the operand's name.
W0225 nothing to bind
    The statement or schedule returns nothing; write it without `let`.
W0226 more or fewer names than results
    `let (a, b) = …` names every result in order; `_` discards one; `let t = …` keeps all, as `t.name`.
W0227 a handle that may have been consumed
    One path through an `if` or a `foreach` consumes the handle, another does not, so it cannot be used afterwards.
W0228 a handle consumed in a loop
    The body of `foreach` runs for each element. A handle bound outside it that the first iteration consumes is not
    available in the second.
W0230 something is missing
    A statement lacks a required field, or a schedule with handle parameters is run by itself.
W0231 a value out of range
    Tile sizes are at least 0 (which leaves the dimension untiled), counts and chunks at least 1; the reference of a
    statement (`weft statements NAME`) says what its other numbers may be.
W0232 a value of the wrong kind
    Arithmetic takes numbers, `%` integers, `and`, `or` and `not` conditions; sizes are integers or `_`.
W0233 nothing to iterate over
    `foreach` takes a list of values, a list of handles written out (`[gemm, t.op]`), or the result of `match*`.
W0234 a division that is not exact
    Integer `/` refuses a remainder, so that no tile size is rounded silently. `ceildiv(a, b)` rounds up;
    `require a % b == 0` states beforehand which values are legal.
W0235 a division by zero
    The divisor of `/`, `%` or `ceildiv` is zero.
W0236 a result that is too large
    Integers fit in 64 bits; floats are finite.
W0237 a wrong function call
    Functions: min(a, …), max(a, …), ceildiv(a, b), pow2(n), the least power of two that is at least n, bits(type), and
    select(condition, a, b), which is a where the condition is true, else b.
W0238 an axis is given twice
    Each of x, y and z is used for one dimension of the loop: `blocks(y, x)`.
W0239 one handle given twice
    The statement relates two different ops or loops: `fuse PRODUCER into LOOP`.
W0240 a requirement does not hold
    `require` states what the parameters must satisfy. The notes show the values involved; choose others with `--set`.
W0241 a name that there is not
    Upstream's dialect has no op of that name, or upstream has no pass of that name. It is a warning where the
    statement may do without (`match?`, `match*`), and where the dialect is not known: a payload may bring its own.
""")
