"""Short runs of the pretraining, for faults that it had."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spacy_cnm.pretraining.config import PretrainConfig, load_config

SMOKE = Path(__file__).resolve().parents[2] / "configs" / "pretrain_smoke.cfg"


@pytest.fixture
def short_run(cnm_folder: Path, tmp_path: Path) -> Callable[[dict[str, Any]], PretrainConfig]:
    """The configuration of a pretraining of six steps, with overrides."""
    text = tmp_path / "train.txt"
    text.write_text("我在北京见到了王小明。\n今天天气很好。\n" * 50, "utf-8")
    settings = {
        "paths.source": str(cnm_folder),
        "data.train": str(text),
        "data.heldout": {},
        "data.max_length": 48,
        "training.steps": 6,
    }
    return lambda overrides: load_config(SMOKE, {**settings, **overrides})
