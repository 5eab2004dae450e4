"""Placement of a kernel's temporaries in registers or shared memory, and the copies that fill them
and write them back."""
