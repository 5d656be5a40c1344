"""The FHIR resources that the server accepts, as described in OpenAPI.

Elements that the server neither uses nor returns are refused, above all modifier extensions and implicit
rules, which could change the meaning of others.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

MAX_ITEMS = 10_000
MAX_ANSWERS = 1_000  # of one item
MAX_CONTAINED = 20
MAX_EXTENSIONS = 50
MAX_LINK_ID = 255  # characters, SDC rule que-15

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9\-.]{1,64}$")]
LinkId = Annotated[str, Field(min_length=1, max_length=MAX_LINK_ID)]
Text = Annotated[str, Field(min_length=1, max_length=100_000)]
Uri = Annotated[str, Field(pattern=r"^\S+$", max_length=2_000)]
DateTime = Annotated[
    str,
    Field(pattern=r"^\d{4}(-\d\d(-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?)?)?$", max_length=40),
]
Document = dict[str, JsonValue]


class _FhirModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)

    def to_json(self) -> dict[str, Any]:
        """Return the elements that were given, with their names in FHIR."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class ExtensionIn(_FhirModel):
    """An extension. Only those of `data-absent-reason` and of stored interviews are used."""

    model_config = ConfigDict(extra="allow", strict=True, alias_generator=to_camel)

    url: Uri
    value_code: str | None = Field(default=None, max_length=100)
    value_string: str | None = Field(default=None, max_length=1_000)


Extensions = Annotated[list[ExtensionIn], Field(min_length=1, max_length=MAX_EXTENSIONS)]


class _Element(_FhirModel):
    id: Text | None = None
    extension: Extensions = Field(default=[])


class CodingIn(_Element):
    """A code of an answer option."""

    system: Uri | None = None
    version: Text | None = None
    code: Text | None = None
    display: Text | None = None
    user_selected: bool | None = None


class QuantityIn(_Element):
    """A number with a unit."""

    value: float | None = Field(default=None, allow_inf_nan=False)
    unit: Text | None = None
    system: Uri | None = None
    code: Text | None = None


class ReferenceIn(_Element):
    """A reference, such as the one to a patient. It is returned unchanged."""

    reference: Text | None = None
    type: Uri | None = None
    identifier: Document | None = None
    display: Text | None = None


class ItemAnswerIn(_Element):
    """One answer of an item, or the reason why there is none."""

    value_boolean: bool | None = None
    value_integer: int | None = None
    value_decimal: float | None = Field(default=None, allow_inf_nan=False)
    value_coding: CodingIn | None = None
    value_quantity: QuantityIn | None = None
    value_boolean_element: _Element | None = Field(default=None, alias="_valueBoolean")
    value_integer_element: _Element | None = Field(default=None, alias="_valueInteger")
    value_decimal_element: _Element | None = Field(default=None, alias="_valueDecimal")


class ItemIn(_Element):
    """An item of a response: the answers to a question, or the items of a group."""

    link_id: LinkId
    definition: Uri | None = None
    text: Text | None = None
    answer: list[ItemAnswerIn] = Field(default=[], min_length=1, max_length=MAX_ANSWERS)
    item: list["ItemIn"] = Field(default=[], min_length=1, max_length=MAX_ITEMS)


class ResponseIn(_FhirModel):
    """A QuestionnaireResponse (profile `sdc-questionnaireresponse-adapt`)."""

    resource_type: Literal["QuestionnaireResponse"]
    id: Id | None = None
    meta: Document | None = None
    language: Text | None = None
    text: Document | None = None
    contained: list[Document] = Field(min_length=1, max_length=MAX_CONTAINED)
    extension: Extensions = Field(default=[])
    identifier: Document | None = None
    based_on: list[ReferenceIn] | None = Field(default=None, min_length=1, max_length=MAX_CONTAINED)
    part_of: list[ReferenceIn] | None = Field(default=None, min_length=1, max_length=MAX_CONTAINED)
    questionnaire: Uri
    status: Literal["in-progress", "completed", "amended", "entered-in-error", "stopped"]
    subject: ReferenceIn | None = None
    encounter: ReferenceIn | None = None
    authored: DateTime | None = None
    author: ReferenceIn | None = None
    source: ReferenceIn | None = None
    item: list[ItemIn] = Field(default=[], min_length=1, max_length=MAX_ITEMS)


class ParameterIn(_Element):
    """The parameter of `$next-question`."""

    name: Literal["questionnaire-response"]
    resource: ResponseIn


class ParametersIn(_FhirModel):
    """The parameters of `$next-question`."""

    resource_type: Literal["Parameters"]
    id: Id | None = None
    meta: Document | None = None
    parameter: list[ParameterIn] = Field(min_length=1, max_length=1)


NextQuestionIn = Annotated[ResponseIn | ParametersIn, Field(discriminator="resource_type")]


class ContainedItemIn(_FhirModel):
    """An item of a contained questionnaire. The server builds it again, so only its ID is read."""

    model_config = ConfigDict(extra="allow", strict=True, alias_generator=to_camel)

    link_id: LinkId


class ContainedQuestionnaireIn(_FhirModel):
    """A contained Questionnaire (profile `sdc-questionnaire-adapt`)."""

    model_config = ConfigDict(extra="allow", strict=True, alias_generator=to_camel)

    resource_type: Literal["Questionnaire"]
    id: Id
    status: Literal["draft", "active", "retired", "unknown"]
    derived_from: list[Uri] = Field(min_length=1, max_length=1)
    item: list[ContainedItemIn] = Field(default=[], min_length=1, max_length=MAX_ITEMS)
