"""Documents that look alike: how they are found (findings), and what people say of them (decisions)."""
