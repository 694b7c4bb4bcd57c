"""How much one person, and one tenant, may ask. What is refused costs nothing; see answers.limits."""

from .environment import positive_int

PERSON_QUESTIONS_PER_MINUTE = positive_int("PRECEPT_PERSON_QUESTIONS_PER_MINUTE", default=60)
TENANT_QUESTIONS_PER_MINUTE = positive_int("PRECEPT_TENANT_QUESTIONS_PER_MINUTE", default=600)

PERSON_CONCURRENT_ANSWERS = positive_int("PRECEPT_PERSON_CONCURRENT_ANSWERS", default=8)
TENANT_CONCURRENT_ANSWERS = positive_int("PRECEPT_TENANT_CONCURRENT_ANSWERS", default=32)

# Tokens a model reads and writes. The bundled generator uses none.
PERSON_TOKENS_PER_DAY = positive_int("PRECEPT_PERSON_TOKENS_PER_DAY", default=200_000)
TENANT_TOKENS_PER_DAY = positive_int("PRECEPT_TENANT_TOKENS_PER_DAY", default=5_000_000)
