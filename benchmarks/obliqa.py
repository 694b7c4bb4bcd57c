"""Retrieval quality on ObliQA: 40 rulebooks as documents, their questions through our own legs.

    python benchmarks/obliqa.py --data DIR --questions FILE [--limit N] [--json]

DIR holds rules/N.json; FILE is a list of questions with their passages. Each rulebook becomes a
document whose chunks are its passages, embedded and published as any document; the index stays in
.data-bench, so a second question file only costs its questions. A question's gold set is its
(DocumentID, PassageID) pairs. Prints {leg: {"recall@10", "map@10"}}.
"""

import argparse
import copy
import hashlib
import json
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import environment

environment.set_up()

from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from answers.evidence import Evidence  # noqa: E402
from answers.reranking import RankingSettings, rerank  # noqa: E402
from answers.reranking import question_terms as content_terms  # noqa: E402
from documents import services as documents  # noqa: E402
from documents.embedding import get_embedder  # noqa: E402
from documents.generations import serving_generation  # noqa: E402
from documents.ingestion.chunk import ChunkSpan, chunk_id  # noqa: E402
from documents.ingestion.embed import embed_chunks  # noqa: E402
from documents.ingestion.passages import Passage as Built  # noqa: E402
from documents.ingestion.publish import write_index  # noqa: E402
from documents.models import (  # noqa: E402
    Chunk,
    Document,
    DocumentVersion,
    IndexGeneration,
    LifeCycle,
    VersionStatus,
)
from documents.retrieval.fuse import fuse  # noqa: E402
from documents.retrieval.keyword import keyword_leg  # noqa: E402
from documents.retrieval.ranking import Ranking  # noqa: E402
from documents.retrieval.terms import question_terms as search_terms  # noqa: E402
from documents.retrieval.vector import cosines, vector_leg  # noqa: E402
from tenants import services as people  # noqa: E402
from tenants.models import Group, User  # noqa: E402
from tenants.scope import tenant_scope  # noqa: E402
from tenants.selectors import NotFound, tenant_of_slug  # noqa: E402

K = 10
SLUG = "obliqa"
CHUNKING = "passages"

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Passage:
    document: str
    passage: str
    text: str


def read_rulebook(path: Path) -> list[Passage]:
    """Non-empty passages; of a repeated key the first counts."""
    seen: set[str] = set()
    passages = []
    for row in json.loads(path.read_text(encoding="utf-8")):
        text = row["Passage"].strip()
        if text and row["PassageID"] not in seen:
            seen.add(row["PassageID"])
            passages.append(Passage(str(row["DocumentID"]), row["PassageID"], text))
    return passages


def benchmark_tenant() -> UUID:
    try:
        return tenant_of_slug(SLUG)
    except NotFound:
        return people.create_tenant(slug=SLUG, name="ObliQA").id


def load(data: Path) -> dict[UUID, Key]:
    """Index what is not indexed yet, and map chunk ids to passages."""

    everyone = Group.objects.get(built_in=True)
    generation = serving_generation()
    keys: dict[UUID, Key] = {}
    files = sorted((data / "rules").glob("*.json"), key=lambda path: int(path.stem))
    for number, path in enumerate(files, start=1):
        passages = read_rulebook(path)
        started = time.monotonic()
        version = ensure_document(path.stem, passages, everyone, generation)
        for ordinal, passage in enumerate(passages):
            keys[chunk_key(version.id, ordinal)] = (passage.document, passage.passage)
        say(
            f"rulebook {number} of {len(files)}: {len(passages)} passages, "
            f"{time.monotonic() - started:.0f} s"
        )
    return keys


def chunk_key(version_id: UUID, ordinal: int) -> UUID:

    return chunk_id(version_id=version_id, chunking=CHUNKING, ordinal=ordinal)


