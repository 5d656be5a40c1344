"""The tools with which a language model conducts interviews. They do not depend on the protocol.

The store keeps the answers, and the answers determine the interview. The docstrings are what a language
model reads.
"""

from typing import Annotated, Any

from pydantic import Field, JsonValue

from eddi.interview.documents import prediction_document, question_document
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.web.page_context import questionnaire_title
from eddi.service.web.texts import Texts

InterviewId = Annotated[
    str, Field(description="The id that `begin` returned.", min_length=1, max_length=100)
]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Document = dict[str, Any]

INSTRUCTIONS = """\
EDDI chooses the questions, and you hold the conversation. Call `begin`, put the returned question into your
own words, and give the answer to `tell`. Repeat until `question` is null. Then report the prediction with its
uncertainty. Do not ask questions of your own, do not guess answers, and do not change them. If the person
does not know, tell null; if the person declines, tell {"without": "declined"}. If the person mentions
something that another question is about, you can tell it, too: `ask` lists all open questions."""


class InterviewTools:
    """The tools of a server.

    Args:
        service: holds the interviews.
    """

    def __init__(self, service: InterviewService) -> None:
        self.service = service

    def list_questionnaires(self) -> Document:
        """List the questionnaires: name, title, what is predicted, and the number of questions."""
        listed = []
        for questionnaire in self.service.catalogue.all():
            target, questions = set(questionnaire.target), questionnaire.model.schema.questions
            listed.append(
                {
                    "name": questionnaire.name,
                    "title": questionnaire_title(questionnaire),
                    "introduction": questionnaire.settings.introduction,
                    "target": list(questionnaire.target),
                    "questions": sum(target.isdisjoint(question.reveals) for question in questions),
                }
            )
        return {"questionnaires": listed}

    def begin(
        self,
        questionnaire: Annotated[
            Name | None, Field(description="Its name; by default the first of the server.")
        ] = None,
    ) -> Document:
        """Begin an interview with one person. Returns its id, the first question and the prediction."""
        view = self.service.start(questionnaire=questionnaire)
        return {"interview": view.key, **describe_step(view)}

    def ask(self, interview: InterviewId) -> Document:
        """Return the next question (null if the interview is over), all open questions, and the answers.

        Open questions are listed with their expected information in nats, the most informative first.
        """
        view = self.service.resume(interview)
        answers = [answer.to_document() for answer in view.interview.record.answers]
        return {**describe_step(view), "open": dict(view.rewards), "answers": answers}

    def tell(
        self,
        interview: InterviewId,
        question: Annotated[Name, Field(description="The name of the question or of one variable.")],
        answer: Annotated[
            JsonValue,
            Field(
                description="A value: a number, or one of the levels. null if the person does not know; "
                '{"without": "declined"} if the person declines. An object of these by variable if the '
                "question reveals several; a list of the selected options if it has options."
            ),
        ],
        confirm: Annotated[
            bool, Field(description="Whether the person confirmed a value outside its usual range.")
        ] = False,
    ) -> Document:
        """Record the answer to a question, asked or volunteered, and return the next question.

        If a value is outside its usual range, ask the person whether it is correct, and tell it again with
        confirm.
        """
        return describe_step(self.service.add_answer(interview, question, answer, confirm=confirm))

    def undo(self, interview: InterviewId) -> Document:
        """Remove the last answer, for example because it was a misunderstanding."""
        return describe_step(self.service.undo(interview))

    def predict(self, interview: InterviewId) -> Document:
        """Return the prediction now: mean, sd and 90% interval, or the probability of each level."""
        view = self.service.resume(interview)
        return {"prediction": describe_predictions(view), "answers": len(view.interview.record.answers)}

    def explain(self, interview: InterviewId) -> Document:
        """Explain why the next question is asked, and what its answer is expected to change."""
        view = self.service.resume(interview)
        explanation = view.interview.explain()
        if explanation is None:
            return {"explanation": "The interview is over: no question is left, or enough is known."}
        return {
            "question": explanation.question.name,
            "explanation": str(explanation),
            "information": explanation.nats,
        }


def describe_step(view: InterviewView) -> Document:
    """Return the next question as respondents read it, and the predictions."""
    question: Document | None = None
    if view.question is not None:
        texts = Texts(view.questionnaire.settings)
        question = question_document(view.question, view.interview.model.schema)
        question["text"] = texts.question(view.question)
        if note := texts.note(view.question):
            question["note"] = note
    return {"question": question, "prediction": describe_predictions(view)}


def describe_predictions(view: InterviewView) -> Document:
    """Return the prediction of each target."""
    return {name: prediction_document(found) for name, found in view.predictions.items()}
