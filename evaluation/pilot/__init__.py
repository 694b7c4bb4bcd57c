"""The six weeks of a pilot, step by step: `sheets` to fill in, a `leakage` run, and the final `report`."""
