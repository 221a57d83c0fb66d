"""Structure vectors kept between evaluation batches, never longer than they are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

if TYPE_CHECKING:
    from .structure_encoder import StructureEncoder

#: Width of the matrix whose rows and columns a checksum adds up.
_COLUMNS = 64
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class _Entry(NamedTuple):
    """Vectors that are right for one state of the encoder."""

    state: tuple[object, ...]
    vectors: Tensor  # (rows, d_s)
    filled: Tensor  # (rows,) bool: which vectors are there


class StructureCache:
    """One vector a table row, filled when the row is first asked for.

    The weights and the table are compared at every look-up, by version counter and by a checksum
    of their content. So the cache drops itself after any change: an optimizer's step (also
    thinc's, which autograd does not see), `load_state_dict`, an edit in place, another dtype or
    device. Copies and pickles start empty.
    """

    def __init__(self) -> None:
        self._entry: _Entry | None = None

    def __getstate__(self) -> dict[str, None]:
        return {"_entry": None}

    def __len__(self) -> int:
        """Number of vectors held."""
        return int(self._entry.filled.sum()) if self._entry else 0

    def lookup(self, encoder: StructureEncoder, rows: Tensor) -> Tensor:
        """Vectors of table rows, the new ones computed by `encoder.encode`.

        rows: (...) integer.
        RETURNS: (..., d_s) float, equal to a fresh computation.
        """
        state = _state(encoder)
        entry = self._entry
        if entry is None or entry.state != state:
            entry = self._entry = _new_entry(encoder, state)
        rows = rows.long()
        new = torch.unique(rows[~entry.filled[rows]])
        if len(new):
            entry.vectors[new] = encoder.encode(new).to(entry.vectors.dtype)
            entry.filled[new] = True
        return F.embedding(rows, entry.vectors)


def _new_entry(encoder: StructureEncoder, state: tuple[object, ...]) -> _Entry:
    weight = encoder.special_embeddings.weight
    n_special, size = weight.shape
    n_rows = n_special + len(encoder.roots)
    # Made outside of inference mode, so that later batches may fill it under `no_grad` too.
    with torch.inference_mode(False):
        vectors = torch.zeros(n_rows, size, dtype=weight.dtype, device=weight.device)
        filled = torch.zeros(n_rows, dtype=torch.bool, device=weight.device)
    return _Entry(state, vectors, filled)


def _state(encoder: StructureEncoder) -> tuple[object, ...]:
    """A value that differs whenever a weight, the table or the precision differs."""
    tensors = [*encoder.parameters(), *encoder.buffers()]
    device = tensors[0].device
    checksums = torch.stack([_checksum(tensor) for tensor in tensors]).tolist()
    identities = [(t.dtype, t.device, t.data_ptr(), _version(t)) for t in tensors]
    autocast = torch.is_autocast_enabled(device.type) and torch.get_autocast_dtype(device.type)
    return (autocast, *identities, *checksums)


def _version(tensor: Tensor) -> int:
    return -1 if tensor.is_inference() else tensor._version


def _checksum(tensor: Tensor) -> Tensor:
    """A sum of the raw bits as integers that depends on their places: () int64.

    The sums of the rows and columns of a matrix cost little more than the sum of all. Weighted by
    their places they change when values change places.
    """
    flat = tensor.detach().reshape(-1)
    wide = flat.numel() * flat.element_size() % 8 == 0
    flat = flat.view(torch.int64 if wide else _INTEGERS[flat.element_size()])
    if len(flat) > _COLUMNS**2:
        body = flat[: len(flat) // _COLUMNS * _COLUMNS].view(-1, _COLUMNS)
        flat = torch.cat([body.sum(0), body.sum(1), flat[body.numel() :].long()])
    return (flat * torch.arange(1, 2 * len(flat), 2, device=flat.device)).sum()
