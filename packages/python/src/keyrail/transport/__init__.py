"""Sends calls: attempts, retries, batches and safe writes."""
