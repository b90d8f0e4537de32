"""The time, here or in a named zone."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Annotated

from tools.base import Tool, tool
from tools.failures import ToolError

Now = Callable[[], datetime]
"""The current moment, with a zone."""


def system_now() -> datetime:
    return datetime.now().astimezone()


def clock_tool(now: Now = system_now) -> Tool:
    def get_current_time(
        timezone: Annotated[str, "IANA zone such as Europe/Berlin or UTC; empty: the local zone"] = "",
    ) -> str:
        """Get the current date and time, with weekday and UTC offset."""
        moment = now()
        zone = timezone.strip()
        if zone and zone.lower() != "local":
            moment = moment.astimezone(find_zone(zone))
        name = getattr(moment.tzinfo, "key", None) or moment.tzname()
        return f"{moment.isoformat(sep=' ', timespec='seconds')} {moment:%A} ({name})"

    return tool(get_current_time, volatile=(r"\d\d:\d\d:\d\d",))


def find_zone(name: str) -> tzinfo:
    """The zone of that name in any case, or of the one city so named. ``ToolError`` names the nearest."""
    import zoneinfo  # noqa: PLC0415  6 ms that only a named zone has to pay

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        pass
    wanted = name.replace(" ", "_").casefold()
    names: dict[str, list[str]] = {}
    for zone in sorted(zoneinfo.available_timezones()):
        for spelling in {zone.casefold(), zone.rpartition("/")[2].casefold()}:
            names.setdefault(spelling, []).append(zone)
    if len(names.get(wanted, [])) == 1:
        return zoneinfo.ZoneInfo(names[wanted][0])
    near = [zone for match in difflib.get_close_matches(wanted, names, n=3) for zone in names[match]]
    hint = f"did you mean {', '.join(near[:5])}?" if near else "use an IANA name such as Asia/Tokyo or UTC."
    raise ToolError("invalid_arguments", f"There is no one time zone {name!r}: {hint}")
