"""Logs of any range of blocks, read in windows."""
