"""`python -m vsebench STAGE ...`, which does the same as the command `vsebench`."""

from vsebench.cli import main

raise SystemExit(main())
