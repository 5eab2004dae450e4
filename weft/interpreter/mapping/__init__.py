"""Which processor does which iteration: the maps that `map` records, and what they come to."""
