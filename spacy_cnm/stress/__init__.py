"""Names with rare characters: made in test sets to see what breaks, and in training against it."""
