"""What comes back by HTTP, read with distrust."""
