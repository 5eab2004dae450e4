"""What every device is to the runner, and what it reports of a launch: records, below all devices."""
