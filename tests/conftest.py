"""Where the shared corpora are, and what is skipped without them."""

import os
from pathlib import Path

import pytest

#: Read-only corpora for training and tests; never part of the project.
SHARED = Path(os.environ.get("SPACY_CNM_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared corpora; a test that asks for it is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared corpora (no folder {SHARED}; set SPACY_CNM_SHARED)")
    return SHARED
