"""Tool calls written as text: the formats of the common model families, read from a complete text.

Strict on purpose: a text is calls only if it holds nothing but calls of known tools (and the special
tokens around them). Everything else is prose.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.models.decoding.arguments import dumped, parsed

Schemas = Mapping[str, Mapping[str, Any]]
"""The parameter schema of each tool that was offered, by name."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call found in text. ``arguments`` is the text of a JSON object, or broken as received."""

    name: str
    arguments: str


_Found = tuple[list[WrittenCall], int]
_DSML = r"(?:[|｜]{1,2}DSML[|｜]{1,2})?"
_NOISE = re.compile(
    r"(?:\s|;|,|<\|(?:im_end|eot_id|eom_id|end|call|endoftext)\|>|</s>"
    r"|</?tool_calls?>|</?function_calls>|<tool_response>[\s\S]*"
    r"|</?[|｜]{1,2}DSML[|｜]{1,2}(?:function|tool)_calls>"
    r"|<[|｜]tool[_▁]calls[_▁](?:section[_▁])?(?:begin|end)[|｜]>|<[|｜]end▁of▁sentence[|｜]>)*"
)
_XML_FUNCTION = re.compile(r"<function=[\"']?([\w.-]+)[\"']?>([\s\S]*?)(?:</function>|(?=<function=)|\Z)")
_XML_PARAMETER = re.compile(
    r"\s*<parameter=[\"']?([\w.-]+)[\"']?>\n?([\s\S]*?)\n?(?:</parameter>|(?=<parameter=)|(?=</function>))"
)
_INVOKE = re.compile(rf'<{_DSML}invoke name="([\w.-]+)">([\s\S]*?)</{_DSML}invoke>')
_INVOKE_PARAMETER = re.compile(
    rf'<{_DSML}parameter name="([\w.-]+)"(?: string="(true|false)")?>([\s\S]*?)</{_DSML}parameter>'
)
_GLM = re.compile(r"([\w.-]+)\s*((?:<arg_key>[\s\S]*?</arg_key>\s*<arg_value>[\s\S]*?</arg_value>\s*)+)")
_GLM_PAIR = re.compile(r"<arg_key>([\s\S]*?)</arg_key>\s*<arg_value>([\s\S]*?)</arg_value>")
_TOKENS = re.compile(
    r"<[|｜]tool[_▁]call[_▁]begin[|｜]>\s*(?:function<[|｜]tool[_▁]sep[|｜]>)?(?:functions\.)?([\w.-]+?)(?::\d+)?\s*"
    r"(?:<[|｜]tool[_▁]sep[|｜]>|<[|｜]tool[_▁]call[_▁]argument[_▁]begin[|｜]>|\n)\s*(?:```json\s*)?"
    r"(\{[\s\S]*?)(?:```\s*)?(?:<[|｜]tool[_▁]call[_▁]end[|｜]>|\Z)"
)
_HARMONY = re.compile(
    r"<\|channel\|>commentary to=(?:functions\.)?([\w-]+)[^{]*?<\|message\|>(\{[\s\S]*?)(?:<\|call\|>|\Z)"
)
_MISTRAL = re.compile(r"([A-Za-z_][\w-]*)(?:\[CALL_ID\]\w*)?(?:\[ARGS\])?\s*(?=\{)")
_FENCE = re.compile(r"\s*```[\w-]*[ \t]*\n([\s\S]*?)\n?```\s*\Z")
_NAME_KEYS = ("name", "tool", "tool_name", "function_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")


def calls_in(text: str, schemas: Schemas) -> list[WrittenCall] | None:
    """The calls that ``text`` (from its first marker on) consists of; ``None`` if it is anything else."""
    calls: list[WrittenCall] = []
    position = _skip_noise(text, 0)
    while position < len(text):
        found = _first_match(text, position, schemas)
        if found is None or not found[0] or any(call.name not in schemas for call in found[0]):
            return None
        calls += found[0]
        position = _skip_noise(text, found[1])
    return calls or None


def calls_in_whole_reply(text: str, schemas: Schemas) -> list[WrittenCall] | None:
    """The calls that a whole reply without markers is: bare or fenced JSON, or ``[f(x=1)]``.

    Stricter than with markers: the arguments must be there and fit the schema of the tool.
    """
    fenced = _FENCE.match(text)
    body = (fenced[1] if fenced else text).strip()
    calls = _python_calls(body, schemas) or _json_calls_only(body, schemas)
    if calls and all(call.name in schemas and _fits(call, schemas[call.name]) for call in calls):
        return calls
    return None


def _first_match(text: str, position: int, schemas: Schemas) -> _Found | None:
    readers: tuple[Callable[[str, int, Schemas], _Found | None], ...] = (
        _xml_function,
        _invoke,
        _glm,
        _special_tokens,
        _harmony,
        _mistral,
        _python_tag,
        _json_calls,
    )
    return next((found for read in readers if (found := read(text, position, schemas))), None)


def _skip_noise(text: str, position: int) -> int:
    found = _NOISE.match(text, position)
    return found.end() if found else position


