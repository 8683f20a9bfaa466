"""`python -m vsebench STAGE ...`"""

from vsebench.cli import main

raise SystemExit(main())
