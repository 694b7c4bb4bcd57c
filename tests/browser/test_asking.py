"""Asking a question with the keyboard or the mouse, and what comes of it."""

import re
import threading

import pytest
from playwright.sync_api import expect

from answers import pipeline
from answers.generation import GeneratorUnavailable, UnavailableReason
from answers.models import Feedback, Outcome, ReviewItem
from answers.selectors import own_answers
from documents.models import LifeCycle
from tenants.services import update_user
from tests.browser.conftest import LEAVE_QUESTION

pytestmark = pytest.mark.browser

STAGES = [
    "Searching the documents you may read",
    "Checking that you may read what was found",
    "Choosing the passages that fit your question",
    "Putting an answer together from them",
    "Checking every quote, word for word",
    "Checking your access once more",
]
NOTE_STAGES = """() => {
    window.seen = [];
    const shown = () => document.querySelector("#result").textContent;
    const note = (changes) => changes.forEach((change) => change.addedNodes.forEach(
        (line) => window.seen.push([line.textContent, shown()])));
    new MutationObserver(note).observe(document.querySelector(".stages"), {childList: true});
}"""


def test_the_stages_come_one_by_one_and_then_the_answer_with_its_citations(visitor, reader):
    visitor.sign_in(reader)
    visitor.page.evaluate(NOTE_STAGES)

    answer = visitor.ask(LEAVE_QUESTION)

    seen = visitor.page.evaluate("window.seen")
    assert [stage for stage, _ in seen] == STAGES
    assert all(shown.strip() == "" for _, shown in seen)
    expect(answer).to_contain_text("Sentences quoted from the documents")
    expect(answer).not_to_contain_text("withdrawn document")
    expect(answer).to_contain_text("Up to 5 days of annual leave may be carried over")
    source = answer.get_by_role("listitem").first
    expect(source).to_contain_text("Annual leave policy")
    expect(source).to_contain_text("Version 1")
    expect(source).to_contain_text("Page 2")
    expect(visitor.page).to_have_url(re.compile(r"/answers/[0-9a-f-]{36}/$"))
    expect(answer.get_by_role("heading", name=LEAVE_QUESTION)).to_be_focused()


def test_a_citation_opens_the_cited_page_with_the_quote_marked(visitor, reader):
    visitor.sign_in(reader).ask(LEAVE_QUESTION)

    visitor.page.locator(".cite").first.click()

    expect(visitor.page.get_by_role("heading", name="Annual leave policy")).to_be_visible()
    expect(visitor.page.get_by_text("Page 2 of 2", exact=True)).to_be_visible()
    expect(visitor.page.locator("blockquote")).to_contain_text("Up to 5 days of annual leave")
    image = visitor.page.get_by_role("img", name="Page 2 of 2, with the quoted words marked")
    image.evaluate("image => image.decode()")
    assert image.evaluate("image => image.naturalWidth") > 0
    assert image.evaluate(HAS_YELLOW)

    visitor.page.get_by_role("link", name="Previous").click()
    expect(visitor.page.get_by_text("Page 1 of 2", exact=True)).to_be_visible()
    visitor.page.get_by_role("link", name="They are on page 2").click()
    expect(visitor.page.get_by_text("Page 2 of 2", exact=True)).to_be_visible()
    visitor.page.get_by_role("link", name="Back to the answer").click()
    expect(visitor.result).to_contain_text("Up to 5 days")


HAS_YELLOW = """(image) => {
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const drawing = canvas.getContext("2d");
    drawing.drawImage(image, 0, 0);
    const {data} = drawing.getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4)
        if (data[i] > 240 && data[i + 1] > 200 && data[i + 2] < 150) return true;
    return false;
}"""


def test_an_answer_reloaded_is_the_same_answer_and_back_leads_to_no_stale_form(visitor, reader):
    visitor.sign_in(reader).ask(LEAVE_QUESTION)
    before = visitor.page.locator(".statements").inner_text()
    sources = visitor.page.locator(".sources").inner_text()

    visitor.page.reload()

    assert visitor.page.locator(".statements").inner_text() == before
    assert visitor.page.locator(".sources").inner_text() == sources
    visitor.open("/history/")
    visitor.page.go_back()
    assert visitor.page.locator(".statements").inner_text() == before


