"""When each launch and copy of a run began and ended: as data, as text, as a picture."""
