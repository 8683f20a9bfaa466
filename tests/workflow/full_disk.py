"""Fill a small disk with a run, again and again with a little more space, until the run succeeds.

    python -m tests.workflow.full_disk PROJECT FOLDER STEP

copies a finished project, without its results, to a file system in memory that is mounted at FOLDER. Each attempt has
STEP more bytes. Standard output has a JSON object per attempt. The mount needs a namespace in which it is allowed:
`unshare --user --map-root-user --mount`.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.workflow.kills import files_of, results
from tests.workflow.project import Project

MOST = 12  # attempts


def mount(folder: Path, size: int, again: bool) -> None:
    options = f"{'remount,' if again else ''}size={size}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


def main(source: Path, disk: Path, step: int) -> None:
    whole = results(source)
    mount(disk, 1 << 30, again=False)
    project = Project.copy(source, disk / "vsebench")
    for _ in range(MOST):
        mount(disk, shutil.disk_usage(disk).used + step, again=True)
        status = project.start().wait()
        shutil.rmtree(project.folder / ".snakemake" / "locks", ignore_errors=True)
        made = results(project.folder)
        attempt = {
            "status": status,
            "text": project.started,
            "made": len(made),
            "different": [name for name in made if made[name] != whole.get(name)],
            "temporary": [str(path) for path in files_of(project.folder) if ".tmp" in path.name],
        }
        print(json.dumps(attempt), flush=True)
        if status == 0:
            break
    if missing := sorted(set(whole) - set(made)):
        raise SystemExit(f"missing: {missing}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
