"""Entity recognition on characters fell to F 0 again and again while it was trained.

Probably since spaCy's oracle lets an entity that was begun wrongly go on at no cost, and training
follows the model's own predictions (docs/benchmarks.md). Short sequences mended it.
"""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture(params=["ner.cfg", "joint.cfg"])
def recognizer(request):
    config = spacy.util.load_config(CONFIGS / request.param)["components"]["ner"]
    cut = config["update_with_oracle_cut_size"]
    nlp = spacy.blank("zh")
    ner = nlp.add_pipe("ner", config={"update_with_oracle_cut_size": cut})
    ner.add_label("PER")
    nlp.initialize()
    return ner


def test_training_begins_anew_before_a_wrong_entity_is_long(recognizer):
    longest = 2 * recognizer.cfg["update_with_oracle_cut_size"]
    doc = Doc(recognizer.vocab, list("今天天气很好" * 20))
    example = Example.from_dict(doc, {"entities": []})
    states, _, length = recognizer._init_gold_batch([example], max_length=longest)
    assert length <= longest <= 10
    assert len(states) >= len(doc) // longest
