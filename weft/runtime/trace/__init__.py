"""The times of each launch and copy of a run: as data, as text, as a picture."""
