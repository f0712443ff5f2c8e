"""Embedding models: what they are, where their weights come from, and their conversion into the model cache."""
