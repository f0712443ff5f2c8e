"""EPUB books: the order of the spine, the titles of the contents, chapters as HTML."""
