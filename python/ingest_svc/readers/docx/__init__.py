"""DOCX, DOCM and their templates: what a person sees of the text, changes taken as accepted.

`reader` has the order of things; `walk` goes over the body, `inline` over the words of a paragraph;
`styles` and `numbering` know what the file says elsewhere.
"""
