"""Which thread has an element of a temporary, however the temporary is cut."""
