"""The texts that a schema has in a language."""

from dataclasses import dataclass

from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Variable


@dataclass(frozen=True)
class SchemaTexts:
    """The texts of variables and questions in one language, by name."""

    variables: dict[str, VariableTexts]
    questions: dict[str, QuestionTexts]


def texts_in_language(schema: Schema, code: str) -> SchemaTexts:
    """Return the translations into a language, or the schema's own texts if it is their language."""
    if code == schema.language:
        return SchemaTexts(
            {variable.name: _own_variable_texts(variable) for variable in schema.variables},
            {question.name: _own_question_texts(question) for question in schema.explicit_questions},
        )
    return SchemaTexts(
        {v.name: v.translations[code] for v in schema.variables if code in v.translations},
        {q.name: q.translations[code] for q in schema.explicit_questions if code in q.translations},
    )


def _own_variable_texts(variable: Variable) -> VariableTexts:
    return VariableTexts(variable.title, variable.labels, variable.help, variable.unit)


def _own_question_texts(question: Question) -> QuestionTexts:
    return QuestionTexts("" if question.text == question.name else question.text, question.help)
