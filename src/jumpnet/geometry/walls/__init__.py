"""What walls are made of: corners, points where pieces meet, smooth closed curves."""
