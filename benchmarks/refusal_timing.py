"""Whether the time of a refusal tells a restricted answer from one that does not exist.

    python -m benchmarks.refusal_timing [--pairs N] [--chunks N] [--common N] [--json]

One tenant, 10,000 passages, half of which the asker may read. Topics are made-up words; a coin
decides for each of a pair whether its topic stands in a restricted document or nowhere. So the two
kinds of questions differ in nothing else, and each is asked once, the two of a pair one after the
other in random order. Both end as the same refusal through the whole pipeline. `--common N` puts
each restricted topic into N passages instead of one: the worst case, a subject that much of what
is restricted deals with. The index stays in .data-bench.

Two-sample tests by permutation: of the mean difference within pairs (signs flipped) and of the
Mann-Whitney statistic (labels shuffled). The bound is the far end of the 95% confidence interval of
the median difference, by bootstrap.
"""

import argparse
import json
import sys
import time
import uuid
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import environment

environment.set_up()

from django.db import connection  # noqa: E402

from answers.services import start_answer  # noqa: E402
from answers.transport import answer_to_the_end  # noqa: E402
from benchmarks.generated_index import write_document  # noqa: E402
from documents import services as documents  # noqa: E402
from documents.embedding import get_embedder  # noqa: E402
from documents.generations import serving_generation  # noqa: E402
from documents.models import (  # noqa: E402
    Document,
    IndexGeneration,
)
from tenants import services as people  # noqa: E402
from tenants.models import User  # noqa: E402
from tenants.scope import tenant_scope  # noqa: E402
from tenants.selectors import NotFound, tenant_of_slug  # noqa: E402

SEED = 20261130
RESAMPLES = 5000
PASSAGES_PER_DOCUMENT = 50
TEMPLATES = 200
CONSONANTS, VOWELS = "bdfgklmnprstv", "aeo"
SUBJECTS = ["leave", "travel", "cash", "cards", "phones", "badges", "keys", "parking", "training"]
VERBS = ["must be approved by", "is paid by", "is kept by", "is checked by", "is reported to"]
OFFICES = ["the branch manager", "the front office", "the help desk", "the owner", "the team"]


def made_up_words(rng: np.random.Generator, count: int) -> list[str]:
    """Different words of eight letters, of which no question or passage has another."""
    words: dict[str, None] = {}
    while len(words) < count:
        letters = (rng.choice(list(kind)) for kind in (CONSONANTS, VOWELS) * 4)
        words["".join(letters)] = None
    return list(words)


def templates(rng: np.random.Generator) -> list[str]:
    """Ordinary passages; the corpus repeats them with a number each."""
    return [
        f"The request for {rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OFFICES)} before"
        f" the end of the month. A record of {rng.choice(SUBJECTS)} {rng.choice(VERBS)}"
        f" {rng.choice(OFFICES)}."
        for _ in range(TEMPLATES)
    ]


def load(*, slug: str, chunks: int, topics: list[str], common: int) -> User:
    """The corpus, made once: rows straight into the index, real vectors of what they say."""
    email = f"reader@{slug}.example"
    try:
        tenant_id = tenant_of_slug(slug)
    except NotFound:
        tenant_id = people.create_tenant(slug=slug, name="Refusal timing").id
    with tenant_scope(tenant_id):
        reader = User.objects.filter(email=email).first()
        if reader is None:
            reader = people.create_user(email=email, password=None)
            _write_corpus(reader, chunks, topics, common)
            with connection.cursor() as cursor:
                for table in ("chunk", "chunkterm", "chunkembedding"):
                    cursor.execute(f"ANALYZE documents_{table}")
    return reader


def _write_corpus(reader: User, chunks: int, topics: list[str], common: int) -> None:
    rng = np.random.default_rng(SEED)
    generation = serving_generation()
    embedder = get_embedder(generation.embedder)
    plain = templates(rng)
    plain_vectors = embedder.embed_passages(plain)
    told = [f"The {topic} is handed over by the custodian, as the paper says." for topic in topics]
    told_vectors = embedder.embed_passages(told)
    rows = [(told[i], told_vectors[i]) for i in range(len(topics)) for _ in range(common)]
    half = chunks // 2
    if len(rows) > half:
        raise SystemExit(f"{len(rows)} restricted passages do not fit into {half}.")
    rows += [_numbered(plain, plain_vectors, n) for n in range(half - len(rows))]
    rng.shuffle(rows)
    permitted = [_numbered(plain, plain_vectors, n) for n in range(chunks - half)]
    for readable, part in ((False, rows), (True, permitted)):
        for start in range(0, len(part), PASSAGES_PER_DOCUMENT):
            document = _write_document(generation, part[start : start + PASSAGES_PER_DOCUMENT])
            if readable:
                documents.grant_access(actor=None, document=document, subject=reader)
        say(f"{len(part)} passages {'permitted' if readable else 'restricted'}")


