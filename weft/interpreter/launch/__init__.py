"""`launch`: materializes all maps of a loop at once, as a separate kernel and the launch that
replaces the loop."""