def ensure_document(
    name: str, passages: Sequence[Passage], everyone: Group, generation: IndexGeneration
) -> DocumentVersion:
    """The rulebook's searchable version: embedded and indexed like any, but for its chunking."""
    text, chunks = "\n\n".join(p.text for p in passages), list(spans(passages))
    digest = hashlib.sha256(text.encode()).hexdigest()
    version = DocumentVersion.objects.filter(sha256=digest).first()
    if version is None:
        document = Document.objects.create(
            title=f"Rulebook {name}",
            department=people.get_or_create_department(name="Regulation"),
            life_cycle=LifeCycle.VETTED,
        )
        documents.grant_access(actor=None, document=document, subject=everyone)
        version = DocumentVersion.objects.create(
            document=document,
            number=1,
            object_key="none",
            sha256=digest,
            media_type="application/json",
            size=len(text),
        )
    if version.status == VersionStatus.SEARCHABLE:
        return version
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    vectors = embed_chunks(
        chunks, embedder=get_embedder(generation.embedder), done=progress(name, len(chunks))
    )
    built = [
        Built(id=chunk_key(version.id, chunk.ordinal), span=chunk, language="en", vector=vector)
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    with transaction.atomic():
        write_index(version=version, generation=replace_chunking(generation), built=built)
        DocumentVersion.objects.filter(pk=version.pk).update(
            status=VersionStatus.SEARCHABLE,
            chunk_count=len(built),
            text_sha256=digest,
            searchable_at=timezone.now(),
        )
        Document.objects.filter(pk=version.document_id).update(current_version=version)
    return version


def replace_chunking(generation: IndexGeneration) -> IndexGeneration:
    """The serving generation under the benchmark's own chunking name; not saved."""
    other = copy.copy(generation)
    other.chunking = CHUNKING
    return other


def spans(passages: Sequence[Passage]) -> Iterator[ChunkSpan]:

    start = 0
    for ordinal, passage in enumerate(passages):
        end = start + len(passage.text)
        yield ChunkSpan(
            ordinal=ordinal,
            section=passage.passage[:300],
            page=1,
            start=start,
            end=end,
            text=passage.text,
            sha256=hashlib.sha256(passage.text.encode()).hexdigest(),
        )
        start = end + 2


def progress(name: str, total: int):
    last = time.monotonic()

    def done(count: int) -> None:
        nonlocal last
        if time.monotonic() - last > 20:
            last = time.monotonic()
            say(f"  rulebook {name}: {count} of {total}")

    return done


def run_legs(
    user: User, questions: Sequence[dict], keys: dict[UUID, Key]
) -> dict[str, list[list[Key]]]:
    """For each leg, each question's passages, best first."""

    generation = serving_generation()
    ranking = Ranking.from_json(generation.ranking)
    embedder = get_embedder(generation.embedder)
    settings = replace(RankingSettings.from_json(ranking.rerank), max_chunks=K)
    found: dict[str, list[list[Key]]] = {
        leg: [] for leg in ("keyword", "vector", "fused", "reranked")
    }
    common = {"reader": user.id, "generation": generation, "ranking": ranking}
    for number, row in enumerate(questions, start=1):
        question = row["Question"]
        query = embedder.embed_query(question)
        keyword = keyword_leg(**common, terms=search_terms(question, ["en"]))
        vector = vector_leg(**common, query=query)
        fused = [chunk for chunk, _ in fuse(keyword=keyword, vector=vector, ranking=ranking)]
        cosine = cosines(reader=user.id, generation=generation, query=query, chunk_ids=fused)
        ranked = rerank(
            terms=content_terms(question, "en"),
            evidence=evidence(fused, cosine),
            cosines=cosine,
            settings=settings,
        )
        for leg, ids in (
            ("keyword", [hit.chunk_id for hit in keyword]),
            ("vector", [hit.chunk_id for hit in vector]),
            ("fused", fused),
            ("reranked", [chunk.chunk_id for chunk in ranked]),
        ):
            found[leg].append([keys[chunk_id] for chunk_id in ids[:K]])
        if number % 200 == 0:
            say(f"{number} of {len(questions)} questions")
    return found


def evidence(chunk_ids: Sequence[UUID], cosine: dict[UUID, float]) -> list[Evidence]:
    """Chunks as the reranker sees them. No permit: nothing here leaves the benchmark."""

    rows = Chunk.objects.select_related("document").in_bulk(chunk_ids)
    return [
        Evidence(
            number=number,
            chunk_id=chunk_id,
            document_id=rows[chunk_id].document_id,
            version_id=rows[chunk_id].version_id,
            version_number=1,
            title=rows[chunk_id].document.title,
            reference="",
            text=rows[chunk_id].text,
            start=rows[chunk_id].start,
            end=rows[chunk_id].end,
            page=1,
            section=rows[chunk_id].section,
            language="en",
            effective_date=None,
            withdrawn_date=None,
            life_cycle="vetted",
            score=0.0,
            cosine=cosine.get(chunk_id, 0.0),
        )
        for number, chunk_id in enumerate(chunk_ids, start=1)
    ]


def score(found: Sequence[Sequence[Key]], gold: Sequence[set[Key]]) -> dict[str, float]:
    """Means over questions. recall@k = found gold / gold; AP@k = Σ precision at each hit / gold."""
    recalls, precisions = [], []
    for ids, wanted in zip(found, gold, strict=True):
        hits, total = 0, 0.0
        for rank, key in enumerate(ids[:K], start=1):
            if key in wanted:
                hits += 1
                total += hits / rank
        recalls.append(hits / len(wanted))
        precisions.append(total / len(wanted))
    count = len(recalls) or 1
    return {
        f"recall@{K}": round(sum(recalls) / count, 4),
        f"map@{K}": round(sum(precisions) / count, 4),
    }


def gold_of(row: dict) -> set[Key]:
    return {(str(p["DocumentID"]), p["PassageID"]) for p in row["Passages"]}


def reader() -> User:

    return User.objects.first() or people.create_user(
        email=f"reader-{uuid.uuid4().hex[:6]}@obliqa.example", password=None
    )


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    questions = json.loads(options.questions.read_text(encoding="utf-8"))[: options.limit]
    with tenant_scope(benchmark_tenant()):
        keys = load(options.data)
        found = run_legs(reader(), questions, keys)
    gold = [gold_of(row) for row in questions]
    scores = {leg: score(ids, gold) for leg, ids in found.items()}
    if options.json:
        print(json.dumps(scores))
    else:
        for leg, values in scores.items():
            print(f"{leg:<9}", *(f"{name} {value:.3f}" for name, value in values.items()))


if __name__ == "__main__":
    main()
