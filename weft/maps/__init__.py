"""The owner of each iteration or element under the maps of a schedule, found by a simulated launch
and drawn as text or as a picture."""
