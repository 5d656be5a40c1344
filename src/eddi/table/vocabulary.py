"""Word lists and patterns for the text in a table: scales, opposites, identifiers, dates, ranges."""

import re

_SCALES = """
very low, low, lower, below average, medium low, medium, moderate, mid, middle, average, normal,
  above average, medium high, high, higher, very high, extreme;
xxs, xs, s, m, l, xl, xxl, xxxl;
tiny, very small, small, medium, large, very large, huge;
never, almost never, hardly ever, very rarely, rarely, seldom, once in a while, occasionally,
  sometimes, half the time, about half the time, often, frequently, usually, most of the time,
  very often, very frequently, nearly always, almost always, always;
never, former, current;
never, less than monthly, monthly, weekly, daily, daily or almost daily;
not at all, several days, more than half the days, nearly every day;
not at all, a little, a little bit, slightly, somewhat, moderately, quite a bit, very, very
  much, extremely, completely;
very poor, very bad, poor, bad, fair, acceptable, ok, okay, average, satisfactory, good, very
  good, great, excellent, outstanding;
none, minimal, very mild, trace, mild, moderate, moderately severe, severe, very severe,
  critical;
absent, mild, moderate, severe;
normal, mild, moderate, severe;
strongly disagree, disagree, somewhat disagree, slightly disagree, neutral, neither agree nor
  disagree, undecided, slightly agree, somewhat agree, agree, strongly agree;
very dissatisfied, dissatisfied, somewhat dissatisfied, neutral, neither satisfied nor
  dissatisfied, somewhat satisfied, satisfied, very satisfied;
very unlikely, unlikely, somewhat unlikely, neutral, possible, somewhat likely, likely, very
  likely;
not important, slightly important, somewhat important, moderately important, important, very
  important, extremely important;
much worse, worse, somewhat worse, slightly worse, the same, same, about the same, unchanged,
  slightly better, somewhat better, better, much better;
primary, secondary, tertiary;
beginner, intermediate, advanced, expert;
first, second, third, fourth, fifth;
i, ii, iii, iv, v;
i, ii, iiia, iiib, iva, ivb;
cold, cool, lukewarm, mild, warm, hot;
"""

ORDINAL_SCALES = tuple(
    tuple(" ".join(word.split()) for word in scale.split(","))
    for scale in _SCALES.strip().rstrip(";").split(";")
)
"""Common answer scales in ascending order. A column with only words of one scale is ordinal."""

OPPOSITES = frozenset(
    [
        *[("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("-", "+")],
        *[("absent", "present"), ("negative", "positive"), ("neg", "pos"), ("normal", "abnormal")],
        *[("alive", "dead"), ("alive", "deceased"), ("survived", "died"), ("benign", "malignant")],
        *[("healthy", "sick"), ("healthy", "ill"), ("well", "ill"), ("control", "case")],
        *[("placebo", "drug"), ("placebo", "active"), ("control", "treatment")],
        *[("control", "treated"), ("untreated", "treated"), ("inactive", "active")],
        *[("failure", "success"), ("fail", "pass"), ("failed", "passed"), ("before", "after")],
        *[("none", "any"), ("never", "ever"), ("left", "right")],
    ]
)
"""Pairs of opposites. The word that means "no" comes first."""

NEGATION_PREFIXES = ("not", "no", "non", "un", "not ", "no ", "non-", "not_", "no_", "non_")
"""Prefixes that turn a word into its opposite, as in notckd and unmarried."""

_ENTITIES = (
    "patient|person|people|subject|record|user|customer|client|case|row|sample|visit|stay|hadm|"
    "icustay|respondent|participant|member|account|order|transaction|household|student|employee|"
    "encounter|admission|obs|observation|serial|p"
)
IDENTIFIER_NAME = re.compile(
    r"(?:^|[^a-z])ids?(?:$|[^a-z])"  # id, patient_id, id_number
    r"|(?-i:[a-z]I[Dd]s?(?![a-z]))"  # patientId, RecordID
    rf"|^(?:{_ENTITIES})_?(?:id|no|nr|num|number|idnum|key)$"  # patientid, pidnum, case_no
    r"|^(?:seqn|uuid|guid|index|idx|mrn|ssn|idnum|rownames?|unnamed.*|level_0|\.\.\.1)$",
    re.IGNORECASE,
)
"""Matches names of columns that identify rows."""

_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d{1,2}\.\d{1,2}\.\d{2,4}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
DATE_OR_TIME = rf"^(({_DATE})([T ]{_TIME})?|{_TIME})$"
"""Pattern of a date, a time of day, or both. Arrow, which uses it, does not support look-around."""

_NUMBER = r"\d+(?:[.,]\d+)?"
_UPPER_END = rf"\s*(?:-|\u2013|\u2014|to|,|\.\.)\s*-?{_NUMBER}[\])]?"
_OPEN_END = r"\s*(?:\+|(?:and|or) (?:more|over|older|above|up))"
_UNIT = r"(?:\s*%|\s+[a-z]+)?"  # '5 years', but not '5a', which is a code
_RANGE = re.compile(
    rf"(?P<below><=?|≤|under |below |less than |up to )?\s*[\[(]?(?P<low>-?{_NUMBER})"
    rf"(?:{_UPPER_END}|{_OPEN_END})?{_UNIT}",
    re.IGNORECASE,
)
_ABOVE = re.compile(rf"(?:>=?|≥|over |above |more than )\s*(?P<low>-?{_NUMBER}){_UNIT}", re.IGNORECASE)


def natural_sort_key(text: str) -> list[tuple[int, float, str]]:
    """Return a key that sorts 'week 2' before 'week 10'."""
    parts = re.findall(r"\d+|\D+", text.casefold())
    return [(0, float(part), "") if part.isdecimal() else (1, 0.0, part) for part in parts]


def parse_range_start(text: str) -> float | None:
    """Return where a range such as '18-24', '<18' or '65+' starts, or None if it is not a range.

    The result is for sorting ranges: '<18' is slightly below 18, and '>65' slightly above 65.
    """
    above = _ABOVE.fullmatch(text)
    match = above or _RANGE.fullmatch(text)
    if match is None:
        return None
    start = float(match["low"].replace(",", "."))
    offset = 1e-9 * max(1.0, abs(start))
    if above:
        return start + offset
    return start - offset if match["below"] else start
