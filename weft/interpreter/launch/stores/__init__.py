"""Copies out of shared memory by the tensor memory accelerator; and accumulators, rounded where
they are stored."""
