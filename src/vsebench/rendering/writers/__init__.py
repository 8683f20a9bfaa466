"""Write tables as CSV, Markdown and LaTeX."""
