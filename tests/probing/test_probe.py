"""Heads on an encoder: what they learn, what stays as it was, and that nothing leaks."""

from dataclasses import replace

import pytest
import torch

from spacy_cnm.probing.encoders import load_encoder
from spacy_cnm.probing.heads import MAX_STROKES, Heads, Targets, layout_weights, loss
from spacy_cnm.probing.labels import Labels, read_benchmark
from spacy_cnm.probing.probe import DEFAULTS, PROTOCOLS, Probe, encode_all, predict, score, train
from spacy_cnm.probing.splits import iid

SHORT = {
    "frozen": replace(DEFAULTS["frozen"], epochs=15),
    "fine-tuned": replace(DEFAULTS["fine-tuned"], epochs=8, batch=32),
}


@pytest.fixture(scope="module")
def labels(benchmark_file):
    return read_benchmark(benchmark_file)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_learns_and_the_test_labels_do_not_matter(labels, cnm_folder, protocol):
    """The answers are the same whatever the labels of the test characters are."""
    split = iid(labels)
    wrong = Labels(7, frozenset("一"), 1, "1")
    answers = []
    for known in (labels, labels | dict.fromkeys(split.test, wrong)):
        model, tokenizer = load_encoder(cnm_folder)
        before = {name: value.clone() for name, value in model.state_dict().items()}
        probe = train(model, tokenizer, known, split, protocol, training=SHORT[protocol])
        same = all(torch.equal(before[name], value) for name, value in model.state_dict().items())
        assert same == (protocol == "frozen")
        answers.append(predict(probe, split.test))
    assert answers[0] == answers[1]
    found = score(answers[0], labels, split.test)
    assert found["stroke_mae"] < 1.5
    if protocol == "fine-tuned":  # what is frozen here is random
        assert found["layout_accuracy"] > 0.7
        assert found["component_f1"] > 0.2
    assert score(answers[0], labels | dict.fromkeys(split.test, Labels()), split.test) == {}


def test_labels_that_mean_nothing_are_not_learned(labels, cnm_folder):
    """Shuffled among the characters, labels cannot be told of characters that are new."""
    chars = list(labels)
    shuffled = dict(zip(chars, [labels[c] for c in chars[101:] + chars[:101]], strict=True))
    found = []
    for known in (labels, shuffled):
        model, tokenizer = load_encoder(cnm_folder)
        split = iid(known)
        probe = train(model, tokenizer, known, split, "fine-tuned", training=SHORT["fine-tuned"])
        found.append(score(predict(probe, split.test), known, split.test))
    assert found[0]["layout_accuracy"] > found[1]["layout_accuracy"] + 0.2
    assert found[0]["component_f1"] > found[1]["component_f1"] + 0.05


def test_known_vectors_are_those_of_the_encoder(labels, cnm_folder):
    model, tokenizer = load_encoder(cnm_folder)
    split, chars = iid(labels), list(labels)
    vectors = encode_all(model, tokenizer, chars)
    assert vectors.shape == (len(chars), model.config.hidden_size)
    known = dict(zip(chars, vectors, strict=True))
    answers = []
    for given in (None, known):
        probe = train(
            model, tokenizer, labels, split, "frozen", training=SHORT["frozen"], known=given
        )
        answers.append(predict(probe, split.test, given))
    assert answers[0] == answers[1]


def test_what_is_not_known_is_not_learned():
    names = ["日", "木"]
    labels = {"杲": Labels(1, frozenset(names), 8, "25111234"), "x": Labels()}
    wanted = Targets.of(list(labels), labels, names)
    assert wanted.layout.tolist() == [1, -100]
    assert wanted.has_components.tolist() == [True, False]
    assert wanted.order[0, :10].tolist() == [1, 4, 0, 0, 0, 1, 2, 3, 5, -100]
    heads = Heads(4, len(names), 8.0)
    torch.manual_seed(0)
    vectors = torch.randn(2, 4)
    both, one = (
        loss(heads(vectors), wanted),
        loss(heads(vectors[:1]), wanted.take(torch.tensor([0]))),
    )
    assert torch.allclose(both, one)
    assert loss(heads(vectors[1:]), wanted.take(torch.tensor([1]))) == 0


def test_more_strokes_than_places():
    labels = {"x": Labels(order="1" * 50)}
    assert Targets.of(["x"], labels, []).order.tolist() == [[0] * MAX_STROKES]


def test_layout_weights():
    weights = layout_weights(torch.tensor([0, 0, 0, 0, 1, -100]), 0.5)
    assert weights[1] == pytest.approx(2 * weights[0])
    assert 4 * weights[0] + weights[1] == pytest.approx(5.0)


def test_components_are_those_above_the_threshold_or_the_likeliest(cnm_folder):
    probe = Probe(*load_encoder(cnm_folder), ["日", "木", "水"], 5.0)
    shares = torch.tensor([[0.6, 0.7, 0.1], [0.1, 0.2, 0.3]])
    assert probe.choose_components(shares) == [frozenset("日木"), frozenset("水")]
