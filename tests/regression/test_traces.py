"""`torch.jit.trace` kept the trees of the example's characters, or failed inside of torch."""

import pytest
import torch

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import load_or_wrap


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("gradients", [False, True])
def test_they_are_refused(cnm_folder, gradients):
    model, tokenizer = load_or_wrap(cnm_folder)
    ids = tokenizer("我在北京䶮", return_tensors="pt")["input_ids"]
    with torch.set_grad_enabled(gradients), pytest.raises(CNMError, match="traced"):
        torch.jit.trace(model, (ids,), strict=False)
