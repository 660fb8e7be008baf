"""How the commands of this package end when their reader or their user has gone."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

# What a shell reports of a program that a signal ended.
_ENDED_BY = 128


def run_command(main: Callable[[], int]) -> NoReturn:
    """Run `main` and exit with its status; quietly where the pipe was closed or Ctrl-C came."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _ENDED_BY + 13
    except KeyboardInterrupt:
        status = _ENDED_BY + signal.SIGINT
    raise SystemExit(status)
