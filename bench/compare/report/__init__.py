"""Parts of the report: numbers as text, bars, lines and tables, as HTML and SVG."""
