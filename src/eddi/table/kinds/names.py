"""What the name of a column says about its kind."""

import re
from enum import Enum


class NameHint(Enum):
    """What the name of a column suggests about whole numbers in it."""

    NONE = "none"
    NOMINAL = "codes without an order"
    ORDERED = "steps of a scale"
    COUNT = "a count"
    QUANTITY = "a quantity"


_WORDS = {
    NameHint.NOMINAL: """
        race ethnic ethnicity marital marriage married religion faith nationality citizenship country
        nation language zip zipcode postcode postal postalcode plz stratum strata psu cluster region
        province state strat county fips district city town village borough neighborhood neighbourhood
        constituency municipality canton tract zone zoning location place site center centre hospital
        clinic ward unit department dept division branch store shop outlet school code codes type types
        kind category subclass species breed gender sex treatment arm party occupation occup job
        profession industry sector employer role field major subject color colour brand make vendor
        supplier seller product model browser platform device system systems channel source reason cause
        diagnosis icd method mode origin team block batch lot machine operator station provider physician
        doctor manager supervisor teacher counselor agent company airline carrier class label purpose
        fuel transmission material soil crop status cohort group family
        """,
    NameHint.ORDERED: """
        rating rank ranking score grade level stage quality qual qc satisfaction severity agreement
        likert importance frequency likelihood priority tier pclass degree education educ edu schooling
        month mnth mo weekday dow quarter trust happiness happy ideology interest pain mood stress
        anxiety fatigue ecog asa apgar triage risk condition cond health healthstat scale wave difficulty
        comfort confidence engagement involvement performance band bracket tercile quartile quintile
        decile percentile preference usefulness ease opinion leftright lr religious religiosity finish
        exposure
        """,
    NameHint.COUNT: """
        number num n nr count counts cnt children childs kids siblings sibsp parch visits times
        pregnancies episodes bedrooms bathrooms bath baths doors cylinders dependents failures absences
        tardies admissions reviews credits nights adults babies accidents claims calls doses cigarettes
        drinks changes pets cars parity gravida companies procedures medications errors events cases
        deaths members seats floors
        """,
    NameHint.QUANTITY: """
        age income salary wage wages pay price amount amt cost costs fee fare charge charges balance bal
        revenue sales profit loss gain spend spending expense expenses budget tax rent debt loan limit
        weight height length width depth distance area volume temperature temp pressure speed velocity
        rate percent pct percentage ratio share year yr day hour hr minute second duration time days
        hours minutes seconds months weeks years tenure population density dose concentration bmi glucose
        cholesterol mileage displacement horsepower power capacity total sum mean average median index
        """,
}
_HINTS = {word: hint for hint, words in _WORDS.items() for word in words.split()}
_BANDS = {"group", "grp", "gp", "band", "bracket", "range", "cat", "category", "class", "tier"}
_FIRST_ONLY = {"number", "num", "n", "nr"}  # at the end of a name they mean a number, not a count
_PREPOSITIONS = {
    "at",
    "by",
    "for",
    "from",
    "in",
    "last",
    "next",
    "of",
    "on",
    "per",
    "since",
    "to",
    "with",
}
_ITEM = re.compile(r"(?:q|item|question|[a-z]{2,5})[ _.-]?\d{1,3}[a-z]?", re.IGNORECASE)


def split_name(name: str) -> list[str]:
    """Return the words of a name in snake_case, CamelCase or plain text, in lower case."""
    separated = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_|(?<=\D)(?=\d)", " ", name)
    return re.findall(r"[^\W\d_]+|\d+", separated.casefold())


def read_name(name: str) -> NameHint:
    """Return what a name suggests.

    The last word with a meaning decides: a job level is a level. What follows a preposition matters
    only if nothing else does: years at a company are years.
    """
    words = split_name(name)
    if len(words) > 1 and words[0] in _FIRST_ONLY:
        return NameHint.COUNT
    if _is_band(words):
        return NameHint.ORDERED
    hints = _list_hints(words)
    return hints[-1] if hints else NameHint.NONE


def is_ambiguous(name: str) -> bool:
    """Whether a name ends like that of a code but also suggests something else, as in rate_marriage."""
    hints = _list_hints(split_name(name))
    return len(set(hints)) > 1 and hints[-1] is NameHint.NOMINAL


def _list_hints(words: list[str]) -> list[NameHint]:
    end = next((n for n, word in enumerate(words) if word in _PREPOSITIONS), len(words))
    for part in (words[:end], words[end:]):
        hints = [_HINTS.get(word) or _HINTS.get(word.removesuffix("s")) for word in part]
        known = [h for h, word in zip(hints, part, strict=True) if h and word not in _FIRST_ONLY]
        if known:
            return known
    return []


def is_item_name(name: str) -> bool:
    """Whether a name is that of a numbered item of a questionnaire, such as q7 or phq_2."""
    return _ITEM.fullmatch(name.strip()) is not None


def _is_band(words: list[str]) -> bool:
    """Whether a name is that of a grouped quantity, such as age_group or income_band."""
    has_quantity = any(_HINTS.get(word) is NameHint.QUANTITY for word in words[:-1])
    return has_quantity and words[-1] in _BANDS
