"""Word lists and patterns for the text in a table: scales, opposites, identifiers, dates, ranges."""

import re

_SCALES = """
very low, vlow, low, lower, below average, medium low, medium, med, moderate, mid, middle, average, normal,
  above average, medium high, high, higher, very high, vhigh, extreme;
lo, med, mid, hi;
xxs, xs, s, m, l, xl, xxl, xxxl;
tiny, very small, small, medium, med, big, large, very large, very big, huge;
never, almost never, hardly ever, very rarely, rarely, seldom, once in a while, occasionally,
  sometimes, half the time, about half the time, often, frequently, usually, most of the time,
  very often, very frequently, nearly always, almost always, always;
never, former, current;
never smoked, formerly smoked, smokes;
never, ex, current;
never, rarely, occasionally, sometimes, regularly, often, heavily;
never, once a year, several times a year, once a month, several times a month, once a week, every week,
  several times a week, every day;
never, yearly, quarterly, monthly, biweekly, weekly, daily, hourly;
no, a little, some, a lot;
none, a little, some, much, a lot, a great deal, all;
few, some, many, most, all;
never, less than monthly, monthly, weekly, daily, daily or almost daily;
not at all, several days, more than half the days, nearly every day;
not at all, a little, a little bit, slightly, somewhat, moderately, quite a bit, very, very
  much, extremely, completely;
very poor, very bad, poor, bad, fair, medium, acceptable, ok, okay, average, satisfactory, good, very
  good, great, excellent, outstanding;
po, fa, ta, gd, ex;
no, mn, av, gd;
unf, rfn, fin;
fair, good, very good, premium, ideal;
i1, si2, si1, vs2, vs1, vvs2, vvs1, if;
unacc, acc, good, vgood;
salvage, poor, fair, good, very good, like new, new, mint;
unacceptable, needs improvement, partially meets, meets, fully meets, exceeds, outstanding;
very unhealthy, unhealthy, moderate, good, very good;
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
none, preschool, kindergarten, elementary, primary, middle school, less than hs, less than high school,
  some high school, hs grad, hs, high school, high school graduate, secondary, ged, vocational, trade school,
  some college, junior college, associate, associates, associate's, associate's degree, assoc voc, assoc acdm,
  college, bachelor, bachelors, bachelor's, bachelor's degree, undergraduate, graduate, postgraduate, master,
  masters, master's, master's degree, prof school, professional, professional degree, phd, doctorate,
  doctoral, doctoral degree;
beginner, novice, intermediate, proficient, advanced, expert;
intern, junior, mid, middle, senior, lead, principal, executive;
freshman, sophomore, junior, senior;
infant, baby, toddler, child, teen, teenager, adolescent, young adult, young, adult, middle aged, middle age,
  senior, old, elderly;
first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth;
economy, premium economy, business, first;
bronze, silver, gold, platinum, diamond;
minor, moderate, major, severe, critical, fatal;
too low, just right, too high;
free, basic, standard, plus, pro, premium, enterprise;
january, february, march, april, may, june, july, august, september, october, november, december;
jan, feb, mar, apr, may, jun, jul, aug, sep, sept, oct, nov, dec;
monday, tuesday, wednesday, thursday, friday, saturday, sunday;
mon, tue, tues, wed, thu, thur, thurs, fri, sat, sun;
worst, worse, neutral, better, best;
decreased, unchanged, stable, increased;
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
        *[("nein", "ja"), ("nee", "ja"), ("nej", "ja")],
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
    r"|^(?:seqn|uuid|guid|index|idx|mrn|ssn|idnum|rownames?|unnamed: ?0(?:\.\d+)?|level_0|\.\.\.1)$",
    re.IGNORECASE,
)
"""Matches names of columns that identify rows."""

_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d{1,2}\.\d{1,2}\.\d{2,4}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
DATE_OR_TIME = rf"^(({_DATE})([T ]{_TIME})?|{_TIME})$"
"""Pattern of a date, a time of day, or both. Arrow, which uses it, does not support look-around."""

_AMOUNT = r"(?:[$€£¥]|R\$|CHF|EUR|USD|GBP)?\s*-?\d+(?:[.,]\d+)*\s*(?:[kKM](?![a-z]))?"
_BELOW = r"<=?|≤|(?:under|below|less than|fewer than|up to|younger than|at most)\s"
_ABOVE = r">=?|≥|(?:over|above|more than|older than|at least|from)\s"
# '5 years', but not the code '5a'
_UNIT = r"(?:\s*%|\s*[€£$]|(?<=[\d)\]kKM])\s*[a-z]+/[a-z]+|\s*g|(?:\s+[a-z]+){1,3})?"
_RANGE = re.compile(
    rf"(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE}))?\s*[\[(]?(?P<low>{_AMOUNT})"
    rf"(?:{_UNIT}\s*(?:-|\u2013|\u2014|to|,|\.\.)\s*(?P<high>{_AMOUNT})[\])]?"
    rf"|\s*(?P<open>\+|plus|more|{_UNIT}\s+(?:and|or) (?:more|over|older|above|up|greater)))?{_UNIT}",
    re.IGNORECASE,
)
_MULTIPLIERS = {"k": 1e3, "m": 1e6}


def natural_sort_key(text: str) -> list[tuple[int, float, str]]:
    """Return a key that sorts 'week 2' before 'week 10'."""
    parts = re.findall(r"\d+|\D+", text.casefold())
    return [(0, float(part), "") if part.isdecimal() else (1, 0.0, part) for part in parts]


def parse_range_start(text: str) -> float | None:
    """Return where a range such as '18-24', '<18' or '$100,000 or more' starts, or None if it is none.

    The result is for sorting ranges: '<18' is slightly below 18, and '>65' slightly above 65.
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return None
    start = _parse_amount(match["low"])
    offset = 1e-9 * max(1.0, abs(start))
    if match["above"]:
        return start + offset
    return start - offset if match["below"] else start


def is_range(text: str) -> bool:
    """Whether a text is a range with a bound, and not just a number with a unit."""
    match = _RANGE.fullmatch(text.strip())
    return match is not None and any(match[group] for group in ("below", "above", "high", "open"))


def _parse_amount(text: str) -> float:
    """Return an amount such as $25,000 or 20k. A comma before three digits separates thousands."""
    digits = re.sub(r"[^\d.,-]", "", text)
    digits = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", digits).replace(",", ".")
    return float(digits) * _MULTIPLIERS.get(text.strip()[-1].lower(), 1.0)
