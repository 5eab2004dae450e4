"""Golden tests of schedules: what a schedule makes, kept beside it and compared.

`golden.py` is a golden and its first line, `discovery.py` finds them, `making.py` makes their texts, `checks.py` tries
CHECK lines, `judging.py` compares. `weft golden` and the pytest plugin drive these.
"""
