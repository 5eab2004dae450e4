"""Golden tests of schedules: the output of a schedule is kept beside it and compared with the
current output.

`golden.py` finds goldens and reads their first lines, `judging.py` makes the current texts and
compares, `checks.py` evaluates CHECK lines. `weft golden` and the pytest plugin use these.
"""
