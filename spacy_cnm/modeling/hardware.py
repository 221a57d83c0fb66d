"""What the machine can do."""

import torch


def cpu_has_bfloat16() -> bool:
    """Whether the CPU computes in bfloat16; without it PyTorch is slower in it than in float32."""
    if not torch.backends.mkldnn.is_available():
        return False
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
