"""An invitation makes one account, with its role and no other, and only while its sender may invite."""

import io
import json
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from audit.models import AuditRecord
from tenants import services as people
from tenants.identity.models import SignInPolicy
from tenants.models import Role, User
from tenants.onboarding import services
from tenants.onboarding.models import Invitation
from tenants.selectors import roles_of, token_digest
from tests.admin_pages import add_to, list_of, said, signed_in

PASSWORD = "a password of one's own"


@pytest.fixture
def admin(bank):
    return bank.person("admin", roles=[Role.TENANT_ADMIN])


def address(bank, name: str = "new") -> str:
    return f"{name}@{bank.tenant.slug}.example"


def invite(bank, actor=None, role=Role.REVIEWER, **more) -> Invitation:
    with bank.scope():
        return services.invite(email=address(bank), role=role, actor=actor, **more)


def accept(link: str, client: Client | None = None, **given):
    form = {"name": "Noor", "password": PASSWORD, "again": PASSWORD, **given}
    return (client or Client()).post(link, form)


def actions(bank) -> list[str]:
    with bank.scope():
        return list(
            AuditRecord.objects.filter(action__startswith="invitation.")
            .order_by("seq")
            .values_list("action", flat=True)
        )


def test_an_operator_makes_a_tenant_whose_first_administrator_arrives_by_e_mail(bank, post):
    email, slug = address(bank, "first"), f"{bank.tenant.slug}-new"
    out = io.StringIO()
    call_command(
        "create_tenant", slug, "--name", "New Bank", "--invite", email, "--json", stdout=out
    )
    assert set(json.loads(out.getvalue())) == {"tenantId", "slug"}
    client = Client()
    link = post(email)
    page = client.get(link)
    assert "New Bank" in page.content.decode()
    assert email in page.content.decode()
    arrived = accept(link, client)
    assert (arrived.status_code, arrived.url) == (302, "/admin/")
    assert "New Bank" in client.get("/").content.decode()
    assert client.get(list_of("tenants_user")).status_code == 200


def test_a_link_works_once_and_only_its_digest_is_kept(bank, admin, post):
    invitation = invite(bank, admin)
    link = post(invitation.email)
    token = link.split("/")[2]
    with bank.scope():
        row = Invitation.objects.get()
        assert row.digest == token_digest(token)
        assert token not in str(Invitation.objects.values().get())
    assert Client().get(link).status_code == 200  # a mail filter that looks uses nothing up
    assert accept(link).status_code == 302
    assert accept(link).status_code == 404
    assert Client().get(link).status_code == 404
    assert actions(bank) == ["invitation.made", "invitation.sent", "invitation.accepted"]
    with bank.scope():
        assert User.objects.filter(email=invitation.email).count() == 1


def test_what_is_posted_gives_no_other_role_or_address(bank, admin, post):
    invitation = invite(bank, admin, role=Role.EMPLOYEE)
    accept(post(invitation.email), role="tenant_admin", email="other@bank.example")
    with bank.scope():
        user = User.objects.get(email=invitation.email)
        assert roles_of(user) == {Role.EMPLOYEE}
        assert not User.objects.filter(email="other@bank.example").exists()


@pytest.mark.parametrize(
    "why", ["expired", "withdrawn", "renewed", "passwords off", "inviter gone"]
)
def test_a_link_stops_working(bank, admin, post, why):
    invitation = invite(bank, admin)
    link = post(invitation.email)
    with bank.scope():
        if why == "expired":
            Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        elif why == "withdrawn":
            assert services.withdraw_invitation(invitation=invitation, actor=admin)
        elif why == "renewed":
            assert services.invite_again(invitation=invitation, actor=admin)
        elif why == "passwords off":
            SignInPolicy.objects.create(passwords=False)
        else:
            people.set_roles(user=admin, roles=[])
    assert accept(link).status_code == 404
    if why == "renewed":
        assert accept(post(invitation.email)).status_code == 302
    with bank.scope():
        assert User.objects.filter(email=invitation.email).exists() == (why == "renewed")


