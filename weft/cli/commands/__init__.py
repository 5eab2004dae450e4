"""One file per command (or few that belong together); `cli.py` finds them."""
