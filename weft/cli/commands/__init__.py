"""The commands, one file per group. Their dependencies are imported when a command runs."""
