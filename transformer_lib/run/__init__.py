"""What a training run is and does: its settings, its folder and checkpoints, many side by side."""
