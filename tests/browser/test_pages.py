"""Every page: on a phone, in the dark, by keyboard, for assistive technology, without scripts."""

import re

import pytest
from playwright.sync_api import expect

from tenants.models import Role
from tenants.services import update_user
from tests.bank import PASSWORD
from tests.browser.conftest import LEAVE_QUESTION
from tests.browser.visitor import PHONE

pytestmark = pytest.mark.browser


def every_page(visitor, reader):
    """Stop at each kind of page in turn, signed out and signed in."""
    visitor.open("/accounts/login/")
    yield "sign-in"
    visitor.sign_in(reader)
    yield "ask"
    visitor.ask("Who painted the ceiling?")
    yield "refused"
    visitor.page.get_by_text("No", exact=True).click()
    yield "feedback"
    visitor.ask(LEAVE_QUESTION)
    yield "answered"
    source = visitor.page.locator(".cite").first.get_attribute("href")
    visitor.page.reload()
    yield "answer"
    visitor.open(source)
    yield "source"
    for path in ("/history/", "/documents/", "/accounts/password/", "/accounts/logout/", "/none/"):
        visitor.open(path)
        yield path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_accessibility_fault(visit, reader, scheme):
    visitor = visit(color_scheme=scheme)
    faults = {page: visitor.accessibility_faults() for page in every_page(visitor, reader)}
    assert {page: found for page, found in faults.items() if found} == {}


def test_no_page_scrolls_sideways_on_a_phone(visit, bank):
    person = bank.person("Emma")
    with bank.scope():
        update_user(user=person, name="A name as long as names can be in some countries")
    bank.document(
        "A title with averyveryveryveryveryveryveryverylongwordwithoutanyplacetobreakit",
        ["Annual leave allowance is 25 days.", "Up to 5 days may be carried over. " * 3],
        readers=[person],
        reference="HR-2024-003-" + "X" * 40,
    )
    visitor = visit(viewport=PHONE, has_touch=True)
    assert [page for page in every_page(visitor, person) if visitor.scrolls_sideways()] == []


def test_the_dark_scheme_is_dark(visit, reader):
    def brightness(scheme):
        visitor = visit(color_scheme=scheme).sign_in(reader)
        colour = visitor.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)))

    assert brightness("dark") < 150 < 600 < brightness("light")


def test_nothing_moves_for_who_asked_for_less_motion(visit, reader):
    visitor = visit(reduced_motion="reduce").sign_in(reader)
    visitor.page.evaluate("document.querySelector('.stages').append(document.createElement('li'))")
    animation = "getComputedStyle(document.querySelector('.stages li'), '::before').animationName"
    assert visitor.page.evaluate(animation) == "none"


def test_the_keyboard_alone_is_enough(visitor, reader):
    visitor.open("/")
    keyboard = visitor.page.keyboard
    expect(visitor.page.get_by_label("E-mail address")).to_be_focused()
    keyboard.type(reader.email)
    keyboard.press("Tab")
    keyboard.type(PASSWORD)
    keyboard.press("Enter")
    expect(visitor.page.get_by_role("heading", name="Ask a policy question")).to_be_visible()
    visitor.page.wait_for_load_state()

    keyboard.press("Tab")
    expect(visitor.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    keyboard.press("Enter")
    keyboard.press("Tab")
    expect(visitor.page.get_by_label("Your question")).to_be_focused()
    keyboard.type(LEAVE_QUESTION)
    keyboard.press("Enter")

    heading = visitor.result.get_by_role("heading", name=LEAVE_QUESTION)
    expect(heading).to_be_focused()
    keyboard.press("Tab")
    expect(visitor.page.locator(".cite").first).to_be_focused()
    keyboard.press("Enter")
    expect(visitor.page.get_by_text("Page 2 of 2", exact=True)).to_be_visible()


def test_everything_works_without_scripts(visit, bank, reader):
    visitor = visit(java_script_enabled=False).sign_in(reader)

    visitor.type_question(LEAVE_QUESTION)
    visitor.page.get_by_role("button", name="Ask", exact=True).click()
    expect(visitor.result).to_contain_text("Up to 5 days of annual leave")
    visitor.page.get_by_text("No", exact=True).click()
    visitor.page.get_by_label("What is missing or wrong?").fill("Part-timers?")
    visitor.page.get_by_role("button", name="Send").click()
    expect(visitor.page.get_by_text("Thank you. Your feedback was sent.")).to_be_visible()
    expect(visitor.result).to_contain_text("You said: it did not help.")
    visitor.page.locator(".cite").first.click()
    expect(visitor.page.get_by_text("Page 2 of 2", exact=True)).to_be_visible()

    visitor.page.get_by_role("link", name="Ask", exact=True).click()
    visitor.type_question("Who painted the ceiling?")
    visitor.page.get_by_role("button", name="Ask", exact=True).click()
    expect(visitor.result).to_contain_text("in the documents available to you")

    visitor.page.get_by_role("link", name="My questions").click()
    visitor.page.get_by_role("link", name=LEAVE_QUESTION).click()
    expect(visitor.result).to_contain_text("Up to 5 days of annual leave")
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_documents_can_be_found_by_title_and_reference_and_opened(visitor, bank, reader):
    bank.document("Travel policy", "Trains first.", readers=[reader], reference="FIN-7")
    bank.document("Board minutes", "Secret.", readers=[])
    visitor.sign_in(reader)
    visitor.page.get_by_role("link", name="Documents", exact=True).click()
    expect(visitor.page.get_by_text("2 documents", exact=True)).to_be_visible()
    expect(visitor.page.get_by_text("Board minutes")).to_have_count(0)

    visitor.page.get_by_label("Title or reference code").fill("fin-7")
    visitor.page.get_by_label("Title or reference code").press("Enter")
    expect(visitor.page.get_by_role("link", name="Annual leave policy")).to_have_count(0)
    visitor.page.get_by_role("link", name="Travel policy").click()

    expect(visitor.page.get_by_role("heading", name="Travel policy")).to_be_visible()
    visitor.page.get_by_text("Read this page as text").click()
    expect(visitor.page.get_by_text("Trains first.")).to_be_visible()


def test_administration_is_offered_to_those_who_administer(visit, bank, reader):
    administrator = bank.person("Ada", roles=[Role.TENANT_ADMIN])
    link = visit().sign_in(administrator).page.get_by_role("link", name="Administration")
    expect(link).to_be_visible()
    expect(visit().sign_in(reader).page.get_by_role("link", name="Administration")).to_have_count(0)


def test_a_wrong_password_and_an_unknown_address_are_refused_in_the_same_words(visitor, reader):
    def refusal(email):
        visitor.open("/accounts/login/")
        visitor.page.get_by_label("E-mail address").fill(email)
        visitor.page.get_by_label("Password").fill("not the password")
        visitor.page.get_by_role("button", name="Sign in").click()
        return visitor.page.get_by_role("alert").inner_text()

    assert refusal(reader.email) == refusal("nobody@bank.example") != ""
