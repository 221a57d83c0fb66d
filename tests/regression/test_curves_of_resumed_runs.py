"""After a break, the first losses were means over the steps since the break only."""

import json
from pathlib import Path

from spacy_cnm.pretraining.trainer import pretrain


def _lines(output: Path) -> list[dict]:
    lines = (output / "metrics.jsonl").read_text("utf-8").splitlines()
    times = {"seconds", "tokens_per_second"}
    return [{k: v for k, v in json.loads(line).items() if k not in times} for line in lines]


def test_a_break_at_every_step_changes_no_line(short_run, tmp_path):
    config = short_run({"logging.log_every": 3})
    pretrain(config, tmp_path / "whole")
    assert [line["step"] for line in _lines(tmp_path / "whole")] == [3, 6]
    for step in range(1, 7):
        asked_to_stop = [True] if step < 6 else []
        state = pretrain(config, tmp_path / "broken", resume=True, stop=asked_to_stop)
        assert state.step == step
    assert _lines(tmp_path / "broken") == _lines(tmp_path / "whole")
