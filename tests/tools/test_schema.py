"""From a typed function to what a model is told."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from tools import ToolContext, tool
from tools.docstring import read_docstring

KEYWORDS = {"type", "properties", "required", "description", "enum", "items"}


class Point(TypedDict):
    x: Annotated[int, "to the right"]
    label: NotRequired[str]


def keywords(schema: Any) -> set[str]:
    found = set(schema)
    for part in schema.get("properties", {}).values():
        found |= keywords(part)
    return found | (keywords(schema["items"]) if "items" in schema else set())


def test_each_annotation_becomes_the_plainest_schema() -> None:
    def every(
        *,
        text: str,
        count: int,
        ratio: float,
        flag: bool,
        unit: Literal["a", "b"],
        level: Literal[1, 2],
        names: list[str],
        rows: Sequence[list[int]],
        bag: dict[str, int],
        other: Mapping[str, Any],
        points: list[Point],
        maybe: str | None = None,
    ) -> str:
        return ""

    made = tool(every)
    assert made.parameters["properties"] == {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "unit": {"type": "string", "enum": ["a", "b"]},
        "level": {"type": "integer", "enum": [1, 2]},
        "names": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "bag": {"type": "object"},
        "other": {"type": "object"},
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "x": {"type": "integer", "description": "to the right"},
                    "label": {"type": "string"},
                },
                "required": ["x"],
            },
        },
        "maybe": {"type": "string"},
    }
    assert "maybe" not in made.parameters["required"]
    assert len(made.parameters["required"]) == 11
    assert keywords(made.parameters) <= KEYWORDS


def test_defaults_make_optional_and_are_remembered() -> None:
    @tool
    def greet(name: str, times: int = 2, unit: Literal["a", "b"] = "b") -> str:
        """Say hello."""
        return name * times

    assert greet.parameters["required"] == ["name"]
    assert greet.signature.defaults == {"times": 2, "unit": "b"}
    assert str(greet.signature) == "name: string, times: integer = 2, unit: 'a' | 'b' = 'b'"


def test_a_tool_without_parameters_is_an_object_without_properties() -> None:
    @tool
    def ping() -> str:
        """Answer."""
        return "pong"

    assert ping.schema() == {
        "type": "function",
        "function": {
            "name": "ping",
            "description": "Answer.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    }


def test_the_context_is_no_parameter_of_the_model() -> None:
    @tool
    def work(context: ToolContext, city: str) -> str:
        return city

    def maybe(city: str, context: ToolContext | None = None) -> str:
        return city

    for made in (work, tool(maybe)):
        assert list(made.parameters["properties"]) == ["city"]
        assert made.signature.context == "context"


GOOGLE = """Find a city.

    With some more words.

    Args:
        city: name of the city,
            in any language
        unit (str): of the temperature

    Returns:
        city: not this one
    """
NUMPY = """Find a city.

    With some more words.

    Parameters
    ----------
    city : str
        name of the city,
        in any language
    unit : str, optional
        of the temperature

    Returns
    -------
    str
        not this one
    """
FIELDS = """Find a city.

    With some more words.

    :param city: name of the city,
        in any language
    :param str unit: of the temperature
    :returns: city: not this one
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, FIELDS], ids=["google", "numpy", "fields"])
def test_docstrings_of_each_style_give_description_and_parameters(text: str) -> None:
    def find(city: str, unit: str) -> str:
        return ""

    find.__doc__ = text
    made = tool(find)
    assert made.description == "Find a city.\n\nWith some more words."
    described = {name: part["description"] for name, part in made.parameters["properties"].items()}
    assert described == {"city": "name of the city, in any language", "unit": "of the temperature"}


def test_annotated_text_goes_before_the_docstring() -> None:
    def find(city: Annotated[str, "from the annotation"]) -> str:
        """Find.

        Args:
            city: from the docstring
        """
        return ""

    assert tool(find).parameters["properties"]["city"]["description"] == "from the annotation"


def test_a_colon_in_the_description_is_no_section() -> None:
    assert read_docstring("Note: this counts.\nArguments are many.") == (
        "Note: this counts.\nArguments are many.",
        {},
    )


def _no_annotation(x) -> str:  # type: ignore[no-untyped-def]
    return ""


def _union(x: int | str) -> str:
    return ""


def _bare_list(x: list) -> str:  # type: ignore[type-arg]
    return ""


def _any(x: Any) -> str:
    return ""


def _rest(*x: int) -> str:
    return ""


def _named_rest(**x: int) -> str:
    return ""


def _by_position(x: int, /) -> str:
    return ""


def _mixed(x: Literal[1, "a"]) -> str:
    return ""


def _odd_default(x: int = object()) -> str:  # type: ignore[assignment]
    return ""


def _infinite_default(x: float = float("inf")) -> str:
    return ""


def _unknown_name(x: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821  that is the case
    return ""


@pytest.mark.parametrize(
    "function",
    [
        _no_annotation, _union, _bare_list, _any, _rest, _named_rest, _by_position, _mixed, _odd_default,
        _infinite_default, _unknown_name,
    ],
)  # fmt: skip
def test_what_a_model_cannot_be_told_is_refused_by_name(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=function.__name__):
        tool(function)


def test_only_functions_and_methods_can_become_tools() -> None:
    with pytest.raises(TypeError, match="its annotations cannot be read"):
        tool(functools.partial(_union))


@pytest.mark.parametrize("name", ["", "A", "1a", "a-b", "a b", "a" * 65, "é"])
def test_a_name_that_endpoints_refuse_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="tool name"):
        tool(lambda: "", name=name)


@pytest.mark.parametrize("name", ["a", "a1_b", "a" * 64])
def test_names_up_to_64_characters_are_taken(name: str) -> None:
    assert tool(lambda: "", name=name).name == name


def test_the_decorator_keeps_the_facts_and_the_function_callable() -> None:
    @tool(effect="write", target="path", loop_key=lambda args: str(args["path"]).lower(), backend="disk")
    def save(path: str, text: str = "x") -> str:
        return path + text

    assert save("a") == "ax"
    assert (save.effect, save.needs_approval) == ("write", True)
    arguments = {"path": "A", "text": "b"}
    assert (save.target_of(arguments), save.loop_key_of(arguments), save.backend_of(arguments)) == (
        "A",
        "a",
        "disk",
    )
    assert json.loads(save.preview_of(arguments).removeprefix("save ")) == arguments
    assert not tool(lambda: "", name="look").needs_approval
    assert not tool(lambda: "", name="move", effect="write", needs_approval=False).needs_approval
