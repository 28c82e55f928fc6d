"""Parts of the Thresholding page."""
