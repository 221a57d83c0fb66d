"""The level-by-level Tree-MLP against a naive recursion, and its cache."""

import copy
import pickle
import random

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from spacy_cnm.ids import FIRST_ROW, NULL_ROW, OPERATORS, UNKNOWN_ROW, StructureTable
from spacy_cnm.modeling import CNMBertConfig
from spacy_cnm.modeling.structure_encoder import StructureEncoder


def make_encoder(table: StructureTable, size: int = 24) -> StructureEncoder:
    config = CNMBertConfig(
        structure_size=size,
        structure_rows=table.n_rows,
        structure_components=len(table.components),
        structure_groups=[list(group) for group in table.groups],
    )
    torch.manual_seed(0)
    encoder = StructureEncoder(config)
    encoder.set_table(table)
    return encoder.double()


@pytest.fixture
def encoder(table) -> StructureEncoder:
    return make_encoder(table).eval()


def naive(encoder: StructureEncoder, table: StructureTable, node) -> Tensor:
    """Equations 1 to 4 as the paper writes them, one node at a time."""
    if not hasattr(node, "children"):
        component = table.components.index(str(node))
        return encoder.leaf_norm(encoder.component_embeddings.weight[component])
    children = [naive(encoder, table, child) for child in node.children]
    operator = encoder.operator_embeddings.weight[1 + OPERATORS.index(node.operator)]
    linear = {2: encoder.binary, 3: encoder.ternary}[len(children)]
    hidden = F.gelu(linear(torch.cat([operator, *children])))
    return encoder.node_norm(hidden + torch.stack(children).mean(0))


def test_equals_naive_recursion_in_values_and_gradients(encoder, table):
    chars = random.Random(0).sample(table.characters, 1994) + list("辯杲杳在我七")
    rows = torch.tensor([table[char] for char in chars])
    encoder.train()
    got = encoder(rows)
    expected = torch.stack([naive(encoder, table, table.tree(char)) for char in chars])
    assert (got - expected).abs().max() < 1e-10

    weights = torch.randn_like(got)
    gradients = torch.autograd.grad((got * weights).sum(), encoder.parameters(), allow_unused=True)
    wanted = torch.autograd.grad(
        (expected * weights).sum(), encoder.parameters(), allow_unused=True
    )
    for (name, _), one, other in zip(encoder.named_parameters(), gradients, wanted, strict=True):
        if name == "special_embeddings.weight":
            assert one is None or not one.any()
            continue
        assert (one - other).abs().max() < 1e-10, name


def test_layout_and_order_are_told_apart(encoder, table):
    with torch.no_grad():
        over, under = encoder(torch.tensor([table["杲"], table["杳"]]))
    assert (over - under).abs().max() > 0.1


def test_null_and_unknown_have_their_own_vectors(encoder):
    rows = torch.tensor([[NULL_ROW, UNKNOWN_ROW]])
    with torch.no_grad():
        assert torch.equal(encoder(rows)[0], encoder.special_embeddings.weight)


def test_shapes_and_empty_input(encoder):
    assert encoder(torch.zeros(2, 3, dtype=torch.long)).shape == (2, 3, 24)
    assert encoder(torch.zeros(0, 5, dtype=torch.long)).shape == (0, 5, 24)


def test_cached_equals_fresh_bit_for_bit(encoder, table):
    rows = torch.tensor([table[char] for char in "辯杲杳鱻龘"] + [NULL_ROW, UNKNOWN_ROW])
    fresh = encoder.encode(rows.unique())[torch.unique(rows, return_inverse=True)[1]]
    with torch.no_grad():
        first, second = encoder(rows), encoder(rows)
    assert torch.equal(first, fresh)
    assert torch.equal(second, fresh)
    assert len(encoder.cache) == 7


def _step(encoder):
    encoder.zero_grad()
    encoder(torch.arange(50)).pow(2).sum().backward()
    torch.optim.SGD(encoder.parameters(), lr=0.1).step()


def _load(encoder):
    state = {key: tensor.clone() for key, tensor in encoder.state_dict().items()}
    state["binary.weight"] += 0.1
    encoder.load_state_dict(state)


def _assign(encoder):
    state = {key: tensor.clone() for key, tensor in encoder.state_dict().items()}
    state["binary.weight"] += 0.1
    encoder.load_state_dict(state, assign=True)


def _in_place(encoder):
    with torch.no_grad():
        encoder.binary.weight[0, 0] += 0.5


def _hidden_from_autograd(encoder):
    encoder.binary.weight.data.numpy()[0, 0] += 0.5


def _replaced_data(encoder):
    encoder.binary.weight.data = encoder.binary.weight.data + 0.1


def _other_table(encoder):
    encoder.roots[40:60] = encoder.roots[40:60].flip(0)


@pytest.mark.parametrize(
    "change",
    [_step, _load, _assign, _in_place, _hidden_from_autograd, _replaced_data, _other_table],
)
def test_cache_drops_itself_after_a_change(encoder, change):
    rows = torch.arange(2, 100)
    with torch.no_grad():
        before = encoder(rows)
    change(encoder)
    with torch.no_grad():
        after = encoder(rows)
    assert torch.equal(after, encoder.encode(rows))
    assert not torch.equal(after, before)


def test_cache_follows_dtype(encoder):
    rows = torch.arange(2, 100)
    with torch.no_grad():
        double = encoder(rows)
        single = encoder.float()(rows)
        assert single.dtype == torch.float32
        assert torch.equal(single, encoder.encode(rows))
        assert (double - single).abs().max() < 1e-4


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cache_follows_device(encoder):
    rows = torch.arange(2, 100)
    with torch.no_grad():
        encoder(rows)
        moved = encoder.cuda()(rows.cuda())
    assert moved.is_cuda


def test_cache_follows_device_to_meta_and_back(encoder):
    rows = torch.arange(2, 100)
    with torch.no_grad():
        before = encoder(rows)
        state = encoder.state_dict()
        encoder.to_empty(device="cpu")
        encoder.load_state_dict(state)
        assert torch.equal(encoder(rows), before)


def test_cache_works_across_inference_mode_and_autocast(encoder):
    encoder = encoder.float()
    rows = torch.arange(2, 100)
    with torch.inference_mode():
        first = encoder(rows[:50])
    with torch.no_grad():
        full = encoder(rows)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = encoder(rows)
        again = encoder(rows)
    assert torch.equal(first, full[:50])
    assert torch.equal(again, full)
    assert not torch.equal(low.float(), full)


def test_gradients_flow_in_evaluation_mode(encoder):
    encoder(torch.arange(2, 100)).sum().backward()
    assert encoder.component_embeddings.weight.grad.abs().sum() > 0


def test_copies_and_pickles_start_with_an_empty_cache(encoder):
    with torch.no_grad():
        encoder(torch.arange(FIRST_ROW, 20))
    assert len(encoder.cache) == 18
    assert len(copy.deepcopy(encoder).cache) == 0
    assert len(pickle.loads(pickle.dumps(encoder)).cache) == 0


def test_bf16_autocast_trains_on_cpu(table):
    encoder = make_encoder(table).float().train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = encoder(torch.arange(500)).pow(2).sum()
    loss.backward()
    assert encoder.binary.weight.grad.isfinite().all()
