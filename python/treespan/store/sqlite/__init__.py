"""The SQLite engine of the store: one file in a folder on a local disk."""
