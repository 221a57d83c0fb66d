"""Joint segmentation-and-tag labels: words from labels, labels from words, and the word score.

A label says for one token (usually one character) whether it begins (`B-n`) or continues (`I-n`)
a word, and the word's tag. The empty label means "nothing is known here". Pure Python: converters,
scorers and the word merger share it.
"""

from collections.abc import Iterable, Sequence

BEGIN = "B-"
INSIDE = "I-"


def words_from_labels(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Read words off a sequence of joint labels; made for gold labels and for model output alike.

    Every token ends up in exactly one word, whatever the labels are:

    * `B-x` begins a word with the tag x.
    * `I-x` continues the word before it. The tag of a word is that of its *first* label, so
      `B-n I-v` is one word with the tag n: a model that hesitates about the tag does not break
      the word in two.
    * `I-x` with no word to continue (at the start, or after an empty label) begins one.
    * The empty label is a word of its own with the tag "", and no later `I-` continues it.
    * A label with neither prefix (a plain tag) is a word of its own with that tag.

    labels: one label a token.
    RETURNS: (start, end, tag) of each word, in order; offsets count tokens, end is exclusive.
    """
    words: list[tuple[int, int, str]] = []
    open_word = False
    for i, label in enumerate(labels):
        if label.startswith(INSIDE) and open_word:
            start, _, tag = words[-1]
            words[-1] = (start, i + 1, tag)
            continue
        open_word = label.startswith((BEGIN, INSIDE))
        words.append((i, i + 1, label[len(BEGIN) :] if open_word else label))
    return words


def labels_from_word(length: int, tag: str) -> list[str]:
    """Give the joint labels of one word: `B-tag`, then `I-tag`.

    length: number of tokens of the word, at least 1.
    tag: the tag of the word.
    RETURNS: `length` labels.
    """
    return [BEGIN + tag] + [INSIDE + tag] * (length - 1)


def segmentation_prf(
    gold: Iterable[Sequence[tuple[int, int]]],
    predicted: Iterable[Sequence[tuple[int, int]]],
) -> tuple[float, float, float]:
    """Score word segmentation: a word counts when both of its borders are right.

    Micro-averaged over documents (counts are summed, then divided), as in the SIGHAN bake-offs.

    gold: for each document its words as (start, end), in characters or tokens.
    predicted: the same for the system, document by document in the same unit.
    RETURNS: precision, recall, F1 in 0..1; each is 0 where its denominator is 0.
    RAISES: ValueError when the numbers of documents differ.
    """
    n_gold = n_predicted = n_right = 0
    for gold_spans, predicted_spans in zip(gold, predicted, strict=True):
        gold_set, predicted_set = set(gold_spans), set(predicted_spans)
        n_gold += len(gold_set)
        n_predicted += len(predicted_set)
        n_right += len(gold_set & predicted_set)
    precision = n_right / n_predicted if n_predicted else 0.0
    recall = n_right / n_gold if n_gold else 0.0
    f_score = 2 * precision * recall / (precision + recall) if n_right else 0.0
    return precision, recall, f_score
