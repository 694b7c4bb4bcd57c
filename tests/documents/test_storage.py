"""The object store only creates, and notices what was changed on disk."""

import pytest
from django.conf import settings

from documents import storage
from documents.selectors import version_text


def test_the_same_bytes_have_one_key_and_come_back(bank):
    with bank.scope():
        key = storage.put(b"policy")
        assert storage.put(b"policy") == key
        assert storage.get(key) == b"policy"


def test_a_file_that_was_changed_on_disk_is_not_served(bank):
    document = bank.document()
    with bank.scope():
        version = document.versions.get()
        path = settings.OBJECT_STORE_DIR / version.text_key
        path.chmod(0o600)
        path.write_bytes(b"Annual leave allowance is 99 days.")
        with pytest.raises(storage.ObjectMissing, match="changed on disk"):
            version_text(version)


def test_an_object_of_another_tenant_is_not_there(bank, other_bank):
    with bank.scope():
        key = storage.put(b"secret")
    with other_bank.scope(), pytest.raises(storage.ObjectMissing):
        storage.get(key)


def test_what_is_not_stored_is_a_named_failure(bank):
    with bank.scope(), pytest.raises(storage.ObjectMissing):
        storage.get(f"{bank.tenant.id}/ab/{'ab' * 32}")
