"""How an attempt without a supported answer ends. What it may say is the tenant's policy."""

from documents.retrieval.restricted import best_scores
from documents.retrieval.search import search
from tenants.models import RefusalPolicy
from tenants.selectors import current_tenant

from .models import Answer, Outcome, Reason
from .reranking import RankingSettings

# By how much the best restricted passage must beat the best permitted one.
LEAD = 0.1

Ending = tuple[Outcome, Reason | str]

NO_EVIDENCE: Ending = (Outcome.ABSTAINED, Reason.NO_EVIDENCE)
ACCESS_MISSING: Ending = (Outcome.ACCESS_DENIED, "")


def refusal(answer: Answer) -> Ending:
    """Under the default policy nothing but the policy is read.

    Under `contact_admin` the best restricted passage is scored as well, and only that it clearly
    beats the best permitted one becomes known.
    """
    if current_tenant().refusal_policy != RefusalPolicy.CONTACT_ADMIN:
        return NO_EVIDENCE
    found = search(user=answer.user, question=answer.question)
    weights = RankingSettings.from_json(found.ranking.rerank)
    scores = best_scores(
        user=answer.user,
        question=answer.question,
        cosine_weight=weights.cosine_weight,
        coverage_weight=weights.coverage_weight,
    )
    # A permitted passage that is near in meaning and shares no word counts as well.
    nearest = max((candidate.cosine for candidate in found.candidates), default=0.0)
    permitted = max(scores.permitted, weights.cosine_weight * nearest)
    return ACCESS_MISSING if scores.restricted - permitted >= LEAD else NO_EVIDENCE
