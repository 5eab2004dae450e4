"""Effects of upstream's ops on memory, defined once: effects, views, roots, memory spaces.

An op in none of these tables may access and return anything: `effects` and `shown` report it as
unknown, and callers refuse it or assume a conflict. No caller skips it.
"""
