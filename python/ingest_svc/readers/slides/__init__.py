"""Presentations: every slide becomes a heading and what stands on it, in the order it is read.

`pptx` and `odp` have the order of things; every other file knows one kind of thing on a slide.
"""
