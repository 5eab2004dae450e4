"""Whether a reduction or scan that processors share combines exactly the parts that it states."""
