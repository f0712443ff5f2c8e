"""ODT: what a person sees of the text, tracked changes taken as accepted.

`reader` has the order of things; `walk` goes over the body, `inline` over the words of a paragraph;
`styles` and `lists` know what the file says elsewhere.
"""
