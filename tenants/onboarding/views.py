"""Pages for people who are not signed in yet: an invitation's link, a forgotten password."""

from allauth.core import ratelimit
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlsafe_base64_decode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from tenants.identity.services import record_sign_in
from tenants.models import User
from tenants.selectors import NotFound, current_tenant, tenant_of_user

from . import recovery, selectors, services

BACKEND = "tenants.authentication.EmailBackend"


class AcceptForm(forms.Form):
    name = forms.CharField(label="Your name", max_length=200)
    password = forms.CharField(label="Password", strip=False, max_length=200)
    again = forms.CharField(label="Password again", strip=False, max_length=200)

    def clean(self):
        given = super().clean()
        if given.get("password") != given.get("again"):
            self.add_error("again", "The two passwords differ.")
        return given


@never_cache
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "POST"])
def accept(request: HttpRequest, token: str) -> HttpResponse:
    """Choose a password, and be in. Opening the page uses nothing up: mail filters open links."""
    if request.user.is_authenticated:
        messages.info(request, "You are signed in. Sign out, then open the invitation again.")
        return redirect("ask")
    tenant_id = selectors.tenant_of_invitation(token)
    if tenant_id is None:
        raise Http404
    request.enter_tenant(tenant_id)
    form = AcceptForm(request.POST or None)
    try:
        invitation = selectors.open_invitation(token)
        if request.method == "POST" and form.is_valid():
            given = form.cleaned_data
            user = services.accept_invitation(
                token=token, name=given["name"], password=given["password"]
            )
            login(request, user, backend=BACKEND)
            record_sign_in(user=user, how="invitation")
            return redirect("admin:index" if user.is_staff else "ask")
    except NotFound:
        raise Http404 from None
    except ValidationError as refusal:
        form.add_error(None, refusal)
    context = {"form": form, "invitation": invitation, "tenant": current_tenant()}
    return render(request, "sign_in/invitation.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
def ask_for_new_password(request: HttpRequest) -> HttpResponse:
    """The answer is the same for every address."""
    if request.user.is_authenticated:
        return redirect("ask")
    email = request.POST.get("email", "").replace("\x00", "")[:254]
    asked = request.method == "POST"
    if asked:
        too_many = ratelimit.consume_or_429(request, action="reset_password", key=email.lower())
        if too_many:
            return too_many
        recovery.ask_for_new_password(email=email)
    context = {"asked": asked, "email_is_on": settings.EMAIL_IS_ON}
    return render(request, "account/password_reset.html", context)


class RecoverAccountView(PasswordResetConfirmView):
    """Django's own page behind the link; who it is for is found before the tenant is known."""

    template_name = "account/password_recover.html"

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect("ask")
        return super().dispatch(request, *args, **kwargs)

    def get_user(self, uidb64: str) -> User | None:
        try:
            user_id = urlsafe_base64_decode(uidb64).decode()
        except ValueError:
            return None
        tenant_id = tenant_of_user(user_id)
        if tenant_id is None:
            return None
        self.request.enter_tenant(tenant_id)
        return selectors.person_to_recover(user_id)

    def form_valid(self, form) -> HttpResponse:
        recovery.recover(user=self.user, password=form.cleaned_data["new_password1"])
        del self.request.session[INTERNAL_RESET_SESSION_TOKEN]
        messages.success(self.request, "Your password was changed. Sign in with the new one.")
        return redirect("account_login")
