"""Keys are stored as hashes, have one role, and expire."""

import hashlib
import re

import pytest

from eddi.service.web.api_keys import (
    MAX_GUESSES,
    PUBLISHERS,
    GuessLimit,
    HolderError,
    Key,
    KeyForbiddenError,
    KeyMissingError,
    KeyNotFoundError,
    Keys,
    Role,
    TooManyGuessesError,
)
from eddi.store.memory import MemoryStore

ALL = frozenset(Role)


@pytest.fixture
def keys():
    return Keys(MemoryStore())


def name_of(text):
    return text.split("_")[1]


def test_a_key_is_valid_for_its_role(keys):
    text = keys.issue(Role.RESPONDENT, days=1)
    keys.check(text, ALL)
    keys.check(text, frozenset({Role.RESPONDENT}))
    with pytest.raises(
        KeyForbiddenError,
        match="needs a key with the role analyst or operator; yours has the role respondent",
    ):
        keys.check(text, frozenset({Role.ANALYST, Role.OPERATOR}))


def test_only_the_hash_is_stored(keys):
    text = keys.issue(Role.OPERATOR, days=1)
    secret = text.split("_", 2)[2]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", secret)
    [event] = keys.store.read(f"key/{name_of(text)}")
    assert secret not in str(event)
    assert event.facts["sha256"] == hashlib.sha256(secret.encode()).hexdigest()


def test_all_keys_are_different(keys):
    assert len({keys.issue(Role.ANALYST, days=1) for _ in range(50)}) == 50


def test_a_key_is_invalid_once_it_has_expired_or_was_revoked(keys):
    with pytest.raises(KeyMissingError, match="neither expired nor revoked"):
        keys.check(keys.issue(Role.ANALYST, days=0), ALL)
    text = keys.issue(Role.ANALYST, days=1)
    keys.revoke(name_of(text))
    with pytest.raises(KeyMissingError):
        keys.check(text, ALL)


@pytest.mark.parametrize("change", [str.upper, lambda text: text[:-1], lambda text: text[:-1] + "~"])
def test_a_key_must_match_exactly(keys, change):
    text = keys.issue(Role.ANALYST, days=1)
    with pytest.raises(KeyMissingError):
        keys.check(change(text), ALL)


@pytest.mark.parametrize("text", ["", "secret", "eddi__", "eddi_" + "0" * 12 + "_" + "A" * 43])
def test_text_that_is_not_a_key_is_refused(keys, text):
    keys.issue(Role.ANALYST, days=1)
    with pytest.raises(KeyMissingError, match="Authorization: Bearer"):
        keys.check(text, ALL)


def test_the_secret_of_another_key_is_refused(keys):
    first, second = (keys.issue(Role.ANALYST, days=1) for _ in range(2))
    mixed = f"eddi_{name_of(first)}_{second.split('_', 2)[2]}"
    with pytest.raises(KeyMissingError):
        keys.check(mixed, ALL)


def test_only_a_few_wrong_secrets_may_be_tried_per_key(keys):
    first, second = (keys.issue(Role.ANALYST, days=1) for _ in range(2))
    wrong = f"eddi_{name_of(first)}_{'A' * 43}"
    for _ in range(MAX_GUESSES):
        with pytest.raises(KeyMissingError):
            keys.check(wrong, ALL)
    for text in (wrong, first):
        with pytest.raises(TooManyGuessesError, match=r"had a wrong secret\. Try again in 60 seconds"):
            keys.check(text, ALL)
    assert keys.check(second, ALL).name == name_of(second)


def test_a_key_is_accepted_again_after_a_while():
    now = 0.0
    limit = GuessLimit(clock=lambda: now)
    for _ in range(MAX_GUESSES):
        limit.count("a")
    with pytest.raises(TooManyGuessesError):
        limit.check("a")
    now = 60.0
    limit.check("a")


def test_guessing_a_key_is_answered_with_429(serving):
    with serving(keys="required") as client:
        name = name_of(Keys(client.app.state.service.store).issue(Role.OPERATOR, days=1))
        headers = {"Authorization": f"Bearer eddi_{name}_{'A' * 43}"}
        for _ in range(MAX_GUESSES):
            assert client.get("/metrics", headers=headers).status_code == 401
        refused = client.get("/metrics", headers=headers)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")


