"""Execution of a batch of blocks: lanes and masks, memory and its shadow, barriers, warps, banks."""
