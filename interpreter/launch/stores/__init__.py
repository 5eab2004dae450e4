"""Copies out of shared memory by the tensor memory accelerator."""
