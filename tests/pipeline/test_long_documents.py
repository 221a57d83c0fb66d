"""Case 5: entities across the borders of windows."""


def test_case_5_entities_across_every_border(trained):
    """A name at the start of every window but the first, 30 pieces long, a new one every 20."""
    name, filler = "王小明", "今天天气很好" * 4
    text = filler[:19]
    for _ in range(19):
        text += name + filler[:17]
    doc = trained(text)
    spans = trained.get_pipe("transformer").model.predict([doc]).spans[0]
    starts = [19 + 20 * i for i in range(19)]
    assert len(spans) == 20
    assert all(any(s < span.start < s + 3 for s in starts) for span in spans[1:])
    found = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    assert found == [(start, start + 3, "PER") for start in starts]
