"""Owners of the elements of a temporary, for any partition of the temporary."""
