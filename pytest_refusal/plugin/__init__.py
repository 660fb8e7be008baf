"""The pytest side: the only place that imports pytest."""
