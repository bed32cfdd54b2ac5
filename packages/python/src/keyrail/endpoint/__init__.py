"""The URL, key and token that calls are sent with."""
