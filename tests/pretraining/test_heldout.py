"""What held-out figures mean."""

import math

import pytest
import torch

from spacy_cnm.ids import FIRST_ROW
from spacy_cnm.modeling import CNMBertForPreTraining, load_or_wrap
from spacy_cnm.pretraining.heldout import Counts, component_hits


@pytest.fixture(scope="module")
def model(cnm_folder) -> CNMBertForPreTraining:
    return load_or_wrap(cnm_folder, cls=CNMBertForPreTraining)[0]


def test_hits_of_known_predictions(model, table, monkeypatch):
    # 森 is three times 木: one component.
    characters = sorted("杲好森", key=table.__getitem__)
    rows = torch.tensor([table[char] for char in characters])
    assert (rows >= FIRST_ROW).all()
    logits = torch.zeros(3, len(table.components))
    for row, char in zip(logits, characters, strict=True):
        leaves = sorted({table.components.index(str(leaf)) for leaf in table.leaves(char)})
        if char == "好":  # one of two is found
            row[leaves[0]] = 9
            row[next(i for i in range(len(row)) if i not in leaves)] = 8
        else:  # all of the probability is theirs, in equal parts
            row[leaves] = 100
    monkeypatch.setattr(model, "component_predictions", lambda rows: logits)
    excess, right, recall = component_hits(model, rows)
    found = dict(zip(characters, zip(right.tolist(), recall.tolist(), strict=True), strict=True))
    assert found == {"杲": (True, 1.0), "森": (True, 1.0), "好": (False, 0.5)}
    floors = dict(zip(characters, excess.tolist(), strict=True))
    assert floors["杲"] == pytest.approx(0, abs=1e-5)
    assert floors["森"] == pytest.approx(0, abs=1e-5)
    assert floors["好"] > 1


def test_what_was_not_counted_is_left_out():
    assert Counts().metrics() == {"masked": 0, "outside": 0}
    found = Counts(mlm_loss=2 * math.log(4), mlm=2, mlm_right=1).metrics()
    assert found["perplexity"] == pytest.approx(4)
    assert found["masked_accuracy"] == 0.5
    assert "component_recall" not in found
