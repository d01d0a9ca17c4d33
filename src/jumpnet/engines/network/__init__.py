"""Networks trained on rows: the paper's method and its relatives."""
