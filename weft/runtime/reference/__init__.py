"""The oracle: the untouched payload, compiled for the CPU by upstream, in a process of its own."""
