"""Schedules that several recipes include."""