def _xml_function(text: str, position: int, schemas: Schemas) -> _Found | None:
    found = _XML_FUNCTION.match(text, position)
    if found is None:
        return None
    name, body = found[1], found[2].strip()
    if body.startswith("{"):
        return [WrittenCall(name, body)], found.end()
    closer = "</function>"
    inner = found[2] + (closer if found[0].endswith(closer) else "")
    arguments, end = {}, 0
    while parameter := _XML_PARAMETER.match(inner, end):
        arguments[parameter[1]] = _typed(parameter[2], parameter[1], schemas.get(name))
        end = parameter.end()
    rest = inner[end:].replace(closer, "").strip()
    return [WrittenCall(name, body if rest else dumped(arguments))], found.end()


def _invoke(text: str, position: int, schemas: Schemas) -> _Found | None:
    found = _INVOKE.match(text, position)
    if found is None:
        return None
    arguments: dict[str, object] = {}
    for key, string, value in _INVOKE_PARAMETER.findall(found[2]):
        arguments[key] = value if string == "true" else _typed(value, key, schemas.get(found[1]))
    return [WrittenCall(found[1], dumped(arguments))], found.end()


def _glm(text: str, position: int, schemas: Schemas) -> _Found | None:
    found = _GLM.match(text, position)
    if found is None:
        return None
    name = found[1]
    pairs = _GLM_PAIR.findall(found[2])
    arguments = {key.strip(): _typed(value, key.strip(), schemas.get(name)) for key, value in pairs}
    return [WrittenCall(name, dumped(arguments))], found.end()


def _special_tokens(text: str, position: int, schemas: Schemas) -> _Found | None:
    del schemas
    found = _TOKENS.match(text, position)
    return ([WrittenCall(found[1], found[2].strip())], found.end()) if found else None


def _harmony(text: str, position: int, schemas: Schemas) -> _Found | None:
    del schemas
    found = _HARMONY.match(text, position)
    return ([WrittenCall(found[1], found[2].strip())], found.end()) if found else None


def _mistral(text: str, position: int, schemas: Schemas) -> _Found | None:
    marker = "[TOOL_CALLS]"
    if not text.startswith(marker, position):
        return None
    position += len(marker)
    named = _MISTRAL.match(text, position)
    if named is None:
        return _json_calls(text, _skip_noise(text, position), schemas)
    read = _raw_json(text, named.end())
    if read is None or not isinstance(read[0], dict):
        return [WrittenCall(named[1], text[named.end() :])], len(text)
    return [WrittenCall(named[1], dumped(read[0]))], read[1]


def _python_tag(text: str, position: int, schemas: Schemas) -> _Found | None:
    marker = "<|python_tag|>"
    if not text.startswith(marker, position):
        return None
    position = _skip_noise(text, position + len(marker))
    end = next((at for at in (text.find(token, position) for token in ("<|e", "</s>")) if at >= 0), len(text))
    calls = _python_calls(text[position:end].strip().replace(".call(", "(", 1), schemas)
    return (calls, end) if calls else _json_calls(text, position, schemas)


def _json_calls(text: str, position: int, schemas: Schemas) -> _Found | None:
    """Objects and lists of objects, one after another, as far as they go."""
    del schemas
    calls: list[WrittenCall] = []
    while read := _raw_json(text, position):
        values = read[0] if isinstance(read[0], list) else [read[0]]
        found = [_call_of(value) for value in values]
        if not all(found):
            return None
        calls += [call for call in found if call]
        position = _skip_noise(text, read[1])
    return (calls, position) if calls else None


def _json_calls_only(text: str, schemas: Schemas) -> list[WrittenCall] | None:
    found = _json_calls(text, 0, schemas)
    return found[0] if found and found[1] == len(text) else None


def _raw_json(text: str, position: int) -> tuple[Any, int] | None:
    if text[position : position + 1] not in {"{", "["}:
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, position)
    except (ValueError, RecursionError):
        return None


def _call_of(value: object) -> WrittenCall | None:
    """A call from ``{"name", "arguments"}``, its variants, or ``{"function": {…}}``."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        value = inner
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    if name is None:
        return None
    return WrittenCall(name, arguments if isinstance(arguments, str) else dumped(arguments or {}))


def _python_calls(text: str, schemas: Schemas) -> list[WrittenCall] | None:
    """``[f(x=1), g()]`` or ``f(x=1)`` with literal arguments, of known tools."""
    name = re.match(r"\[?\s*([A-Za-z_]\w*)\(", text)
    if name is None or name[1] not in schemas:
        return None
    try:
        tree = ast.parse(text, mode="eval").body
        nodes = tree.elts if isinstance(tree, ast.List) else [tree]
        return list(_literal_calls(nodes))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _literal_calls(nodes: list[ast.expr]) -> Iterator[WrittenCall]:
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
            raise ValueError("not a plain call")
        arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
        yield WrittenCall(node.func.id, dumped(arguments))


def _typed(value: str, name: str, schema: Mapping[str, Any] | None) -> object:
    """A parameter's text as the type its schema names: strings stay text, the rest is JSON."""
    properties = (schema or {}).get("properties")
    known = properties.get(name) if isinstance(properties, Mapping) else None
    kind = known.get("type") if isinstance(known, Mapping) else "string"
    if kind == "string":
        return value
    found = parsed(value.strip())
    return value if found is None and value.strip() != "null" else found


def _fits(call: WrittenCall, schema: Mapping[str, Any]) -> bool:
    arguments = parsed(call.arguments)
    properties = schema.get("properties") or {}
    required = schema.get("required") or ()
    return isinstance(arguments, dict) and set(required) <= set(arguments) <= set(properties)
