"""Administration of sign-in: providers and what their groups mean, domains, and passwords."""

import hashlib
import json

from django import forms
from django.contrib import admin, messages
from django.http import Http404
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from tenants.admin_base import (
    PreceptForm,
    PreceptInline,
    PreceptModelAdmin,
    Refused,
    added_and_removed,
    refusals,
)
from tenants.admin_pages import OneRowAdmin
from tenants.models import Group, Role, RoleAssignment, User

from . import services
from .domains import record_to_publish
from .mapping import Difference, foresee
from .models import EmailDomain, GroupRule, IdentityProvider, Protocol, SignInPolicy
from .selectors import policy

_CONFIRMED = "foreseen"


class Unconfirmed(Exception):
    """Rules would change what people have, and nobody has seen yet for whom. Nothing was written."""

    def __init__(self, differences: list[Difference], digest: str):
        super().__init__(digest)
        self.differences = differences
        self.digest = digest


class ProviderForm(PreceptForm):
    new_secret = forms.CharField(
        label="Client secret",
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown again. Empty keeps the one that is stored.",
    )

    metadata_address = forms.CharField(
        label="Address of the metadata",
        required=False,
        max_length=500,
        help_text="Fetched once, when you save. Enter it again to fetch it again, or leave it empty "
        "and enter the metadata below.",
    )

    class Meta:
        help_texts = {
            "protocol": "Cannot be changed later.",
            "issuer": "Its address, to which /.well-known/openid-configuration belongs.",
            "scopes": "Separated by spaces. Some providers tell groups only when asked for them here.",
            "groups_claim": "The claim or attribute that carries groups, such as groups or roles.",
            "saml_metadata": "The provider's EntityDescriptor, as XML.",
            "email_attribute": "The full name of the attribute that carries the e-mail address.",
            "name_attribute": "The full name of the attribute that carries the person's name.",
        }


class RuleInline(PreceptInline):
    model = GroupRule
    fields = ["value", "group", "role", "department"]
    verbose_name_plural = "what its groups mean here"
    extra = 1

    def choices_for(self, request, field_name):
        return Group.objects.filter(built_in=False) if field_name == "group" else None

    def has_add_permission(self, request, obj=None) -> bool:
        return obj is not None and super().has_add_permission(request, obj)


