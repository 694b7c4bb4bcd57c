"""Sign-in, sign-out and one's own password; and what every page for people shares."""

from collections.abc import Callable
from functools import wraps

from allauth.account.views import LoginView, LogoutView, PasswordChangeView
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from .selectors import NotFound

View = Callable[..., HttpResponseBase]


def personal_page(view: View) -> View:
    """A page for the signed-in person: kept by no cache, and what is not theirs is not there."""

    @wraps(view)
    def page(request: HttpRequest, **kwargs: object) -> HttpResponseBase:
        try:
            return view(request, **kwargs)
        except NotFound:
            raise Http404 from None

    return never_cache(login_required(page))


class SignInView(LoginView):
    template_name = "account/login.html"


@method_decorator(never_cache, name="dispatch")
class SignOutView(LogoutView):
    template_name = "account/logout.html"


@method_decorator(never_cache, name="dispatch")
class ChangePasswordView(PasswordChangeView):
    template_name = "account/password_change.html"

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        # Whoever signs in through an identity provider has no password here to change.
        if request.user.is_authenticated and not request.user.has_usable_password():
            raise Http404
        return super().dispatch(request, *args, **kwargs)
