"""How a call travels: attempts, retries, batches and safe writes."""
