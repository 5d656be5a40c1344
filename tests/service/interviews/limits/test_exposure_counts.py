"""The share of respondents who are asked a question is tracked in the store, and limited."""

from dataclasses import replace

import pytest

from eddi.model.item_bank import Item, ItemBank, Trait
from eddi.service.interviews.history import interview_stream
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.limits.exposure_counts import ExposureTracker
from eddi.service.interviews.questionnaire import FixedCatalogue, Questionnaire
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore
from eddi.strategy import Information
from eddi.strategy.stopping import Stop
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

NAMES = tuple("abcdef")
BANK = ItemBank(
    Schema(
        (*(Variable(n, Kind.BINARY, ("0", "1")) for n in NAMES), Variable("trait", Kind.REAL)),
        (
            *(Question(n, (n,), section="first" if n in "abc" else "second") for n in NAMES),
            Question("trait", ("trait",), never=True),
        ),
    ),
    tuple(Item(name, 3 - 0.4 * place, (0.0,)) for place, name in enumerate(NAMES)),
    (Trait(),),
)
LIMITED = Questionnaire(
    "test",
    BANK,
    "0" * 64,
    ("trait",),
    strategy=Information(),
    stop=Stop(after=2),
    settings=QuestionnaireSettings(max_exposure=0.4),
)


def change(**settings):
    return replace(LIMITED, settings=QuestionnaireSettings(**settings))


@pytest.fixture
def serve():
    """Services that are closed after the test."""
    services = []

    def start(store, questionnaire=LIMITED):
        services.append(InterviewService(store, FixedCatalogue((questionnaire,))))
        return services[-1]

    yield start
    for service in services:
        service.close()


def answer_all(service, answer=1):
    """Conduct an interview; return its key and the questions asked."""
    view, asked = service.start(), []
    while view.step.question is not None:
        asked.append(view.step.question.name)
        view = service.add_answer(view.key, asked[-1], answer)
    return view.key, asked


def test_no_question_is_asked_of_more_respondents_than_the_maximum(serve):
    service = serve(MemoryStore())
    for _ in range(60):
        answer_all(service)
    counts = service.exposure.read("test")
    assert counts.n_respondents == 60
    assert sum(counts.n_asked.values()) == 120
    assert max(map(counts.rate, NAMES)) <= 0.4 + 1 / 60


def test_two_servers_on_the_same_store_have_the_same_counts(serve, tmp_path):
    url = f"sqlite:///{tmp_path}/answers.db"
    servers = [serve(open_store(url)), serve(open_store(url))]
    for number in range(20):
        answer_all(servers[number % 2])
    first, second = (server.exposure.read("test") for server in servers)
    assert first == second
    assert first.n_respondents == 20
    assert max(map(first.rate, NAMES)) <= 0.4 + 1 / 20


def test_counts_remain_when_interviews_are_erased_and_a_server_starts_again(serve):
    store = MemoryStore()
    service = serve(store)
    for key, _ in [answer_all(service) for _ in range(6)]:
        service.forget(key)
    assert serve(store).exposure.read("test") == service.exposure.read("test")
    assert service.exposure.read("test").n_respondents == 6
    answer_all(service)


def test_counts_contain_no_answers_and_no_keys(serve):
    store = MemoryStore()
    answer_all(serve(store))
    (stream,) = store.streams("exposure/test/")
    (first, second) = store.read(stream)
    assert set(first.facts) == {"respondents", "withheld", "asked"}
    assert (first.facts["respondents"], second.facts["respondents"]) == (1, 0)


def test_an_answer_that_is_given_again_counts_once(serve):
    service = serve(MemoryStore())
    view = service.start()
    name = view.step.question.name
    service.add_answer(view.key, name, 1)
    service.undo(view.key)
    service.add_answer(view.key, name, 0)
    counts = service.exposure.read("test")
    assert (counts.n_respondents, counts.n_asked[name]) == (1, 1)


def test_what_is_withheld_is_stored_with_the_interview(serve):
    service = serve(MemoryStore())
    keys = [answer_all(service)[0] for _ in range(4)]
    facts = [service.store.read(interview_stream(key))[0].facts for key in keys]
    assert facts[0]["withheld"] == []
    assert facts[1]["withheld"]  # the questions that the first respondent was asked
    assert service.resume(keys[1]).interview.record.withheld == tuple(facts[1]["withheld"])


def test_an_interview_goes_on_with_the_questions_that_were_withheld_at_its_start(serve):
    store = MemoryStore()
    first, other = serve(store), serve(store)
    answer_all(first)
    view = first.start()
    assert other.resume(view.key).step.question == view.step.question


def test_nothing_is_counted_without_a_limit(serve):
    store = MemoryStore()
    answer_all(serve(store, change()))
    assert list(store.streams("exposure/")) == []


def test_recorded_probabilities_leave_out_questions_that_are_withheld(serve):
    service = serve(MemoryStore(), change(n_best=6, max_exposure=0.4))
    keys = [answer_all(service)[0] for _ in range(10)]
    for key in keys:
        interview = service.resume(key).interview
        recorded = [answer.propensity for answer in interview.record.answers]
        n_eligible = len(NAMES) - len(interview.record.withheld)
        if n_eligible >= 2:
            assert recorded == pytest.approx([1 / n_eligible, 1 / (n_eligible - 1)])
        assert list(interview.propensities()) == pytest.approx(recorded)


def test_shares_of_sections_are_a_setting(serve):
    service = serve(MemoryStore(), change(section_shares={"first": 0.4, "second": 0.4, "unknown": 0.2}))
    _, asked = answer_all(service)
    assert {name in "abc" for name in asked} == {True, False}


def test_an_interview_keeps_its_constraints_when_the_settings_change(serve):
    store = MemoryStore()
    view = serve(store, change(section_shares={"second": 1.0})).start()
    assert serve(store, change()).resume(view.key).step.question == view.step.question
    assert view.step.question.name in "def"


def test_a_new_process_goes_on_from_the_last_sum(serve, monkeypatch):
    monkeypatch.setattr("eddi.service.interviews.limits.exposure_counts.EVENTS_PER_SUM", 4)
    store = MemoryStore()
    service = serve(store)
    for _ in range(6):
        answer_all(service)
    (sum_event, *_) = store.read("exposure/test/sum")
    assert sum_event.facts["respondents"] == 2
    service.exposure.read("test")
    new = ExposureTracker(store)
    reads = []
    monkeypatch.setattr(store, "read", record_reads(store.read, reads))
    assert new.read("test") == service.exposure.read("test")
    assert min(after for stream, after in reads if stream != "exposure/test/sum") >= 4


def record_reads(read, reads):
    def record(stream, *, after=0):
        reads.append((stream, after))
        return read(stream, after=after)

    return record
