"""Parses and checks the responses of a server."""
