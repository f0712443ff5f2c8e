"""The read side: queries get chunks with the context around them."""
