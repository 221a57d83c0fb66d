"""The training loop: masked words and components, on one process or many (paper, section 3.5)."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from accelerate.utils import gather_object

from spacy_cnm.errors import CNMError, Errors

from .batches import MicroBatch, Position, Stream
from .checkpoints import CHECKPOINTS, load_checkpoint, save_checkpoint, save_model
from .config import PretrainConfig
from .heldout import evaluate
from .inputs import check_inputs
from .optimizers import make_optimizer
from .prefetch import prefetch
from .progress import Progress
from .setup import checkpoint_to_resume, load, make_accelerator
from .signals import stop_signals

#: Folders in the output, beside the checkpoints.
BEST, LAST = "model-best", "model-last"


@dataclass
class State:
    """How far a run is; with weights and optimizer it is all that a checkpoint holds."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0  # in steps, without evaluations and checkpoints
    best_loss: float | None = None
    best_step: int | None = None
    positions: list[dict[str, int]] = field(default_factory=list)


def pretrain(config: PretrainConfig, output: Path, *, resume: bool = False) -> State:
    """Train to the end of `config.training.steps`, or until SIGINT or SIGTERM.

    output: folder for `model-best`, `model-last` (Hugging Face folders that `name = "..."` of a
        spaCy config takes), `checkpoints` and `metrics.jsonl`.
    resume: go on from the newest checkpoint there, if there is one; with the same result as without
        the break (on one CPU: the same weights bit for bit).
    RETURNS: how far the run is. `state.step < config.training.steps` after a signal; a checkpoint
        of that step is there then.
    RAISES CNMError: wrong data, a diverged loss, a checkpoint of another config, a full disk.
    """
    return _Run(config, output, resume).run()


