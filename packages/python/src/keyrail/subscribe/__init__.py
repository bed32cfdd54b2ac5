"""Subscriptions: the canonical chain as a stream of events."""
