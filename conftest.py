"""Switch on pytester for the project's own tests."""

pytest_plugins = ["pytester"]