class _Run:
    def __init__(self, config: PretrainConfig, output: Path, resume: bool) -> None:
        self.config = config
        self.output = output
        checkpoint = checkpoint_to_resume(config, output, resume)
        check_inputs(config)
        self.accelerator = make_accelerator(config)
        n, processes = config.training.micro_batches, self.accelerator.num_processes
        if n % processes:
            raise CNMError(Errors.E525.format(micro_batches=n, processes=processes))
        torch.manual_seed(config.training.seed)
        plain, self.tokenizer = load(config)
        plain.to(self.accelerator.device)
        optimizer, self.schedule = make_optimizer(plain, config.optimizer, config.training.steps)
        self.state = State()
        if checkpoint:
            saved = load_checkpoint(checkpoint, plain, optimizer)
            self.schedule.load_state_dict(saved["schedule"])
            self.state = State(**saved["run"])
        self.model, self.optimizer = self.accelerator.prepare(plain, optimizer)
        if checkpoint and self.accelerator.scaler:
            self.accelerator.scaler.load_state_dict(saved["scaler"])
        self.plain = plain
        self._positions: list[Position] = []
        self._losses = torch.zeros(2, device=self.accelerator.device)
        self._since = (self.state.step, self.state.tokens, self.state.seconds)
        self._shown = "..."

    def run(self) -> State:
        settings = self.config.logging
        self.progress = Progress(
            self.output,
            main=self.accelerator.is_main_process,
            steps=self.config.training.steps,
            start=self.state.step,
            tensorboard=settings.tensorboard,
        )
        try:
            with stop_signals() as signals, self._streams() as streams:
                stopped = False
                while self.state.step < self.config.training.steps and not stopped:
                    stopped = self._step(streams, bool(signals))
                    last = self.state.step == self.config.training.steps
                    if self.state.step % settings.evaluate_every == 0 or last:
                        self._evaluate()
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
        share = training.micro_batches // self.accelerator.num_processes
        first = share * self.accelerator.process_index
        with prefetch() as read_ahead:
            streams = []
            for index in range(first, first + share):
                stream = Stream(
                    data.train,
                    self.tokenizer,
                    index=index,
                    count=training.micro_batches,
                    seed=training.seed,
                    max_length=data.max_length,
                    max_tokens=data.max_tokens,
                    buffer=data.buffer,
                    budget=data.masked,
                )
                known = self.state.positions
                start = Position(**known[index]) if known else Position()
                streams.append(read_ahead(stream.batches(start)))
            yield streams

    def _step(self, streams: list[Iterator[MicroBatch]], stop: bool) -> bool:
        """One optimizer step. RETURNS: whether some process was asked to stop."""
        accelerator, settings = self.accelerator, self.config.optimizer
        began = time.perf_counter()
        batches = [next(stream) for stream in streams]
        self._positions = [batch.position for batch in batches]
        # The loss is the mean over the whole step, whatever process a position is on.
        counts = [self.plain.label_counts(batch.labels.to(accelerator.device)) for batch in batches]
        sums = torch.tensor(
            [
                float(sum(int(mlm) for mlm, _ in counts)),
                float(sum(int(component) for _, component in counts)),
                float(sum(batch.n_tokens for batch in batches)),
                float(stop),
            ],
            device=accelerator.device,
        )
        n_mlm, n_component, n_tokens, stops = accelerator.reduce(sums, "sum").tolist()
        for number, batch in enumerate(batches):
            # Dropout, too, depends on the stream and not on the process.
            index = accelerator.process_index * len(batches) + number
            torch.manual_seed(_seed(self.config.training.seed, self.state.step, index))
            waits = number + 1 < len(batches)
            with accelerator.no_sync(self.model) if waits else nullcontext():
                out = self.model(
                    input_ids=batch.input_ids.to(accelerator.device),
                    attention_mask=batch.attention_mask.to(accelerator.device),
                    labels=batch.labels.to(accelerator.device),
                )
                parts = torch.stack(
                    [
                        out.mlm_loss_sum.float() / max(n_mlm, 1),
                        out.component_loss_sum.float() / max(n_component, 1),
                    ]
                )
                loss = parts[0] + self.plain.config.component_loss_weight * parts[1]
                # DDP takes the mean of the gradients over processes; the sum is wanted.
                accelerator.backward(loss * accelerator.num_processes)
            self._losses += parts.detach()
        norm = float(
            accelerator.clip_grad_norm_(self.model.parameters(), settings.clip_norm or math.inf)
        )
        rate = float(self.schedule.get_last_lr()[0])
        self.optimizer.step()
        self.optimizer.zero_grad()
        # GradScaler skips a step whose gradients overflow; the schedule waits with it.
        if not self.accelerator.optimizer_step_was_skipped:
            self.schedule.step()
        self.state.step += 1
        self.state.tokens += int(n_tokens)
        self.state.seconds += time.perf_counter() - began
        self._report(rate, norm)
        return stops > 0

    def _report(self, rate: float, norm: float) -> None:
        """Show progress; write metrics, means since the last ones."""
        state, (step, tokens, seconds) = self.state, self._since
        speed = (state.tokens - tokens) / max(state.seconds - seconds, 1e-9)
        logs = state.step % self.config.logging.log_every == 0
        if logs:
            losses = self.accelerator.reduce(self._losses, "sum") / (state.step - step)
            self._losses = torch.zeros_like(losses)
            self._since = (state.step, state.tokens, state.seconds)
            mlm, component = losses.tolist()
            if not math.isfinite(mlm + component):
                raise CNMError(Errors.E526.format(step=state.step))
            values = {
                "tokens": state.tokens,
                "seconds": round(state.seconds, 3),
                "mlm_loss": mlm,
                "component_loss": component,
                "learn_rate": rate,
                "gradient_norm": norm if math.isfinite(norm) else None,
                "tokens_per_second": speed,
            }
            self.progress.write(state.step, values)
            self._shown = f"{mlm:.3f}"
        self.progress.advance(loss=self._shown, tokens_per_s=f"{speed:,.0f}")

    def _evaluate(self) -> None:
        """Score the held-out files; the model that is best on the first is kept."""
        data, results = self.config.data, {}
        for name, path in data.heldout.items():
            stream = Stream(
                [path],
                self.tokenizer,
                index=0,
                count=1,
                seed=0,
                max_length=data.max_length,
                max_tokens=data.max_tokens,
                buffer=data.buffer,
                budget=data.masked,
            )
            results[name] = evaluate(self.model, stream.batches(epochs=1), self.accelerator)
        if not results:
            return
        step, first = self.state.step, next(iter(results.values()))
        self.progress.write(step, {"tokens": self.state.tokens, "heldout": results})
        for name, metrics in results.items():
            shown = "  ".join(f"{key} {value:.4g}" for key, value in metrics.items())
            self.progress.say(f"step {step}, {name}: {shown}")
        if (loss := first.get("mlm_loss")) is None:  # every masked piece is outside the vocabulary
            return
        if not math.isfinite(loss):
            raise CNMError(Errors.E526.format(step=step))
        if self.state.best_loss is None or loss < self.state.best_loss:
            self.state.best_loss, self.state.best_step = loss, step
            if self.accelerator.is_main_process:
                save_model(self.output / BEST, self.plain, self.tokenizer)

    def _save(self) -> None:
        """Write a checkpoint, by the main process, of what all processes have read."""
        if not self._losses.isfinite().all():
            raise CNMError(Errors.E526.format(step=self.state.step))
        share = [asdict(position) for position in self._positions]
        self.state.positions = gather_object(share)
        if self.accelerator.is_main_process:
            scaler = self.accelerator.scaler
            state = {
                "step": self.state.step,
                "run": asdict(self.state),
                "schedule": self.schedule.state_dict(),
                "scaler": scaler.state_dict() if scaler else None,
                "config": self.config.identity(),
            }
            save_checkpoint(
                self.output / CHECKPOINTS,
                self.plain,
                self.tokenizer,
                self.optimizer.optimizer,
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


def _seed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
