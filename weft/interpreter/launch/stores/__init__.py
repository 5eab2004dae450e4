"""Copies out of shared memory by the tensor memory accelerator; and sums, rounded where they are stored."""
