"""What is looked at: plots, charts that move, drawings."""
