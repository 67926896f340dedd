"""What the parts stand on, and no lesson is about."""
