"""Prompt to response: one module for each kind of policy."""
