"""`weft repl`: a schedule, one statement at a time, forth and back.

`workbench.py` holds what is being worked on and knows nothing of terminals; `shell.py` reads lines and hands them to
the commands of `steps.py`, `trials.py`, `kernels.py` and `export.py`; the other files make what those show.
"""
