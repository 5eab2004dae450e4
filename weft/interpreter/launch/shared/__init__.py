"""What threads exchange that share a reduction or a scan."""
