"""What the documents of word processors have in common, whatever their format.

Readers of DOCX, ODT and RTF make pieces (`pieces`), which are judged once all of them are there
(`finish`): titles, headings by their looks, captions, programs of several lines.
"""
