"""Signing in through an organisation's own provider: where to go, and coming back."""

import time
from uuid import UUID

from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from tenants.scope import tenant_scope
from tenants.selectors import NotFound

from . import oidc, saml, selectors, services
from .arriving import NotLetIn, arrive
from .claims import Claims, Pending, ProviderFailed
from .mapping import given_in_words
from .models import IdentityProvider, Protocol
from .saml_metadata import our_metadata
from .secrets import SecretUnreadable

_SESSION_KEY = "precept_sign_in"
_MINUTES = 10
_MOST_TABS = 5
BACKEND = "tenants.authentication.ProviderBackend"  # the session is not a local account's


@never_cache
@require_http_methods(["GET", "POST"])
def organisation(request: HttpRequest) -> HttpResponse:
    """From an e-mail address to the page that leads to its organisation's sign-in."""
    context = {"next": _next(request), "email": ""}
    if request.method == "POST":
        context["email"] = request.POST.get("email", "").replace("\x00", "")
        provider_id = selectors.provider_of_address(context["email"])
        if provider_id is not None:
            # A page and not a redirect: the policy of the form's page names no other host.
            context["address"] = reverse("sign_in_start", args=[provider_id])
            return render(request, "sign_in/continue.html", context)
        context["unknown"] = True
    return render(request, "sign_in/organisation.html", context)


@never_cache
@require_GET
def start(request: HttpRequest, provider_id: UUID) -> HttpResponse:
    """Leave for the provider."""
    tenant_id = selectors.tenant_of_provider(provider_id)
    if tenant_id is None or request.user.is_authenticated:
        return redirect("ask") if request.user.is_authenticated else _nothing()
    with tenant_scope(tenant_id):
        provider = selectors.provider_in_use(provider_id)
        return _leave(request, provider, next_page=_next(request))


@never_cache
@require_GET
def try_provider(request: HttpRequest, provider_id: UUID) -> HttpResponse:
    """An administrator's trial: shows what comes back and signs nobody in."""
    if not request.user.is_authenticated:
        return redirect("account_login")
    try:
        provider = selectors.provider_to_try(caller=request.user, provider_id=provider_id)
    except NotFound:
        raise Http404 from None
    return _leave(request, provider, is_trial=True)


def _leave(request: HttpRequest, provider: IdentityProvider, **what) -> HttpResponse:
    try:
        if provider.protocol == Protocol.SAML:
            address, state, pending = saml.begin(provider, ours=_ours(request, provider.pk), **what)
        else:
            address, state, pending = oidc.begin(provider, redirect_uri=_callback(request), **what)
    except ProviderFailed as failure:
        return _refused(request, failure.code, str(failure), provider, trial="is_trial" in what)
    waiting = dict(list(request.session.get(_SESSION_KEY, {}).items())[-(_MOST_TABS - 1) :])
    request.session[_SESSION_KEY] = {**waiting, state: pending.to_session()}
    return redirect(address)


