"""Running a plan on a device, and comparing its outputs."""
