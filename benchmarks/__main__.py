"""`make bench`: what can be measured, and how to start it."""

import os
import platform

BENCHMARKS = {
    "authority": "admissions and releases per second, with and without revocations",
    "revocation_storm": "questions while access changes at random; was every release permitted?",
    "evaluation": "what questions notice of an evaluation run of 1,000 cases",
    "hostile_documents": "what a real model behind Ollama makes of hostile documents",
    "ingest": "pages and passages per second by stage; what questions notice of a bulk load",
    "obliqa": "recall@10 and MAP@10 of each retrieval leg on the ObliQA rulebooks",
    "version_gap": "how long a policy has no evidence while a new version is taken in",
    "refusal_timing": "whether the time of a refusal tells restricted from absent",
}


def main() -> None:
    print(f"Machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    for name, what in BENCHMARKS.items():
        print(f"  python -m benchmarks.{name} --help    {what}")


if __name__ == "__main__":
    main()
