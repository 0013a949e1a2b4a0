"""Every run tries the same examples; LATELY_EXAMPLES is how many of each, for runs under slow tools."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=int(os.environ.get("LATELY_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")
