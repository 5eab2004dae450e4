"""`async-fork`: the tokens of a host function, built anew from what its operations do to memory."""
