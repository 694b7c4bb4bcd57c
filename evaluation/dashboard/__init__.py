"""Whether it works: the pilot's measures week by week (`weekly`), drawn (`charts`), repeated questions."""
