"""The libraries that hold frames: their modules, their streams, and their errors."""
