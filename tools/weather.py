"""The weather in a city, from Open-Meteo or a server that speaks like it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from tools.base import Tool, ToolContext, tool
from tools.failures import ToolError
from tools.http_client import Reach, get

GEOCODING_URL = "https://geocoding-api.open-meteo.com"
FORECAST_URL = "https://api.open-meteo.com"

_SECONDS = 10.0
_MAX_BYTES = 1_000_000
_CODES: tuple[tuple[range, str], ...] = (
    (range(1), "clear sky"),
    (range(1, 3), "partly cloudy"),
    (range(3, 4), "overcast"),
    (range(45, 50), "fog"),
    (range(51, 58), "drizzle"),
    (range(61, 68), "rain"),
    (range(71, 78), "snow"),
    (range(80, 83), "rain showers"),
    (range(85, 87), "snow showers"),
    (range(95, 100), "thunderstorm"),
)


class WeatherTool:
    """``get_weather``. ``base_url`` replaces both hosts of Open-Meteo (``/v1/search``, ``/v1/forecast``)."""

    def __init__(self, base_url: str = "", seconds: float = _SECONDS) -> None:
        self._geocoding = (base_url or GEOCODING_URL).rstrip("/")
        self._forecast = (base_url or FORECAST_URL).rstrip("/")
        self._seconds = seconds

    def tool(self) -> Tool:
        return tool(self.get_weather, backend="open-meteo", loop_key=_loop_key)

    def get_weather(
        self,
        city: Annotated[str, "name of a city, e.g. Cairo"],
        context: ToolContext,
        unit: Literal["celsius", "fahrenheit"] = "celsius",
    ) -> str:
        """Get the current weather and today's range of temperatures in a city."""
        if not city.strip():
            raise ToolError("invalid_arguments", "city is empty.")
        seconds = self._seconds if context.timeout is None else min(self._seconds, context.timeout)
        reach = Reach(seconds, _MAX_BYTES, cancelled=context.cancelled)
        place = self._locate(city.strip(), reach)
        query = {
            "latitude": place["latitude"],
            "longitude": place["longitude"],
            "current": "temperature_2m,relative_humidity_2m,wind_speed_10m,weather_code",
            "daily": "temperature_2m_max,temperature_2m_min",
            "temperature_unit": unit,
            "timezone": "auto",
            "forecast_days": 1,
        }
        return _report(place, _json(f"{self._forecast}/v1/forecast?{urlencode(query)}", reach), unit)

    def _locate(self, city: str, reach: Reach) -> dict[str, Any]:
        query = urlencode({"name": city, "count": 1, "language": "en", "format": "json"})
        found = _json(f"{self._geocoding}/v1/search?{query}", reach).get("results")
        if not found:
            raise ToolError("not_found", f"No place named {city!r} is known: check the spelling.")
        place: dict[str, Any] = found[0]
        return place


def _loop_key(arguments: Any) -> str:
    return f"{str(arguments['city']).strip().casefold()} {arguments['unit']}"


def _json(url: str, reach: Reach) -> dict[str, Any]:
    response = get(url, reach, "application/json")
    if response.status == 429:
        raise ToolError("rate_limited", "The weather service allows no more requests for now.")
    try:
        value = json.loads(response.body)
    except ValueError:
        value = None
    if response.status != 200 or not isinstance(value, dict):
        raise ToolError("unavailable", f"The weather service answered {response.status} without a forecast.")
    return value


def _report(place: dict[str, Any], forecast: dict[str, Any], unit: str) -> str:
    sign = "°F" if unit == "fahrenheit" else "°C"
    try:
        now, day = forecast["current"], forecast["daily"]
        code = int(now["weather_code"])
        sky = next((text for codes, text in _CODES if code in codes), f"weather code {code}")
        where = ", ".join(str(place[key]) for key in ("name", "country") if place.get(key))
        return (
            f"{where}: {now['temperature_2m']} {sign}, {sky}, humidity {now['relative_humidity_2m']} %, "
            f"wind {now['wind_speed_10m']} km/h. "
            f"Today {day['temperature_2m_min'][0]} to {day['temperature_2m_max'][0]} {sign}. "
            f"(at {now['time']})"
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ToolError(
            "unavailable", f"The weather service answered in an unknown form ({error!r})."
        ) from None
