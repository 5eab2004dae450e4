"""The application of a schedule: its statements as transactions, its names, its state."""
