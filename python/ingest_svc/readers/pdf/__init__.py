"""PDF by geometry: `reader` has the order of things, every other file one step of it."""
