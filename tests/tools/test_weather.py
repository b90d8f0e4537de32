"""The weather, from a real server on loopback that speaks like Open-Meteo."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.tools.calling import call
from tests.tools.serving import Site, serving
from tools import Tool, ToolContext, default_tools
from tools.weather import WeatherTool

PLACE = {"results": [{"name": "Cairo", "country": "Egypt", "latitude": 30.06, "longitude": 31.25}]}
FORECAST: dict[str, Any] = {
    "current": {
        "time": "2025-06-30T14:15", "temperature_2m": 35.2, "relative_humidity_2m": 20,
        "wind_speed_10m": 12.5, "weather_code": 2,
    },
    "daily": {"temperature_2m_max": [37.1], "temperature_2m_min": [24.0]},
}  # fmt: skip


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        running.text("/v1/search", json.dumps(PLACE), "application/json")
        running.text("/v1/forecast", json.dumps(FORECAST), "application/json")
        yield running


@pytest.fixture
def weather(site: Site) -> Tool:
    return WeatherTool(site.url + "/").tool()


async def test_a_city_is_located_and_its_weather_told(site: Site, weather: Tool) -> None:
    result = await call(weather, "get_weather", city=" Cairo ")
    assert result.content == (
        "Cairo, Egypt: 35.2 °C, partly cloudy, humidity 20 %, wind 12.5 km/h. "
        "Today 24.0 to 37.1 °C. (at 2025-06-30T14:15)"
    )
    located, forecast = (parse_qs(urlsplit(path).query) for path in site.paths)
    assert located["name"] == ["Cairo"]
    assert (forecast["latitude"], forecast["longitude"]) == (["30.06"], ["31.25"])
    assert forecast["temperature_unit"] == ["celsius"]


async def test_the_unit_is_asked_for_and_shown(site: Site, weather: Tool) -> None:
    assert "35.2 °F" in (await call(weather, "get_weather", city="Cairo", unit="Fahrenheit")).content
    assert "temperature_unit=fahrenheit" in site.paths[1]


@pytest.mark.parametrize(
    ("code", "sky"),
    [(0, "clear sky"), (1, "partly"), (3, "overcast"), (45, "fog"), (61, "rain"), (75, "snow"),
     (82, "rain showers"), (95, "thunderstorm"), (99, "thunderstorm"), (42, "weather code 42")],
)  # fmt: skip
async def test_the_sky_is_told_in_words(site: Site, weather: Tool, code: int, sky: str) -> None:
    changed = json.dumps(FORECAST).replace('"weather_code": 2', f'"weather_code": {code}')
    site.text("/v1/forecast", changed)
    assert f"°C, {sky}" in (await call(weather, "get_weather", city="Cairo")).content


@pytest.mark.parametrize("body", ["{}", '{"results": []}', '{"results": null}'])
async def test_an_unknown_city_is_not_found(site: Site, weather: Tool, body: str) -> None:
    site.text("/v1/search", body)
    result = await call(weather, "get_weather", city="Atlantis")
    assert (result.kind, "No place named 'Atlantis'" in result.content) == ("not_found", True)
    assert len(site.paths) == 1


async def test_a_city_without_a_name_is_refused_without_asking(site: Site, weather: Tool) -> None:
    assert (await call(weather, "get_weather", city="  ")).kind == "invalid_arguments"
    assert site.paths == []


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, "<html>a login page</html>", "unavailable"),
        (200, "[1, 2]", "unavailable"),
        (200, "{}", "unavailable"),
        (200, '{"current": {"weather_code": null}, "daily": {}}', "unavailable"),
        (500, "{}", "unavailable"),
        (404, "{}", "unavailable"),
        (429, "{}", "rate_limited"),
    ],
)
async def test_an_answer_that_is_no_forecast_is_the_fault_of_the_service(
    site: Site, weather: Tool, status: int, body: str, kind: str
) -> None:
    site.text("/v1/forecast", body, status=status)
    assert (await call(weather, "get_weather", city="Cairo")).kind == kind


async def test_offline_is_a_network_failure() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    result = await call(WeatherTool(url).tool(), "get_weather", city="Cairo")
    assert (result.ok, result.kind) == (False, "network")


async def test_a_silent_server_runs_into_the_time_for_both_requests(site: Site) -> None:
    site.drip("/v1/forecast")
    weather = WeatherTool(site.url, seconds=0.3).tool()
    assert (await call(weather, "get_weather", city="Cairo")).kind == "timeout"
    assert (
        "within 0.2 s" in (await call(weather, "get_weather", ToolContext(timeout=0.2), city="Cairo")).content
    )


async def test_the_base_url_comes_from_the_argument_or_the_environment(site: Site) -> None:
    by_argument = default_tools(weather_url=site.url, environ={"AGENT_WEATHER_URL": "http://127.0.0.1:1"})
    by_environment = default_tools(environ={"AGENT_WEATHER_URL": site.url})
    for tools in (by_argument, by_environment):
        assert (await call(tools, "get_weather", city="Cairo")).ok


def test_the_backend_is_open_meteo_and_spellings_of_a_city_are_one_call(weather: Tool) -> None:
    assert weather.backend_of({}) == "open-meteo"
    keys = {weather.loop_key_of({"city": city, "unit": "celsius"}) for city in ("Cairo", " cairo", "CAIRO ")}
    assert keys == {"cairo celsius"}
