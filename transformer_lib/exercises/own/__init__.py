"""The student's own library: what has passed its check, and the model that was trained."""