@admin.register(IdentityProvider)
class IdentityProviderAdmin(PreceptModelAdmin):
    view_roles = change_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "Sign-in", 30
    plural, add_label = "Identity providers", "Add a provider"
    summary = "Let people sign in where they do already, and bring their groups along."
    empty_text = "No provider yet: people sign in with a password."
    stays_on_page = True
    form = ProviderForm
    list_display = ["name", "protocol", "issuer", "state", "tried_at"]
    inlines = [RuleInline]
    change_form_template = "admin/identity/identityprovider/change_form.html"

    def get_fieldsets(self, request, obj=None):
        """For a new one both protocols, then the one that was chosen."""
        self._here = request.build_absolute_uri
        oidc = ["issuer", "client_id", "new_secret", "scopes", "callback_address"]
        saml = ["metadata_address", "saml_metadata", "email_attribute", "name_attribute"]
        saml += ["confirms_addresses"]
        if obj is not None:
            saml = ["issuer", *saml, "our_metadata", "answer_address"]
        parts = {Protocol.OIDC: oidc, Protocol.SAML: saml}
        return [
            (None, {"fields": ["name", "protocol", "groups_claim", "creates_accounts"]}),
            *(
                (protocol.label, {"fields": fields})
                for protocol, fields in parts.items()
                if obj is None or obj.protocol == protocol
            ),
            *([(None, {"fields": ["state", "tried_at"]})] if obj else []),
        ]

    def get_readonly_fields(self, request, obj=None):
        shown = ["callback_address", "our_metadata", "answer_address", "state", "tried_at"]
        if obj is None:
            return shown
        return [*shown, "protocol", *(["issuer"] if obj.protocol == Protocol.SAML else [])]

    def get_inlines(self, request, obj):
        return self.inlines if obj else []  # rules need a provider to be of

    @admin.display(description="redirect URI to register there")
    def callback_address(self, provider: IdentityProvider) -> str:
        return self._here(reverse("sign_in_callback"))

    @admin.display(description="our metadata, and our entity ID")
    def our_metadata(self, provider: IdentityProvider) -> str:
        return self._here(reverse("sign_in_saml_metadata", args=[provider.pk]))

    @admin.display(description="address for answers (ACS)")
    def answer_address(self, provider: IdentityProvider) -> str:
        return self._here(reverse("sign_in_saml_answer", args=[provider.pk]))

    def get_urls(self):
        view = self.admin_site.admin_view(self.switch_view)
        return [
            path(
                "<path:object_id>/switch-<str:way>/", view, name="identity_identityprovider_switch"
            ),
            *super().get_urls(),
        ]

    def switch_view(self, request, object_id, way):
        provider = self.get_object(request, object_id)
        if provider is None or request.method != "POST" or way not in ("on", "off"):
            raise Http404
        try:
            with refusals():
                changed = services.switch_provider(
                    provider=provider, on=way == "on", actor=request.user
                )
        except Refused as refused:
            messages.error(request, " ".join(refused.error.messages))
        else:
            say = messages.success if changed else messages.info
            say(request, f"“{provider}” is {'now' if changed else 'already'} switched {way}.")
        return redirect("admin:identity_identityprovider_change", provider.pk)

    def changeform_view(self, request, object_id=None, form_url="", extra_context=None):
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Unconfirmed as asked:
            return self._confirmation(request, object_id, asked)

    def _confirmation(self, request, object_id: str, asked: Unconfirmed) -> TemplateResponse:
        kept = [
            (name, value)
            for name in request.POST
            if name not in ("csrfmiddlewaretoken", _CONFIRMED)
            for value in request.POST.getlist(name)
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": "Who gains and who loses",
            "opts": self.opts,
            "page_name": self.page_name,
            "provider": IdentityProvider.objects.get(pk=object_id),
            "differences": asked.differences,
            "gaining": sum(bool(one.gains) for one in asked.differences),
            "losing": sum(bool(one.loses) for one in asked.differences),
            "kept": kept,
            "confirmed": _CONFIRMED,
            "digest": asked.digest,
        }
        return TemplateResponse(
            request, "admin/identity/identityprovider/confirm_rules.html", context
        )

    def write(self, request, form, formsets, change):
        done, secret = [], form.cleaned_data["new_secret"]
        if not change or form.changed_data:
            services.save_provider(
                provider=form.instance,
                client_secret=secret,
                metadata_address=form.cleaned_data["metadata_address"].strip(),
                actor=request.user,
            )
            done.append(f"“{form.instance}” was saved. Try it before you switch it on.")
        for formset in formsets:
            rows, removed = added_and_removed(formset)
            if rows or removed:
                done.append(self._change_rules(request, form.instance, rows, removed))
        return done

    def _change_rules(self, request, provider, rows: list[dict], removed: list) -> str:
        add = [
            GroupRule(**{k: v for k, v in row.items() if k in RuleInline.fields}) for row in rows
        ]
        kept = provider.rules.exclude(pk__in=[rule.pk for rule in removed])
        differences = foresee(provider, [*kept, *add])
        said = [[str(one.user.pk), one.gains, one.loses] for one in differences]
        digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()
        if differences and request.POST.get(_CONFIRMED) != digest:
            raise Unconfirmed(differences, digest)
        changed = services.set_rules(provider=provider, add=add, remove=removed, actor=request.user)
        return f"The rules were changed; {changed} people have other groups or roles now."


class DomainForm(PreceptForm):
    class Meta:
        labels = {"provider": "People of it sign in through"}


