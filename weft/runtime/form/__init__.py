"""The normal form of kernels, which emitter and simulator share: the meaning of its ops, and
lowerings to it."""
