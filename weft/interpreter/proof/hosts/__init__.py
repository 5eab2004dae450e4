"""Asynchrony: the effects of host operations on memory, their order by tokens, and the removal of
redundant tokens."""