def test_keys_are_listed_and_revoked_by_name(keys):
    names = {name_of(keys.issue(role, days=1)) for role in Role}
    keys.revoke(min(names))
    listed = list(keys.all())
    assert all(isinstance(key, Key) for key in listed)
    assert {key.name for key in listed} == names
    assert {key.name for key in listed if key.is_revoked} == {min(names)}
    with pytest.raises(KeyNotFoundError, match="there is no key 'nobody'"):
        keys.revoke("nobody")


def test_rotation_replaces_the_secret_and_keeps_the_name(keys):
    old = keys.issue(Role.ANALYST, days=1, holder="Ada")
    before = keys.find(name_of(old))
    new = keys.rotate(name_of(old))
    assert name_of(new) == name_of(old)
    with pytest.raises(KeyMissingError):
        keys.check(old, ALL)
    key = keys.check(new, ALL)
    assert (key.holder, key.role, key.expires) == ("Ada", Role.ANALYST, before.expires)


def test_rotation_can_extend_an_expired_key(keys):
    name = name_of(keys.issue(Role.ANALYST, days=0))
    with pytest.raises(KeyMissingError):
        keys.check(keys.rotate(name), ALL)
    keys.check(keys.rotate(name, days=1), ALL)


def test_a_revoked_key_cannot_be_rotated(keys):
    name = name_of(keys.issue(Role.ANALYST, days=1))
    keys.revoke(name)
    for missing in (name, "nobody"):
        with pytest.raises(KeyNotFoundError, match=f"there is no key '{missing}', or it is revoked"):
            keys.rotate(missing)


def test_a_holder_has_one_key_per_role(keys):
    name = name_of(keys.issue(Role.ANALYST, days=1, holder=" Ada  Lovelace "))
    assert keys.find(name).label == "Ada Lovelace"
    with pytest.raises(HolderError, match=f"already holds the key {name} .*`eddi keys rotate {name}`"):
        keys.issue(Role.ANALYST, days=1, holder="Ada Lovelace")
    keys.issue(Role.OPERATOR, days=1, holder="Ada Lovelace")
    keys.revoke(name)
    keys.issue(Role.ANALYST, days=1, holder="Ada Lovelace")


def test_the_name_of_a_holder_is_short_and_printable(keys):
    for holder in ("x" * 81, "a\x1bb"):
        with pytest.raises(HolderError, match="up to 80 printable characters"):
            keys.issue(Role.ANALYST, days=1, holder=holder)


def test_a_key_without_a_holder_is_called_by_its_name(keys):
    name = name_of(keys.issue(Role.ANALYST, days=1))
    assert keys.find(name).label == name


def test_sign_ins_are_listed_newest_first(keys):
    assert keys.sign_ins("0" * 12) == []
    keys.add_sign_in("0" * 12)
    keys.add_sign_in("0" * 12)
    times = keys.sign_ins("0" * 12)
    assert times == sorted(times, reverse=True)
    assert len(times) == 2


def test_routes_require_keys_with_their_roles(serving):
    with serving(keys="required") as client:
        keys = Keys(client.app.state.service.store)
        bearer = {role: {"Authorization": f"Bearer {keys.issue(role, days=1)}"} for role in Role}
        allowed = {
            ("POST", "/interviews"): PUBLISHERS | {Role.RESPONDENT},
            ("POST", "/ask"): PUBLISHERS | {Role.RESPONDENT},
            ("GET", "/questionnaires"): set(Role),
            ("GET", "/models"): PUBLISHERS | {Role.OPERATOR},
            ("GET", "/tables"): PUBLISHERS | {Role.OPERATOR},
            ("GET", "/jobs"): PUBLISHERS | {Role.OPERATOR},
            ("GET", "/metrics"): {Role.OPERATOR},
        }
        for (method, path), roles in allowed.items():
            json = {} if method == "POST" else None
            refused = client.request(method, path, json=json)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            for role in Role:
                status = client.request(method, path, json=json, headers=bearer[role]).status_code
                assert (status < 300) is (role in roles), (method, path, role, status)
                assert status in (200, 201, 403)
        key = client.post("/interviews", headers=bearer[Role.RESPONDENT]).json()["id"]
        assert client.get(f"/interviews/{key}").status_code == 401
        assert client.delete(f"/interviews/{key}", headers=bearer[Role.OPERATOR]).status_code == 403
        assert "security" in client.get("/openapi.json").json()["paths"]["/ask"]["post"]
        for path in ("/healthz", "/readyz", "/openapi.json"):
            assert client.get(path).status_code == 200