def test_a_refusal_says_what_was_searched_and_what_to_do_next(visitor, bank, reader):
    bank.document("Vault codes", "The vault access code is 4711.", readers=[])
    visitor.sign_in(reader)

    answer = visitor.ask("What is the vault access code?")

    expect(answer).to_contain_text("in the documents available to you")
    expect(answer).not_to_contain_text("Vault codes")
    expect(answer).not_to_contain_text("4711")
    expect(answer.get_by_role("link", name="documents you may read")).to_be_visible()
    answer.get_by_role("link", name="Ask in other words").click()
    box = visitor.page.get_by_label("Your question")
    expect(box).to_be_focused()
    expect(box).to_have_value("What is the vault access code?")


def test_not_helpful_with_a_comment_reaches_the_reviewers(visitor, bank, reader):
    answer = visitor.sign_in(reader).ask(LEAVE_QUESTION)

    answer.get_by_text("No", exact=True).click()
    answer.get_by_label("What is missing or wrong?").fill("It does not say for part-timers.")
    answer.get_by_role("button", name="Send").click()

    thanks = answer.get_by_role("status")
    expect(thanks).to_have_text("Thank you. A reviewer will look at this answer.")
    expect(thanks).to_be_focused()
    with bank.scope():
        given = Feedback.objects.get()
        assert (given.helpful, given.comment) == (False, "It does not say for part-timers.")
        assert ReviewItem.objects.get().answer_id == given.answer_id


def test_helpful_is_one_press(visitor, bank, reader):
    answer = visitor.sign_in(reader).ask(LEAVE_QUESTION)

    answer.get_by_role("button", name="Yes").click()

    expect(answer.get_by_role("status")).to_contain_text("Thank you")
    with bank.scope():
        assert Feedback.objects.get().helpful


class StuckGenerator:
    """Writes nothing until it is let go, then abstains."""

    name = processor = "stuck"

    def __init__(self):
        self.reached, self.let_go = threading.Event(), threading.Event()

    def generate(self, *, question, language, evidence):
        self.reached.set()
        self.let_go.wait(30)
        raise GeneratorUnavailable(UnavailableReason.TIMEOUT, "let go")


@pytest.fixture
def stuck(monkeypatch):
    generator = StuckGenerator()
    monkeypatch.setattr(pipeline, "default_generator", lambda *_: generator)
    yield generator
    generator.let_go.set()


def test_a_question_under_way_can_be_cancelled(visitor, bank, reader, stuck):
    visitor.sign_in(reader)
    visitor.type_question(LEAVE_QUESTION)
    visitor.page.get_by_role("button", name="Ask", exact=True).click()
    expect(visitor.page.get_by_text(STAGES[3])).to_be_visible()
    assert visitor.page.locator("#result").inner_text() == ""

    with visitor.page.expect_response("**/cancel/") as cancelled:
        visitor.page.get_by_role("button", name="Cancel").click()
    assert cancelled.value.status == 204
    stuck.let_go.set()

    expect(visitor.result).to_contain_text("You cancelled this question.")
    expect(visitor.result.get_by_role("button", name="Ask again")).to_be_visible()
    with bank.scope():
        assert own_answers(user=reader).get().outcome == Outcome.CANCELLED


def test_without_a_generator_there_are_excerpts_that_say_so(visitor, reader, stuck):
    stuck.let_go.set()

    answer = visitor.sign_in(reader).ask(LEAVE_QUESTION)

    expect(answer).to_contain_text("Excerpts, not an answer")
    expect(answer).not_to_contain_text("Sentences quoted from the documents")
    expect(answer.get_by_role("button", name="Ask again")).to_be_visible()


