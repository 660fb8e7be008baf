"""Outcomes to numbers. Pure; numpy lives here."""
