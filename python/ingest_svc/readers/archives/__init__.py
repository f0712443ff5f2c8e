"""Archives and compressed files, every limit counted on what really comes out."""
