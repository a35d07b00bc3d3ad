"""What the report is drawn with: numbers as text, bars, lines, tables, as HTML and SVG."""
