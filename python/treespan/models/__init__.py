"""Embedding models: what is known of them, their weights, and the cache of converted ones."""
