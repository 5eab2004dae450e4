"""Running a plan on a device, and comparing what came of it."""
