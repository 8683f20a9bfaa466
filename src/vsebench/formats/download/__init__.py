"""Download files: fetch them, resume interrupted transfers, verify what was fetched, and read archives."""
