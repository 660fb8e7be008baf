"""Settings of the property tests of the metrics."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no fault of the code under test.
settings.register_profile("metrics", deadline=None, max_examples=60)
settings.load_profile("metrics")
