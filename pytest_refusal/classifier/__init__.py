"""Response to verdict: one module for each kind of classifier."""
