"""Downloads: fetch, resume, verify, and read archives."""