@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Back from an OpenID provider."""
    pending = _remembered(request, request.GET.get("state", ""))
    return _come_back(request, pending) if pending else _not_begun(request)


@csrf_exempt  # what the provider has signed names our request, which only this browser's session knows
@never_cache
@require_POST
def saml_answer(request: HttpRequest, provider_id: UUID) -> HttpResponse:
    """Back from a SAML provider, whose page has sent a form here.

    Browsers leave our cookies away from a form of another site. So the form is sent once more, from
    a page of ours, before anything is looked at.
    """
    state = request.POST.get("RelayState", "")
    if state not in request.session.get(_SESSION_KEY, {}) and "again" not in request.POST:
        return render(request, "sign_in/saml_again.html", {"form": request.POST})
    pending = _remembered(request, state)
    if pending is None:
        return _unasked(request, provider_id)
    if pending.provider != str(provider_id):  # begun with one provider, answered by another one
        return _unasked(request, UUID(pending.provider))
    return _come_back(request, pending)


@require_GET
def saml_metadata(request: HttpRequest, provider_id: UUID) -> HttpResponse:
    """What to register at a SAML provider. It depends on nothing but the address, so that it tells
    nobody which providers there are."""
    ours = _ours(request, provider_id)
    return HttpResponse(
        our_metadata(entity_id=ours.entity_id, answers_to=ours.answers_to),
        content_type="application/samlmetadata+xml",
    )


def _remembered(request: HttpRequest, state: str) -> Pending | None:
    """What this browser left with, used up so that nothing works twice. None if there is none."""
    waiting = request.session.get(_SESSION_KEY, {})
    remembered = waiting.pop(state, None)
    request.session[_SESSION_KEY] = waiting
    if remembered is None or time.time() - remembered["began"] > _MINUTES * 60:
        return None
    return Pending(**remembered)


def _not_begun(request: HttpRequest, **context) -> HttpResponse:
    return _page(
        request,
        "This sign-in was not begun here, or took too long. Start again.",
        status=400,
        **context,
    )


def _unasked(request: HttpRequest, provider_id: UUID) -> HttpResponse:
    """An answer without our request, recorded where the provider is in use."""
    tenant_id = selectors.tenant_of_provider(provider_id)
    if tenant_id is None:
        return _not_begun(request)
    with tenant_scope(tenant_id):
        provider = selectors.provider_in_use(provider_id)
        reference = services.record_refusal(
            code="unasked", how=provider.protocol, provider=provider
        )
    return _not_begun(request, reference=reference)


def _come_back(request: HttpRequest, pending: Pending) -> HttpResponse:
    if pending.is_trial:
        return _finish_trial(request, pending)
    if request.user.is_authenticated:
        return redirect("ask")
    tenant_id = selectors.tenant_of_provider(UUID(pending.provider))
    if tenant_id is None:
        return _page(request, "This sign-in has been switched off. Start again.", status=403)
    with tenant_scope(tenant_id):
        provider = selectors.provider_in_use(UUID(pending.provider))
        try:
            user = arrive(provider=provider, claims=_claims(request, provider, pending))
        except (ProviderFailed, NotLetIn) as refusal:
            return _refused(request, refusal.code, str(refusal), provider)
        except SecretUnreadable:
            return _refused(request, "secret", "Sign-in is not set up correctly.", provider)
    request.enter_tenant(tenant_id)
    login(request, user, backend=BACKEND)
    services.record_sign_in(user=user, how=provider.protocol, provider=provider)
    return redirect(pending.next or "ask")


def _finish_trial(request: HttpRequest, pending: Pending) -> HttpResponse:
    if not request.user.is_authenticated:
        return redirect("account_login")
    try:
        provider = selectors.provider_to_try(
            caller=request.user, provider_id=UUID(pending.provider)
        )
    except NotFound:
        raise Http404 from None
    try:
        claims = _claims(request, provider, pending)
    except (ProviderFailed, SecretUnreadable) as failure:
        return _refused(
            request, getattr(failure, "code", "secret"), str(failure), provider, trial=True
        )
    services.note_trial(provider=provider, actor=request.user)
    context = {"provider": provider, "claims": claims, "given": given_in_words(provider, claims)}
    return render(request, "sign_in/tried.html", context)


def _claims(request: HttpRequest, provider: IdentityProvider, pending: Pending) -> Claims:
    if provider.protocol == Protocol.SAML:
        response = request.POST.get("SAMLResponse", "")
        return saml.finish(provider, pending, response=response, ours=_ours(request, provider.pk))
    if "error" in request.GET or "code" not in request.GET:
        raise ProviderFailed("declined", "Your organisation's sign-in was not completed.")
    return oidc.finish(
        provider,
        pending,
        code=request.GET["code"],
        issuer=request.GET.get("iss", ""),
        redirect_uri=_callback(request),
    )


def _refused(
    request: HttpRequest, code: str, sentence: str, provider: IdentityProvider, *, trial=False
) -> HttpResponse:
    reference = services.record_refusal(
        code=code, how="trial" if trial else provider.protocol, provider=provider
    )
    if trial:  # a report of the trial, to who asked for it
        return _page(request, sentence, status=200, reference=reference, trial=provider)
    return _page(request, sentence, reference=reference)


def _page(request: HttpRequest, sentence: str, *, status: int = 403, **context) -> HttpResponse:
    return render(request, "sign_in/refused.html", {"sentence": sentence, **context}, status=status)


def _nothing() -> HttpResponse:
    raise Http404


def _callback(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("sign_in_callback"))


def _ours(request: HttpRequest, provider_id: UUID) -> saml.Ours:
    return saml.Ours(
        *(
            request.build_absolute_uri(reverse(page, args=[provider_id]))
            for page in ("sign_in_saml_metadata", "sign_in_saml_answer")
        )
    )


def _next(request: HttpRequest) -> str:
    """The page of ours to go to afterwards, or empty."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if safe else ""
