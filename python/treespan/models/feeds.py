"""Token ids to the arrays that a graph takes, and its token states back to one vector a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


def mask_of(ids: Sequence[NDArray[np.uint32]]) -> Mask:
    """Return [batch, seq]: where a text has a token."""
    lengths = np.array([len(row) for row in ids])
    mask: Mask = np.arange(lengths.max()) < lengths[:, None]
    return mask


def padded_inputs(ids: Sequence[NDArray[np.uint32]], mask: Mask, pad_id: int) -> dict[str, Any]:
    """Return the inputs of the padded form, int64 [batch, seq]."""
    padded = np.full(mask.shape, pad_id, np.int64)
    padded[mask] = np.concatenate(ids)
    return {
        "input_ids": padded,
        "attention_mask": mask.astype(np.int64),
        "token_type_ids": np.zeros(mask.shape, np.int64),
        "position_ids": np.broadcast_to(np.arange(mask.shape[1]), mask.shape),
    }


def packed_inputs(ids: Sequence[NDArray[np.uint32]], mask: Mask) -> dict[str, Any]:
    """Return the inputs of the packed form, as `treespan.models.encoder` describes them."""
    column = np.arange(mask.shape[1])
    lengths = mask.sum(1)
    starts = np.cumsum(lengths) - lengths
    return {
        "input_ids": np.concatenate(ids).astype(np.int64)[None],
        "position_ids": np.broadcast_to(column, mask.shape)[mask][None],
        "pad_index": np.where(mask, starts[:, None] + column, 0),
        "unpad_index": np.flatnonzero(mask),
        "attention_mask": mask.astype(np.int64),
    }


def pool(
    states: NDArray[np.float32], mask: Mask, pooling: Literal["mean", "cls", "in_graph"]
) -> NDArray[np.float32]:
    """Return [batch, dimension] from token states [batch, seq, dimension], or what is pooled."""
    if pooling == "in_graph":
        return states
    if pooling == "cls":
        return states[:, 0]
    weights = mask.astype(np.float32)
    total: NDArray[np.float32] = np.einsum("bsd,bs->bd", states, weights)
    mean: NDArray[np.float32] = total / weights.sum(1, keepdims=True)
    return mean


def scale(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors scaled to length 1."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return scaled
