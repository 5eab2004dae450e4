"""The normal form of kernels, which emitter and simulator share; what its ops say, and how others become these."""