def test_a_lost_connection_is_said_and_the_question_can_be_asked_again(visitor, reader):
    visitor.sign_in(reader)
    visitor.page.route("**/v1/answers", lambda route: route.abort())
    answer = visitor.ask(LEAVE_QUESTION)
    expect(answer).to_contain_text("Precept could not be reached")

    visitor.page.unroute("**/v1/answers")
    answer.get_by_role("button", name="Ask again").click()

    expect(visitor.result).to_contain_text("Up to 5 days of annual leave")


def test_being_signed_out_meanwhile_keeps_the_question(visitor, reader):
    visitor.sign_in(reader)
    visitor.context.clear_cookies(name="precept_session")

    answer = visitor.ask(LEAVE_QUESTION)

    expect(answer).to_contain_text("You have been signed out")
    expect(visitor.page.get_by_label("Your question")).to_have_value(LEAVE_QUESTION)


def test_an_answer_whose_source_was_revoked_shows_not_a_word_of_it(visitor, bank):
    person = bank.person("Emma")
    document = bank.document(readers=[person])
    visitor.sign_in(person).ask("What is the annual leave allowance?")
    citation = visitor.page.locator(".cite").first.get_attribute("href")

    bank.revoke(document, person)
    visitor.page.reload()

    expect(visitor.result).to_contain_text("The documents behind this answer have changed")
    expect(visitor.result).not_to_contain_text("25 days")
    assert visitor.open(citation).status == 404


def test_a_question_that_is_too_long_is_counted_and_not_sent(visitor, reader, settings):
    visitor.sign_in(reader)
    counter = visitor.page.locator("#question-count")
    expect(counter).to_be_hidden()

    visitor.type_question("x" * settings.MAX_QUESTION_CHARACTERS + "y")
    expect(counter).to_have_text("1001 of 1000 characters")
    visitor.page.get_by_role("button", name="Ask", exact=True).click()

    expect(visitor.page.get_by_role("alert")).to_contain_text("longer than 1000 characters")
    expect(visitor.result).to_have_count(0)


def test_shift_and_enter_make_a_new_line(visitor, reader):
    visitor.sign_in(reader)
    box = visitor.page.get_by_label("Your question")
    box.press_sequentially("one")
    box.press("Shift+Enter")
    box.press_sequentially("two")
    expect(box).to_have_value("one\ntwo")


def test_a_withdrawn_source_is_flagged_wherever_it_is_shown(visitor, bank):
    person = bank.person("Emma")
    bank.document(
        "Old travel rules",
        "Train journeys above 300 kilometres are booked in first class.",
        readers=[person],
        life_cycle=LifeCycle.ARCHIVED,
        withdrawn_date="2024-03-31",
    )
    answer = visitor.sign_in(person).ask("In which class are train journeys booked?")
    expect(answer).to_contain_text("Quotes a withdrawn document")
    expect(answer.locator(".source")).to_contain_text("Withdrawn on 31 March 2024")
    visitor.page.reload()
    expect(answer).to_contain_text("Quotes a withdrawn document")

    visitor.page.locator(".cite").first.click()
    expect(visitor.page.get_by_text("Withdrawn on 31 March 2024")).to_be_visible()

    visitor.open("/documents/")
    expect(visitor.page.get_by_text("Withdrawn on 31 March 2024")).to_be_visible()


def test_markup_in_titles_and_questions_is_shown_as_it_was_written(visitor, bank):
    person = bank.person("Emma")
    with bank.scope():
        update_user(user=person, name="<b>Emma</b>")
    title = '<img src=x onerror="document.title=1"> \u202eycilop evaeL'
    bank.document(title, "Annual leave allowance is 25 days.", readers=[person])
    question = "What is the <i>annual leave</i> allowance?"

    answer = visitor.sign_in(person).ask(question)

    expect(answer.locator("h2")).to_have_text(question)
    expect(answer.locator(".source-title")).to_have_text(title.replace("\u202e", ""))
    for path in (visitor.page.url, "/history/", "/documents/"):
        visitor.open(path)
        assert visitor.page.locator("main img, main script, main i").count() == 0
        assert "Precept" in visitor.page.title()
