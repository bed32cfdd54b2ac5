"""Counters, hooks and spans of calls."""
