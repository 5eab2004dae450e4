"""What the REPL's own diagnostics mean."""

from __future__ import annotations

from ..dsl.diagnostics import explanations

CODES = explanations("""
W0060 no such position
    Positions count statements: 0 is the start, 3 is where three statements are done. `goto` reaches those up to the
    end of the schedule; `diff` and `ir` show those that were done.
W0061 a command is not written like that
    `help` lists the commands of the REPL, `help COMMAND` shows how one is written.

    wrong:  step two
    right:  step 2
W0062 nothing is launched yet
    `cuda` and `run` need a kernel: a statement `launch` that was done. Before it, `sync` judges what is mapped, and
    `ir` shows where things stand.
W0063 a point that no file can say
    A saved schedule holds what was done. In the middle of a `foreach` or of a called schedule, part of a statement's
    work is done, and a line that was typed there would be done again in every round. `step` to its end, or `undo` to
    before it, and `save` there.
W0064 a file that is there already
    `save` does not overwrite a file unless it is told to.

    right:  save mine.weft --overwrite
W0065 no such handle
    `handles` lists the handles there are, alive and consumed. A consumed handle names no op any more.
W0066 no name for a file
    `save` takes the name of a file, with or without `.weft`; `~` is your own folder.
W0067 no session to go on with
    `weft repl` on a terminal keeps a journal of what is done, until it is left with `quit` or Ctrl-D. A session that
    ended otherwise (the process or the machine died) is found again by `weft repl --resume`; where there are several,
    by the journal's name: the notes list them. Journals are kept for 30 days, the newest 20.

    right:  weft repl --resume
""")
