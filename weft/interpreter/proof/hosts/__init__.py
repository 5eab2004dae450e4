"""Asynchrony: what host operations do to memory, the order that tokens make of them, and how few tokens are enough."""
