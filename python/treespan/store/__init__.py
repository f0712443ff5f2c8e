"""The store: one truth behind one interface; the contract between the two services."""
