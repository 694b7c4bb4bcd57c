"""Everything that can be reached from outside, and who may reach it. `test_registry` walks all of it
and fails when something exists that is not in here.

People are letters:  a  asker: an employee who may read the document and has asked about it
                     c  colleague: an employee who may read nothing
                     r  reviewer    o  auditor (oversees)    t  tenant administrator
                     h  administrator of the document's department    f  of another department
                     s  stranger: every role, of another tenant
                     l  leaver: every role, deactivated while signed in    v  visitor, signed out

A rule is "who it opens for" or "who it opens for/for whom there is nothing". To `l` and `v` all that
is not public says: sign in. Everybody else is refused for their role.
"""

from __future__ import annotations

from dataclasses import dataclass

EVERYBODY = "acrohftslv"
SIGNED_IN = "acrohfts"
STAFF = "rohfts"
READERS, MANAGERS, OWNER = "a/crohfts", "ht/acrofs", "a/crohfts"


@dataclass(frozen=True, slots=True)
class Rule:
    opens_for: str
    nothing_for: str = ""

    @classmethod
    def parse(cls, words: str) -> Rule:
        return cls(*words.split("/"))


def page(*, listed: str, change: str, add: str = "", delete: str = "", history: str = "") -> dict:
    """The six addresses that each page of the administration has."""
    return {
        "": Rule.parse(listed),
        "add/": Rule.parse(add),
        "<path:object_id>/change/": Rule.parse(change),
        "<path:object_id>/delete/": Rule.parse(delete),
        "<path:object_id>/history/": Rule(
            history, "".join(letter for letter in STAFF if letter not in history)
        ),
        "<path:object_id>/": Rule(STAFF),  # leads to change/, whatever the id
    }


