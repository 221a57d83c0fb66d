"""`nlp.pipe(n_process=2)` forks; a child that uses the parent's thread pools waits for ever."""

import os

import torch


def _use_one_thread() -> None:
    """Let a forked child compute on its own thread: the parent's workers are not there."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)


def install() -> None:
    """Register the hook, once a process."""
    global _installed
    if not _installed and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_use_one_thread)
        _installed = True


_installed = False
