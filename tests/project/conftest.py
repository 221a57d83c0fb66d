"""Project folders, and commands run in them as a user runs them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python(folder: Path, *arguments: str, status: int = 0, **environment: str) -> str:
    """Run Python as a user would; give what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def install(project: Path, pipeline: str, target: Path) -> None:
    """Package a trained pipeline as zh_cnm_trf and install it into a folder.

    Building in isolation would fetch build tools; the environment's own do here.
    """
    package = ("package", pipeline, "packages", "--build", "none")
    named = ("--name", "cnm_trf", "--version", "0.1.0", "--force")
    python(project, "-m", "spacy", *package, *named)
    offline = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    source = str(project / "packages/zh_cnm_trf-0.1.0")
    python(project, "-m", "pip", "install", *offline, "--target", str(target), source)
