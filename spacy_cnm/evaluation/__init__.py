"""What a trained pipeline does with a test file, and with a few sentences."""
