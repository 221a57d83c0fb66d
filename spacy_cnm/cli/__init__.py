"""`spacy-cnm`: one sub-command a module; heavy imports wait until a command needs them."""

import signal
import sys
from collections.abc import Iterable
from io import TextIOWrapper

import typer

from spacy_cnm.errors import CNMError, Errors

from . import corpora, encoders, evaluate, ids, pretrain, probe, similar, stress

app = typer.Typer(
    name="spacy-cnm",
    help="CNM-BERT for spaCy: tables of character structure, encoders and corpora.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(ids.app, name="ids")
app.command()(encoders.wrap)
app.command()(encoders.new)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    pretrain.pretrain
)
app.add_typer(corpora.app, name="corpora")
app.command()(evaluate.evaluate)
app.command()(evaluate.show)
app.command()(evaluate.resume)
app.command()(stress.stress)
app.command()(probe.probe)
app.command()(similar.similar)


def main() -> None:
    """Run the command line.

    A `CNMError` or a failing file becomes one line on standard error and exit status 1. What the
    terminal's encoding lacks is written as an escape. SIGTERM cleans up as Ctrl-C does.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminate)
    try:
        _check_arguments(sys.argv[1:])
        app()
    except (CNMError, OSError) as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        sys.exit(1)


def _terminate(number: int, _: object) -> None:
    # Inside of a finalizer the exception would be lost; then a second signal is obeyed.
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)


def _check_arguments(arguments: Iterable[str]) -> None:
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise CNMError(Errors.E424.format(argument=ascii(argument))) from error
