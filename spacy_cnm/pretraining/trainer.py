"""The training loop: masked words and components, on one process or many (paper, section 3.5)."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import torch
from accelerate.utils import gather_object
from torch import Tensor

from spacy_cnm.errors import CNMError, Errors

from .batches import MicroBatch, Position
from .checkpoints import CHECKPOINTS, save_checkpoint, save_model
from .config import PretrainConfig
from .cues import count_ideographs, cue_shares
from .heldout import evaluate
from .inputs import check_inputs
from .outputs import BEST, LAST, only_writer
from .prefetch import prefetch
from .progress import Progress
from .setup import checkpoint_to_resume, make_stream, make_trainee
from .step import StepResult, train_step


@dataclass
class State:
    """How far a run is; with weights and optimizer it is all that a checkpoint holds."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0  # in steps, without evaluations and checkpoints
    best_loss: float | None = None
    best_step: int | None = None
    positions: list[dict[str, int]] = field(default_factory=list)
    window: "Window | None" = None


@dataclass
class Window:
    """What the next line of metrics is over: the steps since the last one."""

    step: int
    tokens: int
    seconds: float
    losses: list[float] = field(default_factory=lambda: [0.0, 0.0])  # sums: words, components


def pretrain(
    config: PretrainConfig, output: Path, *, resume: bool = False, stop: Sequence[object] = ()
) -> State:
    """Train to the end of `config.training.steps`, or until asked to stop.

    output: folder for `model-best`, `model-last` (Hugging Face folders that `name = "..."` of a
        spaCy config takes), `checkpoints` and `metrics.jsonl`.
    resume: go on from the newest checkpoint there, if there is one; with the same result as without
        the break (on one CPU: the same weights bit for bit).
    stop: something in it, put there at any time, lets the run end after the step that it is in,
        with a checkpoint; see `signals.stop_signals`.
    RETURNS: how far the run is: `state.step < config.training.steps` if it was stopped.
    RAISES CNMError: wrong data, a diverged loss, a checkpoint of another config, a full disk.
    """
    return _Run(config, output, resume).run(stop)


def _state(saved: dict[str, Any]) -> State:
    """What a checkpoint holds; older ones have no window."""
    window = saved.get("window")
    return State(**{**saved, "window": Window(**window) if window else None})


