"""What a program costs: seconds, processor seconds and peak memory of a process of its own.

Run as a program it is the launcher of one other: small, because a process inherits the peak of its parent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Spent:
    """``seconds`` on the clock, ``cpu`` seconds of the processor, the ``peak`` in MiB."""

    seconds: float
    cpu: float
    peak: float
    output: str


def run(argv: Sequence[str], env: Mapping[str, str], cwd: Path | str) -> Spent:
    """Run a program to its end. Raises ``RuntimeError`` unless it ends well."""
    finished = subprocess.run(
        [sys.executable, "-I", "-S", __file__, *argv],
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), **env},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise RuntimeError(f"{argv}: {finished.stderr}")
    return Spent(**json.loads(finished.stderr.splitlines()[-1]), output=finished.stdout)


def memory_of(pid: int | str) -> float:
    """The peak of a running process so far, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _launch(argv: Sequence[str]) -> int:
    begun = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    spent = {
        "seconds": time.monotonic() - begun,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss / 1024,
    }
    print(json.dumps(spent), file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(_launch(sys.argv[1:]))
