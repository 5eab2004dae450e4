"""Sums that are cut into parts which run side by side, and are added up afterwards."""
