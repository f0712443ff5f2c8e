"""The contract suite of the store, and the tests of its engines."""