@admin.register(EmailDomain)
class EmailDomainAdmin(PreceptModelAdmin):
    view_roles = change_roles = add_roles = delete_roles = (Role.TENANT_ADMIN,)
    section, order = "Sign-in", 31
    plural, add_label = "E-mail domains", "Add a domain"
    summary = "Whose addresses lead to which provider, once you have shown that they are yours."
    empty_text = "No domain yet. Add one, so that people find their sign-in by their address."
    deletion_warning = "People with addresses of this domain no longer find their sign-in by it."
    stays_on_page = True
    form = DomainForm
    list_display = ["domain", "is_proven", "provider"]
    change_form_template = "admin/identity/emaildomain/change_form.html"

    def get_fields(self, request, obj=None):
        return ["domain", "provider"] if obj is None else ["domain", "provider", "txt", "proven_at"]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else ["domain", "txt", "proven_at"]

    @admin.display(boolean=True, description="proven")
    def is_proven(self, row: EmailDomain) -> bool:
        return row.proven_at is not None

    @admin.display(description="TXT record to publish")
    def txt(self, row: EmailDomain) -> str:
        return " ".join(record_to_publish(row.domain, row.proof))

    def get_urls(self):
        view = self.admin_site.admin_view(self.prove_view)
        return [
            path("<path:object_id>/prove/", view, name="identity_emaildomain_prove"),
            *super().get_urls(),
        ]

    def prove_view(self, request, object_id):
        row = self.get_object(request, object_id)
        if row is None or request.method != "POST":
            raise Http404
        try:
            with refusals():
                proven = services.prove_domain(row=row, actor=request.user)
        except Refused as refused:
            messages.error(request, " ".join(refused.error.messages))
        else:
            if proven:
                messages.success(request, f"{row} is proven.")
            else:
                messages.warning(
                    request,
                    "The record is not there yet. What was just published can take an hour to be seen.",
                )
        return redirect("admin:identity_emaildomain_change", row.pk)

    def write(self, request, form, formsets, change):
        provider = form.cleaned_data["provider"]
        if not change:
            row = services.name_domain(
                domain=form.cleaned_data["domain"], provider=provider, actor=request.user
            )
            form.instance.pk = row.pk
            return [f"{row} was added. Publish the record below, then check it."]
        row = EmailDomain.objects.get(pk=form.instance.pk)
        if row.provider == provider:
            return []
        services.send_domain_to(row=row, provider=provider, actor=request.user)
        return [
            f"People of {row} are sent to “{provider}”." if provider else f"{row} leads nowhere."
        ]

    def erase(self, request, obj):
        services.forget_domain(row=obj, actor=request.user)


class PolicyForm(PreceptForm):
    reason = forms.CharField(
        label="Reason for the change",
        required=False,
        max_length=300,
        help_text="Kept in the audit record.",
    )

    class Meta:
        labels = {"break_glass": "Emergency account"}
        help_texts = {
            "break_glass": "An administrator who can always use a password. Each use is recorded."
        }


@admin.register(SignInPolicy)
class SignInPolicyAdmin(OneRowAdmin):
    view_roles = change_roles = (Role.TENANT_ADMIN,)
    section, order = "Sign-in", 32
    plural = "Passwords"
    summary = "Whether passwords may be used, and the emergency account."
    stays_on_page = True
    form = PolicyForm
    fields = ["passwords", "break_glass", "reason"]

    def choices_for(self, request, field_name):
        holders = RoleAssignment.objects.filter(role=Role.TENANT_ADMIN).values("user")
        return User.objects.filter(pk__in=holders, is_active=True)

    def the_row(self) -> SignInPolicy:
        return policy()

    def write(self, request, form, formsets, change):
        given = form.cleaned_data
        changed = services.set_sign_in_policy(
            passwords=given["passwords"],
            break_glass=given["break_glass"],
            reason=given["reason"],
            actor=request.user,
        )
        return ["How people may sign in was changed."] if changed else []
