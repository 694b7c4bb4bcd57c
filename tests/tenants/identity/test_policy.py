"""Providers are tried before use, secrets are kept unreadable, and nobody locks everybody out."""

import threading

import dns.message
import dns.rrset
import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import IntegrityError, connection
from django.test import Client

from tenants.identity import services as identity
from tenants.identity.models import EmailDomain, IdentityProvider, SignInPolicy
from tenants.identity.secrets import SecretUnreadable, unseal
from tenants.models import Role
from tests.bank import PASSWORD


def password_sign_in(user, client=None):
    return (client or Client()).post(
        "/accounts/login/", {"login": user.email, "password": PASSWORD}
    )


def test_a_provider_is_used_only_after_a_trial_of_what_it_is_now(sign_in):
    with sign_in.bank.scope():
        sign_in.provider.scopes = "openid"
        identity.save_provider(provider=sign_in.provider, actor=sign_in.admin)
        with pytest.raises(ValidationError, match="Try it first"):
            identity.switch_provider(provider=sign_in.provider, on=True, actor=sign_in.admin)
        with pytest.raises(IntegrityError):
            IdentityProvider.objects.filter(pk=sign_in.provider.pk).update(state="on")


def test_an_issuer_stays_once_people_sign_in_through_it_also_in_sql(sign_in, raw_sql):
    sign_in.sign_in()
    with sign_in.bank.scope():
        sign_in.provider.issuer = "https://elsewhere.example"
        with pytest.raises(ValidationError):
            identity.save_provider(provider=sign_in.provider, actor=sign_in.admin)
    with pytest.raises(Exception, match="issuer stays"):
        raw_sql.execute(
            "UPDATE identity_identityprovider SET issuer = 'https://x' WHERE id = %s",
            [sign_in.provider.pk],
        )
    with pytest.raises(Exception, match="does not change"):
        raw_sql.execute(
            "UPDATE identity_externalidentity SET user_id = %s WHERE provider_id = %s",
            [sign_in.admin.pk, sign_in.provider.pk],
        )


def test_a_client_secret_is_stored_encrypted_and_moves_to_a_new_key(sign_in, settings):
    def stored():
        with sign_in.bank.scope():
            return IdentityProvider.objects.get(pk=sign_in.provider.pk).client_secret

    first = stored()
    assert "secret" not in first
    old_keys = settings.SECRET_STORE_KEYS
    new = Fernet.generate_key().decode()
    settings.SECRET_STORE_KEYS = [new, *old_keys]
    with sign_in.bank.scope():
        assert identity.reseal_secrets() == 1
    settings.SECRET_STORE_KEYS = [new]
    assert unseal(stored()) == sign_in.oidc.client_secret
    with pytest.raises(SecretUnreadable):
        unseal(first)
    settings.SECRET_STORE_KEYS = []
    with pytest.raises(ImproperlyConfigured, match="PRECEPT_SECRET_STORE_KEYS"):
        unseal(first)


def test_a_sign_in_whose_secret_cannot_be_read_is_refused_in_plain_words(sign_in, settings):
    settings.SECRET_STORE_KEYS = [Fernet.generate_key().decode()]
    answer = sign_in.sign_in()
    assert answer.status_code == 403
    assert "not set up correctly" in answer.content.decode()


def test_passwords_can_be_switched_off_and_the_emergency_account_still_opens(sign_in):
    spare = sign_in.bank.person("spare", roles=[Role.TENANT_ADMIN])
    with sign_in.bank.scope():
        identity.set_sign_in_policy(
            passwords=False, break_glass=spare, reason="Single sign-on only", actor=sign_in.admin
        )
    assert password_sign_in(sign_in.admin).status_code == 200  # the form again
    assert password_sign_in(spare).status_code == 302
    assert sign_in.audit("sign_in.refused") == [{"how": "password", "code": "passwords_off"}]
    assert sign_in.audit("sign_in.succeeded") == [{"how": "break_glass"}]


