"""How many examples a property is tried with: a few in every run, many with ``HYPOTHESIS_PROFILE=thorough``.

There are no deadlines: other work on the same machine must not fail a property.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("quick", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=1_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "quick")
