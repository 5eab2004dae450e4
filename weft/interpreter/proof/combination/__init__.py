"""Proof that a shared reduction or scan combines exactly the parts of its stated participants."""
