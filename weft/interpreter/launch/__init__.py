"""`launch`: all maps of a loop materialized at once, as a kernel of its own and the launch that takes the loop's
place."""
