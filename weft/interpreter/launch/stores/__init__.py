"""Stores of results: copies out of shared memory by the tensor memory accelerator; and accumulators
that are rounded when they are stored."""
