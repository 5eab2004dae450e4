"""What a thread keeps in its registers: accumulators while a loop runs, fragments of what an op reads."""
