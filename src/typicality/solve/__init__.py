"""Solving: the Picard loop, its step, starts and schedules of runs."""
