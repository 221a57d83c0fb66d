"""What a run has saved survives a disk that is full when it saves again."""

from pathlib import Path

import pytest
from safetensors import SafetensorError

from spacy_cnm.errors import CNMError
from spacy_cnm.pretraining import checkpoints
from spacy_cnm.pretraining.trainer import pretrain


def test_the_checkpoint_before_is_whole(short_run, tmp_path, monkeypatch):
    config = short_run({"logging.checkpoint_every": 2})
    output = tmp_path / "output"
    write = checkpoints.save_file

    def full(tensors, path):
        if "step-00000004" in str(path):
            Path(path).write_bytes(b"half")
            raise SafetensorError("I/O error: No space left on device (os error 28)")
        write(tensors, path)

    with monkeypatch.context() as disk:
        disk.setattr(checkpoints, "save_file", full)
        with pytest.raises(CNMError) as error:
            pretrain(config, output)
    assert "step-00000004: cannot be written (" in str(error.value)
    assert "No space left on device" in str(error.value)
    assert [path.name for path in (output / "checkpoints").iterdir()] == ["step-00000002"]
    state = pretrain(config, output, resume=True)
    assert state.step == 6