def test_a_weak_password_leaves_the_link_as_it_was(bank, admin, post):
    link = post(invite(bank, admin).email)
    assert "too short" in accept(link, password="short", again="short").content.decode()
    assert "differ" in accept(link, again="another password").content.decode()
    assert accept(link).status_code == 302


def test_only_a_tenant_administrator_invites(bank, post):
    for role in (Role.AUDITOR, (Role.DEPARTMENT_ADMIN, "Human Resources")):
        with pytest.raises(PermissionDenied):
            invite(bank, bank.person(roles=[role]))
    assert post(address(bank)) is None


def test_nobody_raises_their_own_rights(bank, admin):
    with bank.scope():
        with pytest.raises(ValidationError, match="give yourself"):
            people.set_roles(
                user=admin, roles=[(Role.TENANT_ADMIN, None), (Role.REVIEWER, None)], actor=admin
            )
        auditor = bank.person("auditor", roles=[Role.AUDITOR])
        with pytest.raises(PermissionDenied):
            people.set_roles(user=auditor, roles=[(Role.TENANT_ADMIN, None)], actor=auditor)
        assert roles_of(admin) == {Role.EMPLOYEE, Role.TENANT_ADMIN}


def test_a_taken_address_is_refused_alike_here_and_elsewhere(bank, other_bank, post):
    taken = [bank.person("here").email, other_bank.person("elsewhere").email]
    refused = []
    for email in taken:
        with bank.scope(), pytest.raises(ValidationError) as no:
            services.invite(email=email, role=Role.EMPLOYEE)
        refused.append(no.value.messages[0].replace(email, "E-MAIL"))
    assert refused[0] == refused[1]


def test_the_database_keeps_an_invitation_as_it_was(bank, admin, post, raw_sql):
    invitation = invite(bank, admin)
    with bank.scope(), pytest.raises(ValidationError, match="invited already"):
        services.invite(email=invitation.email.upper(), role=Role.EMPLOYEE)
    with pytest.raises(Exception, match="stays what it was"):
        raw_sql.execute(
            "UPDATE onboarding_invitation SET role = 'tenant_admin' WHERE id = %s", [invitation.pk]
        )
    accept(post(invitation.email))
    with bank.scope(), pytest.raises(IntegrityError, match="stays what it was"):
        Invitation.objects.update(accepted_at=None)


def test_an_administrator_invites_sends_again_and_withdraws_on_a_page(bank, admin, post):
    client = signed_in(bank, admin)
    email = address(bank)
    answer = client.post(
        add_to("onboarding_invitation"), {"email": email, "role": "auditor"}, follow=True
    )
    assert "on its way" in said(answer)
    first = post(email)
    row = {"_selected_action": str(_only(bank).pk)}
    client.post(list_of("onboarding_invitation"), {"action": "invite_again", **row})
    second = post(email)
    assert first != second
    client.post(list_of("onboarding_invitation"), {"action": "withdraw", **row})
    assert accept(second).status_code == 404
    assert "withdrawn" in client.get(list_of("onboarding_invitation")).content.decode()


def _only(bank) -> Invitation:
    with bank.scope():
        return Invitation.objects.get()


@pytest.mark.parametrize("why", ["no e-mail", "taken address"])
def test_a_tenant_is_not_made_without_its_invitation(bank, admin, settings, why):
    settings.EMAIL_IS_ON = why != "no e-mail"
    slug = f"{bank.tenant.slug}-x"
    with pytest.raises(CommandError, match=r"PRECEPT_EMAIL_URL|cannot be created"):
        call_command("create_tenant", slug, "--name", "X", "--invite", admin.email)
    with pytest.raises(CommandError, match="no tenant"):
        call_command("invite", "a@b.example", "--tenant", slug)


def test_who_is_signed_in_elsewhere_is_asked_to_sign_out_first(bank, other_bank, admin, post):
    link = post(invite(bank, admin).email)
    client = signed_in(other_bank, other_bank.person())
    assert client.get(link, follow=True).redirect_chain[-1][0] == "/"
    assert accept(link, client).status_code == 302
    with bank.scope():
        assert not User.objects.filter(email=address(bank)).exists()
