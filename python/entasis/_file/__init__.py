"""Open files of one frame, and views of them."""
