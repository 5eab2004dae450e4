"""The normal form of kernels, which the emitter and the simulator share; what its ops say, and how others become these."""
