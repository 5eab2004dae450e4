"""`weft repl`: applies a schedule one statement at a time, forwards and backwards.

`workbench.py` holds the recipe and the session and does not depend on a terminal. `shell.py` reads
lines and dispatches them to the commands in `steps.py`, `trials.py`, `kernels.py` and `export.py`.
The other files compute what the commands show.
"""
