"""Golden tests of schedules: what a schedule makes, kept beside it and compared.

`golden.py` is a golden and its first line, and finds them, `judging.py` makes their texts and compares, `checks.py`
tries CHECK lines. `weft golden` and the pytest plugin drive these.
"""
