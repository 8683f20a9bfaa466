"""A real Slurm with one node on this machine: the programs munged, slurmctld and slurmd, with files in a folder.

It needs root, since the steps of a job look for Slurm's configuration in /etc/slurm only.
"""

import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil

CONFIGURATION = Path("/etc/slurm/slurm.conf")
MUNGE = Path("/run/munge")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
OURS = "# Written by the tests of vsebench"
OPTIONS = {
    "ClusterName": "vsebench",
    "SlurmUser": "root",
    "AuthType": "auth/munge",
    "CredType": "cred/munge",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "JobAcctGatherType": "jobacct_gather/none",
    "AccountingStorageType": "accounting_storage/none",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core_Memory",
    "ReturnToService": "2",
    "MpiDefault": "none",
    "MinJobAge": "86400",  # without a database of accounts, squeue must list jobs that have ended
    "SlurmdTimeout": "10",
    "SlurmctldParameters": "enable_configless",
    "InactiveLimit": "0",
    "SchedulerParameters": "sched_interval=2,sched_min_interval=0",
}


def missing() -> str:
    """Return one line that names what this machine lacks to run Slurm; empty if nothing is missing."""
    if os.geteuid() != 0:
        return "Slurm is started as root, since its configuration has to lie in /etc/slurm"
    absent = [name for name in PROGRAMS if shutil.which(name, path=searched()) is None]
    if absent:
        return f"{', '.join(absent)} not found; on Debian: apt-get install slurm-wlm munge"
    if any(process.name() == "slurmctld" for process in psutil.process_iter()):
        return "a Slurm runs on this machine already"
    if CONFIGURATION.exists() and not CONFIGURATION.read_text(encoding="utf-8").startswith(OURS):
        return f"{CONFIGURATION} belongs to a Slurm of this machine, which the tests leave alone"
    return ""


def searched() -> str:
    return os.environ["PATH"] + ":/usr/sbin:/sbin"


class Slurm:
    """The three programs, with their files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.running = folder, {}
        self.node = socket.gethostname().split(".")[0]

    def __enter__(self) -> "Slurm":
        cores, memory = os.cpu_count() or 1, psutil.virtual_memory().total // 2**20 - 1000
        own = {
            "SlurmctldHost": self.node,
            "StateSaveLocation": self.folder / "state",
            "SlurmdSpoolDir": self.folder / "spool",
            "SlurmctldPidFile": self.folder / "slurmctld.pid",
            "SlurmdPidFile": self.folder / "slurmd.pid",
            "SlurmctldLogFile": self.folder / "slurmctld.log",
            "SlurmdLogFile": self.folder / "slurmd.log",
        }
        lines = [OURS, *(f"{key}={value}" for key, value in {**OPTIONS, **own}.items())]
        lines += [f"NodeName={self.node} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN"]
        lines += [f"PartitionName=all Nodes={self.node} Default=YES MaxTime=INFINITE State=UP"]
        CONFIGURATION.parent.mkdir(exist_ok=True)
        CONFIGURATION.write_text("\n".join(lines) + "\n", encoding="utf-8")
        munge = pwd.getpwnam("munge")
        MUNGE.mkdir(exist_ok=True)
        os.chown(MUNGE, munge.pw_uid, munge.pw_gid)
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        try:
            self.start("munged", "--foreground", user="munge")
            self.start("slurmctld", "-D")
            self.start_node()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, name: str, *options: str, **more: Any) -> None:
        """Start a program in the foreground, so that it ends with the tests."""
        log = (self.folder / f"{name}.out").open("ab")
        program = shutil.which(name, path=searched())
        assert program is not None
        self.running[name] = subprocess.Popen([program, *options], stdout=log, stderr=log, **more)

    def start_node(self) -> None:
        """Start the node and wait until it takes jobs."""
        self.start("slurmd", "-D", "-N", self.node)
        for _ in range(60):
            states = self.said("sinfo", "--noheader", "--format", "%t")
            if states.strip() in {"idle", "mix", "alloc"}:
                return
            time.sleep(0.5)
        raise RuntimeError(f"the node does not come up: {states!r}; the logs are in {self.folder}")

    def stop(self, name: str, *, kill: bool = False) -> None:
        """End a program, by SIGKILL if `kill`."""
        process = self.running.pop(name)
        (process.kill if kill else process.terminate)()
        process.wait()

    def said(self, *command: str) -> str:
        """Return what one of Slurm's commands prints."""
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def jobs(self) -> list[str]:
        """Return the ids of the jobs that run."""
        return self.said("squeue", "--noheader", "--states", "R", "--format", "%i").split()

    def __exit__(self, *_: object) -> None:
        self.said("scancel", "--user", "root")
        for name in ("slurmd", "slurmctld", "munged"):
            if name in self.running:
                self.stop(name)
        CONFIGURATION.unlink()
