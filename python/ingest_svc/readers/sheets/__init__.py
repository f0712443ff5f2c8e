"""Workbooks: every sheet becomes a heading and the tables and lines of text that stand on it.

`xlsx`, `xlsb`, `xls` and `ods` make the cells of one sheet after the other, each as text and only
those with text, so that what a sheet costs depends on what is in it and never on how far apart it
stands. `layout` finds the tables among them.
"""
