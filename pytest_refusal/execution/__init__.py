"""How any policy is asked: turns, threads, the event loop, retries and recordings."""
