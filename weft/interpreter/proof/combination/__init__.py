"""Proof that a shared reduction or scan combines exactly the partial results (parts) of the threads
that it names."""
