"""Reads the logs of a range of blocks."""
