"""The results as one HTML page: numbers as text, tables, and charts by matplotlib."""
