"""What a batch of blocks runs on: lanes and masks, memory and its shadow, barriers, warps, banks."""
