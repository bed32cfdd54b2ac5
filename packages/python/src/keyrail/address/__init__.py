"""Where calls go, and what may be printed of it."""
