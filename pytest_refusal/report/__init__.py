"""The record of a run, and a writer for each kind of report."""
