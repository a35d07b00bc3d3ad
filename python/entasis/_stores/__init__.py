"""Objects and folders on object stores and on the web."""
