"""Output for people: messages, progress, colors, reports and diffs, for the command line and the
REPL."""
