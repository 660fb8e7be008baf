"""Prompts as test cases: refusal rates and calibration of an assistant, gated by pytest.

The public names resolve on first use, so that an idle pytest run pays for none of them.
"""

from __future__ import annotations

__version__ = "0.1.0"
