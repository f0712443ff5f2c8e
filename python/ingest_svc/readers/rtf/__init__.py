"""RTF: control words and bytes become paragraphs, lists, tables and notes.

`tokens` cuts the bytes, `words` knows what control words mean, `flow` collects what they write, and
`reader` goes over the groups, without recursion.
"""
