"""A piece with many holes, cut into cells between them."""
