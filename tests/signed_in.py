"""Django's test client as a signed-in person, without a browser."""

from django.test import Client

from tenants.models import User
from tests.bank import Bank


def signed_in(bank: Bank, user: User) -> Client:
    client = Client()
    with bank.scope():
        client.force_login(user)
    return client
