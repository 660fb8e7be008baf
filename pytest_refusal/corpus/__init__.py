"""Files to prompts: readers, checks and the bundled corpora. Opens files; no network."""