def _numbered(texts: list[str], vectors: np.ndarray, n: int) -> tuple[str, np.ndarray]:
    return f"{texts[n % TEMPLATES]} Paragraph {n}.", vectors[n % TEMPLATES]


def _write_document(generation: IndexGeneration, passages: list) -> Document:
    return write_document(
        generation=generation,
        title="Paper",
        department="Papers",
        texts=[text for text, _ in passages],
        vectors=[vector for _, vector in passages],
        term_length=20,
    )


def ask(reader: User, topic: str) -> float:
    """Milliseconds from the question to its refusal."""
    question = f"Who hands over the {topic}?"
    began = time.perf_counter()
    started = start_answer(
        user=reader, request_id=uuid.uuid4().hex, question=question, counted=False
    )
    view = answer_to_the_end(user=reader, started=started)
    spent = (time.perf_counter() - began) * 1000
    if view.outcome != "abstained":
        raise SystemExit(f"'{question}' ended as {view.outcome}, not as a refusal.")
    return spent


def measure(
    reader: User, restricted: list[str], absent: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng()
    for topic in made_up_words(rng, 20):
        ask(reader, topic)
    times = np.empty((len(restricted), 2))
    for pair, topics in enumerate(zip(restricted, absent, strict=True)):
        for side in rng.permutation(2):
            times[pair, side] = ask(reader, topics[side])
        if pair % 50 == 49:
            say(f"{pair + 1} of {len(restricted)} pairs")
    return times[:, 0], times[:, 1]


def compare(restricted: np.ndarray, absent: np.ndarray) -> dict[str, object]:
    rng = np.random.default_rng(SEED)
    count = len(restricted)
    difference = restricted - absent
    flipped = rng.choice([-1, 1], size=(RESAMPLES, count)) @ difference / count
    joined = np.concatenate([restricted, absent])
    ranks = joined.argsort().argsort() + 1.0
    centre = count * (2 * count + 1) / 2
    rank_sum = ranks[:count].sum() - centre
    shuffled = np.array([rng.permutation(ranks)[:count].sum() for _ in range(RESAMPLES)]) - centre
    drawn = difference[rng.integers(0, count, size=(RESAMPLES, count))]
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    mean_low, mean_high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return {
        "pairs": count,
        "medianMs": {"restricted": _2(np.median(restricted)), "absent": _2(np.median(absent))},
        "p95Ms": {
            "restricted": _2(np.percentile(restricted, 95)),
            "absent": _2(np.percentile(absent, 95)),
        },
        "medianDifferenceMs": _2(np.median(difference)),
        "medianDifferenceMs95": [_2(low), _2(high)],
        "meanDifferenceMs": _2(difference.mean()),
        "meanDifferenceMs95": [_2(mean_low), _2(mean_high)],
        "boundMs": _2(max(abs(low), abs(high))),
        "cohensD": _2(difference.mean() / (joined.std() or 1.0)),
        # The chance that a restricted question takes longer than an absent one; 0.5 tells nothing.
        "probabilityLonger": round(float((rank_sum + count * count / 2) / count**2), 4),
        "pPaired": _p(np.abs(flipped) >= abs(difference.mean())),
        "pMannWhitney": _p(np.abs(shuffled) >= abs(rank_sum)),
    }


def _2(value: float) -> float:
    return round(float(value), 3)


def _p(at_least: np.ndarray) -> float:
    return round(float((at_least.sum() + 1) / (len(at_least) + 1)), 4)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--common", type=int, default=1, help="passages of each restricted topic")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    words = made_up_words(np.random.default_rng(SEED), 2 * options.pairs)
    coins = np.random.default_rng(SEED + 1).integers(0, 2, options.pairs)
    restricted = [words[2 * i + coin] for i, coin in enumerate(coins)]
    absent = [words[2 * i + 1 - coin] for i, coin in enumerate(coins)]
    slug = f"refusal-{options.pairs}-{options.chunks}-{options.common}"
    reader = load(slug=slug, chunks=options.chunks, topics=restricted, common=options.common)
    with tenant_scope(reader.tenant_id):
        result = compare(*measure(reader, restricted, absent))
    result |= {"chunks": options.chunks, "common": options.common}
    print(json.dumps(result) if options.json else json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
