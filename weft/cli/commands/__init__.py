"""The commands, a file for those that belong together; what they work with is imported when one is asked for."""
