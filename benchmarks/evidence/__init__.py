"""What a GPU must show: `preparing` (with Weft) writes the items, `contest` and `concurrency` measure them, `measuring` keeps
what they find, `recording` brings it into the page."""
