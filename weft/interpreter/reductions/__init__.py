"""Reductions as algebra: what combines two partial results, what changes nothing, what scans are."""
