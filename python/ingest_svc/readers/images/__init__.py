"""Picture files: PNG, JPEG, GIF, TIFF and BMP."""
