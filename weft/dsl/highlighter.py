"""A Pygments lexer for the REPL, the documentation and reports. It also colors text that does not
parse."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, include, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from .expressions import ELEMENT_TYPES, FUNCTIONS
from .tree import CONTROL, KINDS, LOOP_KINDS

_STATEMENT = rf"(?!(?:{'|'.join(CONTROL)})\b)[a-z]\w*(?:-[a-z]\w*)*[?*]?(?![\w(:,.)-]|[^\S\n]*=)"
_OPTIONS = (
    "in to into like across by where consumer producer of stages streams vector padding pad swizzle align transpose"
    " max-registers order grouped panels hilbert atomic async producer overlap as tf32 3xtf32 bf16x3 accumulate noalias"
    " cluster unproven blocks threads warpgroups quarters warps lanes registers grid tma block-cyclic block cyclic"
)


_KINDS = "|".join((*reversed(LOOP_KINDS), *KINDS))


class WeftLexer(RegexLexer):
    """The lexer of `.weft`. The first word of a statement is its keyword, so that new statements
    need no code here."""

    name = "Weft"
    aliases: ClassVar[list[str]] = ["weft"]
    filenames: ClassVar[list[str]] = ["*.weft"]
    tokens: ClassVar[dict[str, list]] = {
        "root": [
            (
                r"^([^\S\n]*)(match[?*]?)([^\S\n]+)([A-Za-z_][\w$]*(?:\.[\w$]+)*)",
                bygroups(Whitespace, Name.Builtin, Whitespace, Name.Entity),
            ),
            (rf"^([^\S\n]*)({_STATEMENT})", bygroups(Whitespace, Name.Builtin)),
            (r"[(\[]", Punctuation, "brackets"),
            include("words"),
        ],
        "brackets": [  # a line in them begins no statement
            (r"[(\[]", Punctuation, "#push"),
            (r"[)\]]", Punctuation, "#pop"),
            include("words"),
        ],
        "words": [
            (r"\n", Whitespace),
            (r"[^\S\n]+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"?', String.Double),
            (
                r"(schedule|payload)(\s+)([A-Za-z_]\w*(?:-[A-Za-z]\w*)*)",
                bygroups(Keyword.Declaration, Whitespace, Name.Class),
            ),
            (words(CONTROL, prefix=r"(?<![\w.-])", suffix=r"(?![\w-])"), Keyword),
            (
                rf"(match[?*]?)([^\S\n]+)((?:{_KINDS})\b(?!\.)|[A-Za-z_][\w$]*(?:\.[\w$]+)+)",
                bygroups(Name.Builtin, Whitespace, Name.Entity),
            ),
            (r'(match[?*]?)([^\S\n]+)(?="|(?:consumer|producer)\b)', bygroups(Name.Builtin, Whitespace)),
            (rf"(?:(?<=[^<>=!]=\s)|(?<={{\s)){_STATEMENT}(?=[^\S\n]+(?!(?:in|or|and)\b)[\w{{\[])", Name.Builtin),
            (words(_OPTIONS.split(), prefix=r"(?<![\w.-])", suffix=r"(?![\w:,=)-])"), Keyword.Pseudo),
            (words((*ELEMENT_TYPES, "int", "float", "bool", "str", "type", "handle"), prefix=r"(?<=[=:] )", suffix=r"\b"),
             Keyword.Type),
            (words(("true", "false", "none"), prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(("and", "or", "not"), prefix=r"\b", suffix=r"\b"), Operator.Word),
            (words(tuple(FUNCTIONS), prefix=r"\b", suffix=r"(?=\()"), Name.Function),
            (r"[A-Za-z_]\w*(?:-[A-Za-z]\w*)*(?=\()", Name.Function),
            (r"@[\w$.]+", Name.Decorator),
            (r"[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?", Number.Float),
            (r"[0-9]+", Number.Integer),
            (r"[A-Za-z_]\w*", Name),
            (r"==|!=|<=|>=|[-+*/%<>=?#]", Operator),
            (r"[(){}\[\],.:]", Punctuation),
            (r".", Text),
        ],
    }  # fmt: skip
