"""Cues: which characters of the vocabulary are shown as those outside it are."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from spacy_cnm.modeling.tokenizer import first_added_id
from spacy_cnm.pretraining.cues import count_ideographs, cue_shares


def test_ideographs_are_counted_in_all_files(tmp_path: Path):
    (tmp_path / "a.txt").write_text("天天，x1。\n\n气\n", "utf-8")
    with lzma.open(tmp_path / "b.txt.xz", "wt", encoding="utf-8") as file:
        file.write("天𠮷\n")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt.xz"]
    assert count_ideographs(paths) == {"天": 3, "气": 1, "𠮷": 1}
    assert count_ideographs(paths, most=8) == {"天": 3, "𠮷": 1}


def test_rare_characters_are_cued_half_of_the_time(tokenizer):
    counts = {"的": 500, "好": 300, "天": 150, "气": 49, "𠮷": 1}  # of 1,000
    shares = cue_shares(tokenizer, counts, 0.15)
    ids = {char: tokenizer.convert_tokens_to_ids(char) for char in counts}
    found = {char: shares[i] for char, i in ids.items()}
    assert found.pop("𠮷") == 0.0  # not in the base vocabulary
    assert found == pytest.approx({"的": 0.15, "好": 0.25, "天": 0.5, "气": 0.5})
    assert shares[tokenizer.convert_tokens_to_ids("藏")] == 0.5  # not in the text
    others = [i for char, i in tokenizer.get_vocab().items() if not "㐀" <= char[-1] <= "鿿"]
    assert not shares[others].any()
    assert not shares[first_added_id(tokenizer) :].any()
    # What is frequent is cued as often as what is not.
    assert 500 * found["的"] == pytest.approx(300 * found["好"]) == pytest.approx(150 * found["天"])


def test_without_a_frequency_nothing_is_cued(tokenizer):
    assert not np.any(cue_shares(tokenizer, {"天": 1}, 0.0))
