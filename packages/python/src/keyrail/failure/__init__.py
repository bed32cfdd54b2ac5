"""Failures of calls: what is known about them, their kind, and the error that is raised."""
