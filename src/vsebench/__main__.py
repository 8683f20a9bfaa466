"""`python -m vsebench` does the same as the command `vsebench`."""

from vsebench.cli import main

raise SystemExit(main())
