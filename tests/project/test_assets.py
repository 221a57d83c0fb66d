"""`spacy project assets` against a server on loopback, and the workflow behind it."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import srsly
from spacy.cli import app
from typer.testing import CliRunner

from spacy_cnm.corpora.assets import check_assets
from spacy_cnm.errors import CNMError

from .conftest import ROOT, install, python

CONTENT = "王\tB-PER\n来\tO\n".encode() * 20_000


class Server:
    """Serves bytes by their path, some of them cut off, and remembers what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                data = outer.files.get(self.path)
                if data is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.path in outer.cut:
                    data = data[: len(data) // 2]
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def project(tmp_path: Path, server: Server) -> Path:
    """A project with one asset, which the server has."""
    server.files["/train.bio"] = CONTENT
    asset = {
        "dest": "assets/train.bio",
        "url": "${vars.host}/train.bio",
        "checksum": hashlib.md5(CONTENT).hexdigest(),
    }
    content = {"title": "small", "vars": {"host": server.address}, "assets": [asset]}
    srsly.write_yaml(tmp_path / "project.yml", content)
    return tmp_path


def assets(project: Path, *arguments: str, fails: bool = False) -> str:
    """Run `spacy project assets` in this process; give what it printed, or raised."""
    result = CliRunner().invoke(app, ["project", "assets", str(project), *arguments])
    assert (result.exit_code != 0) == fails, f"{result.output}\n{result.exception!r}"
    return result.output + repr(result.exception)


def check(project: Path) -> dict[str, str]:
    """What the command `check` of the project does."""
    return check_assets(project)


def test_fetched_once(project: Path, server: Server) -> None:
    assert check(project) == {"assets/train.bio": "not fetched"}
    assets(project)
    assert (project / "assets/train.bio").read_bytes() == CONTENT
    assert "Skipping download" in assets(project)
    assert server.asked == ["/train.bio"]
    assert check(project) == {"assets/train.bio": "as expected"}


def test_a_download_that_breaks_off_is_fetched_again(project: Path, server: Server) -> None:
    server.cut.add("/train.bio")
    assets(project, fails=True)
    assert (project / "assets/train.bio").stat().st_size < len(CONTENT)
    server.cut.clear()
    # spaCy alone says that the checksum is wrong, and leaves it at that, however often it is asked.
    assert "Checksum doesn't match" in assets(project)
    with pytest.raises(CNMError, match=r"assets/train\.bio \(.*python -m spacy project assets"):
        check(project)
    assets(project)
    assert check(project) == {"assets/train.bio": "as expected"}
    assert (project / "assets/train.bio.damaged").exists()


def test_another_file_than_expected(project: Path, server: Server) -> None:
    server.files["/train.bio"] = b"<html>moved</html>"
    assets(project)
    with pytest.raises(CNMError, match=r"\(18 bytes\)"):
        check(project)
    assert not (project / "assets/train.bio").exists()
    assert (project / "assets/train.bio.damaged").read_bytes() == b"<html>moved</html>"


def test_an_address_that_is_gone(project: Path, server: Server) -> None:
    server.files.clear()
    assert "404" in assets(project, fails=True)
    assert check(project) == {"assets/train.bio": "not fetched"}


def test_empty_file_and_no_project(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (project / "assets").mkdir()
    (project / "assets/train.bio").touch()
    with pytest.raises(CNMError, match=r"\(0 bytes\)"):
        check(project)
    with pytest.raises(CNMError, match=r"project\.yml"):
        check(tmp_path_factory.mktemp("empty"))


@pytest.mark.slow
def test_from_assets_to_a_pipeline_that_loads_by_name(
    tmp_path: Path, server: Server, shared: Path
) -> None:
    """The project's own files and commands; only the addresses and the number of steps differ."""
    ner = shared / "corpora/ner"
    sources = {
        "IDS.TXT": shared / "corpora/ids/IDS.TXT",
        **{f"weiboNER_2nd_conll.{s}": ner / f"weibo/weiboNER_2nd_conll.{s}" for s in _SPLITS},
        "msra_train_bio.txt": ner / "msra/train.bio",  # the published one was not to be had
        "msra_test_bio.txt": ner / "msra/test_fullwidth.bio",
    }
    config = srsly.read_yaml(ROOT / "project.yml")
    for asset in config["assets"]:
        path = asset["url"].removeprefix("${vars.github}")
        server.files[path] = sources[path.rpartition("/")[2]].read_bytes()
    project = tmp_path / "project"
    (project / "configs").mkdir(parents=True)
    (project / "project.yml").write_bytes((ROOT / "project.yml").read_bytes())
    (project / "configs/ner.cfg").write_bytes((ROOT / "configs/ner.cfg").read_bytes())

    assets(project, "--vars.github", server.address)
    assert len(server.asked) == len(config["assets"])
    settings = ["--vars.corpora", "nowhere", "--vars.encoder", "encoder/tiny", "--vars.steps", "4"]
    settings += ["--vars.evaluate_every", "2"]

    def run(command: str) -> str:
        return python(project, "-m", "spacy", "project", "run", command, ".", *settings)

    run("convert")
    shape = ("--layers", "1", "--width", "64")
    new = ("new", "corpus/weibo/train.txt", "encoder/tiny", *shape)
    python(project, "-m", "spacy_cnm", *new)
    run("train")
    run("evaluate")
    metrics = json.loads((project / "metrics/weibo.json").read_text(encoding="utf-8"))
    assert sum(metrics["test"]["entities"].values()) == 418
    assert metrics["unseen"]["test"]["docs"] == 270 - 40
    target = tmp_path / "installed"
    install(project, "training/weibo/model-best", target)
    program = (
        "import spacy; nlp = spacy.load('zh_cnm_trf'); doc = nlp('王䶮在北京。');"
        "assert doc.text == '王䶮在北京。'; print(nlp.pipe_names)"
    )
    assert "ner" in python(tmp_path, "-c", program, PYTHONPATH=str(target))


_SPLITS = ("train", "dev", "test")
