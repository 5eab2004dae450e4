"""`async-fork`: the tokens of a host function, rebuilt from the effects of its operations on
memory."""
