"""What `jumpnet bench` measures: jumpnet beside other ways to the same numbers, in one run, as ratios."""
