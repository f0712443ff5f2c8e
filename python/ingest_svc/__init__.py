"""The write side: files become document trees whose chunks are embedded and stored."""
