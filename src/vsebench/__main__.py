"""`python -m vsebench STAGE ...`, the same as the command `vsebench`."""

from vsebench.cli import main

raise SystemExit(main())