def test_passwords_stay_while_no_administrator_could_come_in_another_way(sign_in):
    with sign_in.bank.scope():
        with pytest.raises(ValidationError, match="nobody could undo"):
            identity.set_sign_in_policy(
                passwords=False, break_glass=None, reason="x", actor=sign_in.admin
            )
        identity.allow_link(user=sign_in.admin, provider=sign_in.provider)
        sign_in.admin.email = f"admin@{sign_in.domain}"
        sign_in.admin.save(update_fields=["email"])
    sign_in.sign_in(sub="admin")
    with sign_in.bank.scope():
        assert identity.set_sign_in_policy(
            passwords=False, break_glass=None, reason="x", actor=sign_in.admin
        )
        with pytest.raises(ValidationError, match="Allow passwords first"):
            identity.switch_provider(provider=sign_in.provider, on=False, actor=sign_in.admin)
        assert not SignInPolicy.objects.get().passwords


def test_wrong_and_right_passwords_are_recorded(bank):
    person = bank.person("somebody")
    Client().post("/accounts/login/", {"login": person.email, "password": "wrong"})
    assert password_sign_in(person).status_code == 302
    from audit.models import AuditRecord

    with bank.scope():
        recorded = AuditRecord.objects.filter(action__startswith="sign_in.").order_by("seq")
        assert [(row.action, row.facts) for row in recorded] == [
            ("sign_in.refused", {"how": "password", "code": "password"}),
            ("sign_in.succeeded", {"how": "password"}),
        ]


class FakeDns(threading.Thread):
    """A name server on loopback that knows some TXT records."""

    def __init__(self, records: dict[str, str]):
        import socket

        super().__init__(daemon=True)
        self.records = records
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"

    def run(self):
        while True:
            try:
                data, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            query = dns.message.from_wire(data)
            reply = dns.message.make_response(query)
            name = query.question[0].name
            if text := self.records.get(str(name).rstrip(".")):
                reply.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", f'"{text}"'))
            self.socket.sendto(reply.to_wire(), peer)


@pytest.fixture
def name_server(settings):
    server = FakeDns({})
    server.start()
    settings.DNS_SERVER = server.address
    yield server
    server.socket.close()


def test_a_domain_is_proven_by_a_record_that_only_its_owner_can_publish(bank, name_server, unique):
    with bank.scope():
        row = identity.name_domain(domain=f"{unique}.Example.")
        assert row.domain == f"{unique}.example"
        assert not identity.prove_domain(row=row)
        name_server.records[f"_precept-proof.{row.domain}"] = "precept=something else"
        assert not identity.prove_domain(row=row)
        name_server.records[f"_precept-proof.{row.domain}"] = f"precept={row.proof}"
        assert identity.prove_domain(row=row)
        assert EmailDomain.objects.get().proven_at


def test_a_domain_belongs_to_one_tenant_whoever_proves_it_second(
    bank, other_bank, name_server, unique
):
    domain = f"{unique}.example"
    for tenant, refused in ((bank, False), (other_bank, True)):
        with tenant.scope():
            row = identity.name_domain(domain=domain)
            name_server.records[f"_precept-proof.{domain}"] = f"precept={row.proof}"
            if refused:
                with pytest.raises(ValidationError, match="cannot be used here"):
                    identity.prove_domain(row=row)
            else:
                assert identity.prove_domain(row=row)


@pytest.mark.parametrize(
    "name", ["", "bank", "emma@bank.example", "-a.example", "a b.example", "."]
)
def test_what_is_no_domain_is_refused(bank, name):
    with bank.scope(), pytest.raises(ValidationError, match="without @"):
        identity.name_domain(domain=name)


def test_other_tenants_providers_cannot_be_seen(sign_in, other_bank):
    with other_bank.scope():
        assert not IdentityProvider.objects.exists()
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM identity_identityprovider")
            assert cursor.fetchone() == (0,)