# By model: `app_model`.
PAGES: dict[str, dict[str, Rule]] = {
    "documents_document": page(
        listed="ohfts", add="hfts", change="oht/fs", delete="ht/fs", history="ot"
    ),
    "documents_inventoryentry": page(listed="ohfts", change="oht/fs", history="ot"),
    "documents_duplicatefinding": page(listed="ohfts", change="oht/fs", history="ot"),
    "documents_documentversion": page(listed="ohfts", change="oht/fs", history="ot"),
    "tenants_user": page(listed="hfts", add="ts", change="hft/s", history="t"),
    "onboarding_invitation": page(listed="ts", add="ts", change="t/s", history="t"),
    "tenants_group": page(listed="hfts", add="ts", change="hft/s", delete="t/s", history="t"),
    "tenants_department": page(listed="ts", add="ts", change="t/s", delete="t/s", history="t"),
    "tenants_apitoken": page(listed="ts", add="ts", change="t/s", history="t"),
    "tenants_tenant": page(listed="ts", change="t/s", history="t"),
    "identity_identityprovider": page(listed="ts", add="ts", change="t/s", history="t"),
    "identity_emaildomain": page(listed="ts", add="ts", change="t/s", delete="t/s", history="t"),
    "identity_signinpolicy": page(listed="ts", change="t/s", history="t"),
    "provisioning_scimtoken": page(listed="ts", add="ts", change="t/s", history="t"),
    "factors_factorpolicy": page(listed="ts", change="t/s", history="t"),
    "answers_answer": page(listed="rots", change="rot/s", history="ot"),
    "answers_reviewitem": page(listed="rs", change="r/s"),
    "answers_feedback": page(listed="rs", change="r/s"),
    "evaluation_personadiff": page(listed="rots", add="rots", change="rot/s", history="ot"),
    "evaluation_weeklyreport": page(listed="ots", change="ot/s", history="ot"),
    "evaluation_goal": page(listed="rots", add="ts", change="rot/s", history="ot"),
    "evaluation_spotcheck": page(listed="rs", change="r/s"),
    "documents_indexgeneration": page(listed="ots", change="ot/s", history="ot"),
    "audit_auditrecord": page(listed="ots", change="ot/s"),
    "evaluation_evalcase": page(listed="rts", add="rts", change="rt/s", history="t"),
    "evaluation_evalrun": page(listed="rts", add="rts", change="rt/s", history="t"),
    "answers_canary": page(listed="rots", add="ts", change="rot/s", history="ot"),
    "evaluation_gateoverride": page(listed="rots", add="rts", change="rot/s", history="ot"),
}
# By page: action → who is offered it / for whom the row is not there. Nobody else can choose it.
_ON_DOCUMENTS = dict.fromkeys(
    (
        "grant_access",
        "revoke_access",
        "archive",
        "move_to_draft",
        "vet",
        "set_life_cycle",
        "set_owner",
        "retry_failed",
        "delete_documents",
    ),
    "ht/fs",
)
ACTIONS: dict[str, dict[str, str]] = {
    "documents_document": _ON_DOCUMENTS,
    "documents_inventoryentry": _ON_DOCUMENTS,
    "tenants_user": dict.fromkeys(
        ("deactivate", "activate", "add_to_group", "remove_from_group", "reset_factors"), "t/s"
    ),
    "tenants_apitoken": {"revoke": "t/s"},
    "onboarding_invitation": dict.fromkeys(("invite_again", "withdraw"), "t/s"),
    "evaluation_evalcase": dict.fromkeys(
        ("move_to_reviewed", "move_to_active", "move_to_draft", "confirm"), "rt/s"
    ),
}
# By address: method → rule.
URLS: dict[str, dict[str, str]] = {
    "healthz": {"GET": EVERYBODY},
    "readyz": {"GET": EVERYBODY},
    "metrics": {"GET": EVERYBODY},
    "v1/schema/": {"GET": "acrohftsv"},  # a token that is not valid is refused even here
    "v1/docs/": {"GET": "acrohftsv"},
    "v1/answers": {"POST": SIGNED_IN},
    "v1/answers/<uuid:answer_id>": {"GET": OWNER},
    "v1/answers/<uuid:answer_id>/cancel": {"POST": OWNER},
    "v1/answers/<uuid:answer_id>/feedback": {"POST": OWNER},
    "v1/documents": {"GET": SIGNED_IN, "POST": SIGNED_IN},  # POST: refused with the department
    "v1/documents/<uuid:document_id>": {"DELETE": MANAGERS},
    "v1/documents/<uuid:document_id>/versions": {"POST": MANAGERS},
    "v1/documents/<uuid:document_id>/grants": {
        "GET": MANAGERS,
        "POST": MANAGERS,
        "DELETE": MANAGERS,
    },
    "v1/sources/<uuid:document_id>/versions/<int:number>": {"GET": READERS},
    "v1/sources/<uuid:document_id>/versions/<int:number>/text": {"GET": READERS},
    "v1/sources/<uuid:document_id>/versions/<int:number>/file": {"GET": READERS},
    "v1/sources/<uuid:document_id>/versions/<int:number>/pages/<int:page>.png": {"GET": READERS},
    "v1/evaluation/runs": {"GET": "rts", "POST": "rts"},
    "v1/evaluation/runs/<uuid:run_id>": {"GET": "rt/acohfs"},
    "v1/evaluation/runs/<uuid:run_id>/cancel": {"POST": "rt/acohfs"},
    "^v1/": {"GET": "/acrohfts"},
    "": {"GET": SIGNED_IN, "POST": SIGNED_IN},
    "cancel/": {"POST": OWNER},
    "history/": {"GET": SIGNED_IN},
    "answers/<uuid:answer_id>/": {"GET": OWNER},
    "answers/<uuid:answer_id>/feedback/": {"POST": OWNER},
    "documents/": {"GET": SIGNED_IN},
    "sources/<uuid:document_id>/versions/<int:number>/": {"GET": READERS},
    "accounts/login/": {"GET": EVERYBODY},
    "sign-in/": {"GET": EVERYBODY, "POST": EVERYBODY},
    "sign-in/callback/": {"GET": EVERYBODY},
    "sign-in/<uuid:provider_id>/": {"GET": "acrohfts/lv"},  # one that is not in use
    "sign-in/<uuid:provider_id>/try/": {"GET": "t/acrohfs"},
    "sign-in/<uuid:provider_id>/metadata/": {"GET": EVERYBODY},  # the same for any key
    "sign-in/<uuid:provider_id>/answer/": {"POST": EVERYBODY},  # sent once more by a page of ours
    "invitation/<str:token>/": {"GET": "acrohfts/lv"},  # one that nobody was sent
    "accounts/password/reset/": {"GET": EVERYBODY},
    "accounts/password/reset/<str:uidb64>/<str:token>/": {"GET": EVERYBODY},
    "scim/v2/": {"GET": "", "POST": ""},
    "scim/v2/<path:resource>": dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), ""),
    "accounts/logout/": {"GET": EVERYBODY},
    "accounts/password/": {"GET": SIGNED_IN},
    "accounts/second-factor/": {"GET": SIGNED_IN},
    "accounts/second-factor/show/": {"GET": SIGNED_IN},
    "accounts/second-factor/confirm/": {"GET": SIGNED_IN},
    "accounts/second-factor/app/": {"GET": SIGNED_IN},  # asks for the password first
    "accounts/second-factor/app/remove/": {"GET": "/acrohfts"},  # nobody has one
    "accounts/second-factor/passkey/": {"GET": SIGNED_IN},
    "accounts/second-factor/passkeys/<int:pk>/remove/": {"GET": SIGNED_IN},
    "accounts/second-factor/codes/": {"GET": "/acrohfts"},
    "accounts/second-factor/codes/renew/": {"GET": SIGNED_IN},
    "admin/": {"GET": STAFF},
    "admin/roles/": {"GET": STAFF},
    "admin/login/": {"GET": SIGNED_IN},
    "admin/logout/": {"POST": EVERYBODY},
    "admin/password_change/": {"GET": STAFF},
    "admin/password_change/done/": {"GET": STAFF},
    "admin/autocomplete/": {"GET": ""},  # opens for a field that the page offers; see its tests
    "admin/jsi18n/": {"GET": STAFF},
    "admin/^(?P<app_label>audit|tenants|identity|onboarding|provisioning|factors|documents|answers"
    "|evaluation)/$": {"GET": STAFF},
    "admin/(?P<url>.*)$": {"GET": f"/{STAFF}"},
    "admin/audit/auditrecord/verify/": {"POST": "ots"},
    "admin/documents/document/<path:object_id>/versions.json": {"GET": "oht/rfs"},
    "admin/documents/document/<path:object_id>/versions/<int:number>/changes/": {"GET": "oht/rfs"},
    "admin/documents/document/<path:object_id>/versions/<int:number>/<str:what>/": {
        "POST": "ht/rofs",
    },
    "admin/documents/inventoryentry/export.csv": {"GET": "ohfts"},
    "admin/documents/document/<path:object_id>/readers/": {"GET": "oht/rfs"},
    "admin/documents/document/readable-by/<uuid:user_id>/": {"GET": "ohft/rs"},
    "admin/answers/answer/<path:object_id>/explanation/": {"GET": "ot/rhfs"},
    "admin/tenants/apitoken/<path:object_id>/revoke/": {"POST": "t/rohfs"},
    "admin/evaluation/evalcase/import/": {"GET": "rts", "POST": "rts"},
    "admin/evaluation/evalcase/export.<str:kind>": {"GET": "rts"},
    "admin/evaluation/evalcase/<path:object_id>/move-to-<str:state>/": {"POST": "rt/ohfs"},
    "admin/evaluation/personadiff/<path:object_id>/report.pdf": {"GET": "rot/hfs"},
    "admin/evaluation/weeklyreport/<path:object_id>/report.pdf": {"GET": "ot/rhfs"},
    "admin/evaluation/weeklyreport/<path:object_id>/sign/": {"POST": "ot/rhfs"},
    "admin/evaluation/goal/export.csv": {"GET": "rots"},
    "admin/evaluation/spotcheck/judge/<uuid:item_id>/": {"GET": "r/s"},
    "admin/evaluation/evalrun/<path:object_id>/cancel/": {"POST": "rt/ohfs"},
    "admin/evaluation/evalrun/<path:object_id>/results.<str:kind>": {"GET": "rt/ohfs"},
    "admin/identity/identityprovider/<path:object_id>/switch-<str:way>/": {"POST": "t/rohfs"},
    "admin/provisioning/scimtoken/<path:object_id>/revoke/": {"POST": "t/rohfs"},
    "admin/identity/emaildomain/<path:object_id>/prove/": {"POST": "t/rohfs"},
}
# Whoever can run a command is the operator. "tenant": acts in the one that --tenant names, and
# refuses without; "object": finds the tenant by the person or object; "all": concerns every tenant.
COMMANDS: dict[str, str] = {
    "add_to_group": "object",
    "allow_link": "object",
    "ask": "object",
    "configurations": "tenant",
    "compliance_report": "tenant",
    "create_group": "tenant",
    "export_cases": "tenant",
    "import_cases": "tenant",
    "create_tenant": "all",
    "create_user": "tenant",
    "delete_document": "object",
    "deletion_drill": "all",
    "dispatch_outbox": "all",
    "explain_answer": "object",
    "find_duplicates": "tenant",
    "gates": "tenant",
    "generations": "tenant",
    "grant": "object",
    "ingest": "tenant",
    "inventory": "tenant",
    "invite": "tenant",
    "issue_token": "object",
    "load_demo": "all",
    "pilot": "tenant",
    "purge": "tenant",
    "reindex": "tenant",
    "remove_from_group": "object",
    "reset_factors": "object",
    "reseal_secrets": "all",
    "revoke": "object",
    "run_evaluation": "tenant",
    "sample_answers": "tenant",
    "set_life_cycle": "object",
    "set_policy": "tenant",
    "set_retention": "tenant",
    "verify_audit": "all",
}
# What runs in the background, with the tenant it is given or finds.
TASKS = {
    "documents.tasks.ingest_version",
    "documents.tasks.build_generation",
    "answers.tasks.compare_in_shadow",
    "evaluation.tasks.ask_personas",
    "evaluation.tasks.carry_out_run",
    "tenants.tasks.send_invitation",
    "tenants.tasks.send_recovery",
}
SWEEPS = {
    "answers.abandoned.end_abandoned_everywhere",
    "answers.sampling.sample_everywhere",
    "documents.retention.purge_everywhere",
    "evaluation.reports.weekly.make_reports_everywhere",
    "evaluation.runs.running.resume_runs_everywhere",
    "evaluation.canary.watch_canaries_everywhere",
}
