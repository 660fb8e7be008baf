"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no fault of the code under test.
settings.register_profile("project", deadline=None)
settings.load_profile("project")
