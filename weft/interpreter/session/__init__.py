"""A schedule being applied: its statements as transactions, its names, its state."""
