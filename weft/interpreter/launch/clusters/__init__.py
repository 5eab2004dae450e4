"""What `launch … cluster(n)` makes of a kernel whose blocks run side by side."""
