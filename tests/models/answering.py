"""Error answers as the tests write them, classified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_cli.errors import ModelError
from agent_cli.models.errors_map import classify

NOW = 1_700_000_000.0


def told(
    status: int | None, message: str = "words", headers: Mapping[str, str] | None = None, **fields: Any
) -> ModelError:
    return raw(status, json.dumps({"error": {"message": message, **fields}}), headers)


def raw(status: int | None, body: str, headers: Mapping[str, str] | None = None) -> ModelError:
    return classify(
        status, headers or {}, body, endpoint="api.test", model="tiny", key_source="MY_KEY", now=NOW
    )