class _Run:
    def __init__(self, config: PretrainConfig, output: Path, resume: bool) -> None:
        self.config = config
        self.output = output
        check_inputs(config)
        checkpoint = checkpoint_to_resume(config, output, resume)
        self._identity = config.identity()
        self.trainee, self.tokenizer, saved = make_trainee(config, checkpoint)
        self.accelerator, self.plain = self.trainee.accelerator, self.trainee.plain
        self._has_component_loss = bool(self.plain.config.component_loss_weight)
        self.state = _state(saved["run"]) if saved else State()
        self._positions: list[Position] = []
        self._window = self.state.window or self._new_window()
        self._losses = torch.zeros(2, device=self.accelerator.device)
        if self.accelerator.is_main_process:  # the sums of all
            self._losses += torch.tensor(self._window.losses, device=self._losses.device)
        self._shown = "..."

    def run(self, stop: Sequence[object]) -> State:
        with only_writer(self.output) if self.accelerator.is_main_process else nullcontext():
            return self._run(stop)

    def _run(self, stop: Sequence[object]) -> State:
        settings = self.config.logging
        self.progress = Progress(
            self.output,
            main=self.accelerator.is_main_process,
            steps=self.config.training.steps,
            start=self.state.step,
            tensorboard=settings.tensorboard,
        )
        try:
            with self._streams() as streams:
                stopped = False
                while self.state.step < self.config.training.steps and not stopped:
                    stopped = self._step(streams, bool(stop))
                    last = self.state.step == self.config.training.steps
                    if self.state.step % settings.evaluate_every == 0 or last:
                        self._evaluate_or_save()
                    if self.state.step % settings.checkpoint_every == 0 or last or stopped:
                        self._save()
            if self.state.step == self.config.training.steps:
                self._finish()
        finally:
            self.progress.close()
        return self.state

    @contextmanager
    def _streams(self) -> Iterator[list[Iterator[MicroBatch]]]:
        """This process's streams, each read ahead by a thread, from where the run is."""
        data, training = self.config.data, self.config.training
        cued = None
        if data.cued:
            cued = cue_shares(self.tokenizer, count_ideographs(data.train), data.cued)
        share = training.micro_batches // self.accelerator.num_processes
        first = share * self.accelerator.process_index
        with prefetch() as read_ahead:
            streams = []
            for index in range(first, first + share):
                stream = make_stream(
                    data,
                    data.train,
                    self.tokenizer,
                    index=index,
                    count=training.micro_batches,
                    seed=training.seed,
                    cued=cued,
                )
                known = self.state.positions
                start = Position(**known[index]) if known else Position()
                streams.append(read_ahead(stream.batches(start)))
            yield streams

    def _step(self, streams: list[Iterator[MicroBatch]], stop: bool) -> bool:
        """One optimizer step. RETURNS: whether some process was asked to stop."""
        began = time.perf_counter()
        batches = [next(stream) for stream in streams]
        self._positions = [batch.position for batch in batches]
        result = train_step(
            self.trainee,
            batches,
            clip_norm=self.config.optimizer.clip_norm,
            seed=(self.config.training.seed, self.state.step),
            stop=stop,
        )
        self._losses += result.losses
        self.state.step += 1
        self.state.tokens += result.n_tokens
        self.state.seconds += time.perf_counter() - began
        self._report(result)
        return result.stop

    def _report(self, result: StepResult) -> None:
        """Show progress; write metrics, means since the last ones."""
        state, window = self.state, self._window
        speed = (state.tokens - window.tokens) / max(state.seconds - window.seconds, 1e-9)
        logs = state.step % self.config.logging.log_every == 0
        if logs:
            losses = self._reduced_losses() / (state.step - window.step)
            self._losses = torch.zeros_like(losses)
            self._window = self._new_window()
            mlm, component = losses.tolist()
            if not math.isfinite(mlm + component):
                raise CNMError(Errors.E526.format(what="loss", step=state.step))
            norm = result.gradient_norm
            values = {
                "tokens": state.tokens,
                "seconds": round(state.seconds, 3),
                "mlm_loss": mlm,
                **({"component_loss": component} if self._has_component_loss else {}),
                "learn_rate": result.learn_rate,
                "gradient_norm": norm if math.isfinite(norm) else None,
                "tokens_per_second": speed,
                "processes": self.accelerator.num_processes,
            }
            self.progress.write(state.step, values)
            self._shown = f"{mlm:.3f}"
        self.progress.advance(loss=self._shown, tokens_per_s=f"{speed:,.0f}")

    def _new_window(self) -> Window:
        return Window(self.state.step, self.state.tokens, self.state.seconds)

    def _reduced_losses(self) -> Tensor:
        """Sums over the window and all processes."""
        return cast(Tensor, self.accelerator.reduce(self._losses, "sum"))

    def _evaluate_or_save(self) -> None:
        """Evaluate; if that fails, no step may be lost."""
        try:
            self._evaluate()
        except (CNMError, OSError):
            self._save()
            raise

    def _evaluate(self) -> None:
        """Score the held-out files; the model that is best on the first is kept."""
        data, results = self.config.data, {}
        for name, path in data.heldout.items():
            stream = make_stream(data, [path], self.tokenizer)
            results[name] = evaluate(self.trainee.model, stream.batches(epochs=1), self.accelerator)
        if not results:
            return
        step, first = self.state.step, next(iter(results.values()))
        if not all(math.isfinite(x) for metrics in results.values() for x in metrics.values()):
            raise CNMError(Errors.E526.format(what="held-out loss", step=step))
        self.progress.write(step, {"tokens": self.state.tokens, "heldout": results})
        for name, metrics in results.items():
            shown = "  ".join(f"{key} {value:.4g}" for key, value in metrics.items())
            self.progress.say(f"step {step}, {name}: {shown}")
        if (loss := first.get("mlm_loss")) is None:  # every masked piece is outside the vocabulary
            return
        if self.state.best_loss is None or loss < self.state.best_loss:
            self.state.best_loss, self.state.best_step = loss, step
            self._check_finite()
            if self.accelerator.is_main_process:
                save_model(self.output / BEST, self.plain, self.tokenizer)

    def _check_finite(self) -> None:
        """Losses tell of a step's weights only after it, so look at what is to be saved."""
        if not self._losses.isfinite().all():
            raise CNMError(Errors.E526.format(what="loss", step=self.state.step))
        for name, weight in self.plain.named_parameters():
            if not weight.isfinite().all():
                raise CNMError(Errors.E526.format(what=f"weight {name}", step=self.state.step))

    def _save(self) -> None:
        """Write a checkpoint, by the main process, of what all processes have read."""
        self._check_finite()
        share = [asdict(position) for position in self._positions]
        self.state.positions = gather_object(share)
        self.state.window = replace(self._window, losses=self._reduced_losses().tolist())
        if self.accelerator.is_main_process:
            scaler = self.accelerator.scaler
            state = {
                "step": self.state.step,
                "run": asdict(self.state),
                "schedule": self.trainee.schedule.state_dict(),
                "scaler": scaler.state_dict() if scaler else None,
                "config": self._identity,
            }
            save_checkpoint(
                self.output / CHECKPOINTS,
                self.plain,
                self.tokenizer,
                self.trainee.optimizer.optimizer,
                state,
                keep=self.config.logging.keep_checkpoints,
            )
        self.accelerator.wait_for_everyone()

    def _finish(self) -> None:
        if self.accelerator.is_main_process:
            save_model(self.output / LAST, self.plain, self.tokenizer)
            if self.state.best_step is None:
                save_model(self.output / BEST, self.plain, self.tokenizer)
        self.accelerator.wait_for_everyone()
