"""Which weights an optimizer treats in which way."""

from torch import nn

from spacy_cnm.pretraining.config import OptimizerSection
from spacy_cnm.pretraining.optimizers import parameter_groups


def test_which_weights_get_muon():
    settings = OptimizerSection(name="muon", learn_rate=0.01, structure_learn_rate=0.02)
    model = nn.ModuleDict(
        {
            "bert": nn.ModuleDict(
                {
                    "embeddings": nn.Embedding(5, 4),
                    "structure": nn.Linear(4, 4),
                    "encoder": nn.Linear(4, 4),
                }
            ),
            "head": nn.Linear(4, 5),
        }
    )
    groups = {
        (group["use_muon"], group["lr"], group["weight_decay"]): [tuple(p.shape) for p in params]
        for group in parameter_groups(model, settings)
        if (params := group["params"])
    }
    assert groups == {
        (True, 0.01, 0.01): [(4, 4)],
        (False, 0.01, 0.01): [(5, 4), (5, 4)],
        (False, 0.01, 0.0): [(4,), (5,)],
        (False, 0.02, 0.01): [(4, 4)],
        (False, 0.02, 0.0): [(4,)],
    }
    plain = parameter_groups(model, OptimizerSection(name="adamw"))
    assert not any("use_muon" in group for group in plain)
