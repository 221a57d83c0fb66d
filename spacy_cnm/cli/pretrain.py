"""`spacy-cnm pretrain`: train an encoder on plain text, alone or under `accelerate launch`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import check_outputs


def pretrain(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG.cfg", help="See configs/pretrain_*.")],
    output: Annotated[Path, typer.Option(help="Folder for model-best, checkpoints and metrics.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest checkpoint in OUTPUT, if any.")
    ] = False,
) -> None:
    """Pretrain a CNM-BERT: masked words and components, from the text files of a config.

    Any key of the config can be given: --training.steps 1000 --model.use_structure false
    """
    from spacy_cnm.pretraining.config import load_config

    settings = load_config(config, _overrides(context.args))
    inputs: list[str | Path] = [
        *settings.data.train,
        *settings.data.heldout.values(),
        settings.model.source,
        config,
    ]
    check_outputs(inputs, folder=output)
    typer.echo(f"Loading {settings.model.source} ...", err=True)
    from spacy_cnm.pretraining.signals import stop_signals

    with stop_signals() as received:  # from here on, since importing torch takes seconds
        try:
            from spacy_cnm.pretraining.outputs import BEST
            from spacy_cnm.pretraining.trainer import pretrain
        except ModuleNotFoundError as error:
            raise CNMError(Errors.E522.format(package=error.name)) from error

        state = pretrain(settings, output, resume=resume, stop=received)
    if state.step < settings.training.steps:
        typer.echo(f"Stopped after step {state.step}. Go on with --resume.")
        raise typer.Exit(1)
    typer.echo(f"{output / BEST}: {state.step} steps, {state.tokens:,} tokens")


def _overrides(arguments: list[str]) -> dict[str, Any]:
    """Values of `--section.key value` and `--section.key=value`, read as JSON where they are."""
    values: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        *sections, key = name.removeprefix("--").split(".")
        if not (name.startswith("--") and sections and all(sections) and key):
            raise CNMError(Errors.E532.format(argument=argument))
        if not equals:
            following = next(rest, None)
            if following is None:
                raise CNMError(Errors.E532.format(argument=argument))
            value = following
        try:
            values[name[2:]] = json.loads(value)
        except ValueError:
            values[name[2:]] = value
    return values
