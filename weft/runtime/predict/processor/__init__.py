"""A multiprocessor in time: its warps and schedulers, its memory, what it shares with others."""
