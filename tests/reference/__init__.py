"""Slow readable twins of everything fast."""
