"""Exchange between threads that share a reduction or a scan."""
