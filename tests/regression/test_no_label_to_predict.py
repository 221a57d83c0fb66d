"""The masked-LM loss was not a number when no label was in the base vocabulary."""

import torch

from spacy_cnm.modeling import CNMBertForMaskedLM, wrap_bert


def test_loss_is_zero(bert_folder):
    model, tokenizer = wrap_bert(CNMBertForMaskedLM, bert_folder, structure_size=8)
    batch = tokenizer(["䶮", "𰀀"], return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[:, [0, 2]] = -100
    loss = model(**batch, labels=labels).loss
    assert loss.item() == 0
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    assert gradients
    assert all(bool((grad == 0).all()) for grad in gradients)
    in_tuple = model(**batch, labels=labels, return_dict=False)
    assert in_tuple[0].item() == 0
    labels[0, 1] = tokenizer.convert_tokens_to_ids("今")
    expected = -model(**batch).logits[0, 1].log_softmax(-1)[labels[0, 1]]
    assert torch.allclose(model(**batch, labels=labels).loss, expected)
