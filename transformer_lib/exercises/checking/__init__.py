"""How an answer is judged, and the mistake in it named."""
