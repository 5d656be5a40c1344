"""Find the order of texts: words of a scale, ranges, numbered labels, and modifiers such as "very"."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from eddi.table.kinds.vocabulary import ORDINAL_SCALES, is_range, parse_range_start

_NUMBERED = re.compile(r"[\[(]?(-?\d{1,3})[\])]?\s*[-\u2013:.=)]\s*(?P<label>[^\W\d].*)")
_ORDINAL_NUMBER = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_MODIFIERS = (
    *(
        "not at all",
        "not",
        "not too",
        "not very",
        "hardly",
        "a little",
        "a bit",
        "slightly",
        "a little bit",
    ),
    *("somewhat", "fairly", "moderately", "pretty", "quite", "", "rather", "mostly", "very", "highly"),
    *("extremely", "completely", "totally"),
)
_DEGREE = re.compile(
    r"(?:very|too|much|more|less|most|least|somewhat|slightly|extremely|fully|partially|quite|a little)\b"
)
# Things that are numbered without being ordered: type 2 is not more than type 1.
_NOMINAL_NOUNS = frozenset(
    [
        *(
            "type",
            "group",
            "cluster",
            "arm",
            "site",
            "room",
            "ward",
            "zone",
            "region",
            "district",
            "batch",
        ),
        *(
            "model",
            "route",
            "line",
            "store",
            "shop",
            "branch",
            "team",
            "brand",
            "product",
            "class",
            "code",
        ),
        *(
            "category",
            "cat",
            "id",
            "no",
            "plan",
            "school",
            "hospital",
            "clinic",
            "center",
            "centre",
            "door",
        ),
    ]
)


@dataclass(frozen=True)
class Order:
    """The ranks of some levels on a common scale.

    Args:
        rank_by_level: a smaller rank comes first.
        is_certain: whether the levels can hardly mean anything else.
        is_numbered: whether only numbers in the levels give the order, as in "Week 2".
    """

    rank_by_level: dict[str, float]
    is_certain: bool = True
    is_numbered: bool = False

    def sort(self, levels: Iterable[str]) -> list[str]:
        """Return the levels in ascending order."""
        return sorted(levels, key=self.rank_by_level.__getitem__)


def find_order(levels: list[str]) -> Order | None:
    """Return the order of all levels, or None if there is none."""
    for find_ranks in (_rank_words, _rank_ranges, _rank_modifiers):
        ranks = find_ranks(levels)
        if ranks is not None:
            return Order(ranks)
    return _rank_numbered(levels) or _rank_by_noun(levels)


def find_partial_order(levels: list[str]) -> tuple[Order, list[str]] | None:
    """Return the order of most levels and those that do not belong to it, or None."""
    for words in _scale_words(levels):
        others = [level for level in levels if normalize_label(level) not in words]
        if 0 < len(others) <= len(levels) // 3 and len(levels) - len(others) > 1:
            rest = [level for level in levels if level not in others]
            return Order({level: float(words.index(normalize_label(level))) for level in rest}), others
    others = [level for level in levels if parse_range_start(level) is None]
    rest = [level for level in levels if level not in others]
    ranks = _rank_ranges(rest) if 0 < len(others) <= len(levels) // 3 else None
    return (Order(ranks), others) if ranks is not None else None


def has_ordered_words(levels: list[str]) -> bool:
    """Whether at least two levels are words of the same scale, or begin with a word of degree."""
    labels = [normalize_label(level) for level in levels]
    if sum(_DEGREE.match(label) is not None for label in labels) > 1:
        return True
    return any(sum(label in words for label in labels) > 1 for words in _scale_words(levels))


def normalize_label(level: str) -> str:
    """Return a label in lower case, with single spaces instead of "_" and "-"."""
    return " ".join(re.split(r"[\s_-]+", level.casefold().strip()))


def _scale_words(levels: list[str]) -> list[tuple[str, ...]]:
    first = {normalize_label(level) for level in levels}
    return [scale for scale in ORDINAL_SCALES if not first.isdisjoint(scale)]


def _rank_words(levels: list[str]) -> dict[str, float] | None:
    labels = {level: normalize_label(level) for level in levels}
    for scale in _scale_words(levels):
        if all(label in scale for label in labels.values()):
            return {level: float(scale.index(label)) for level, label in labels.items()}
    return None


def _rank_ranges(levels: list[str]) -> dict[str, float] | None:
    starts = {level: start for level in levels if (start := parse_range_start(level)) is not None}
    is_complete = len(starts) == len(levels) == len(set(starts.values()))
    return starts if is_complete and len(levels) > 1 and any(map(is_range, levels)) else None


def _rank_modifiers(levels: list[str]) -> dict[str, float] | None:
    """Rank labels such as "not too happy", "pretty happy" and "very happy"."""
    labels = {level: normalize_label(level) for level in levels}
    bases = {words[-1] for label in labels.values() if (words := label.split())}
    if len(bases) != 1:
        return None
    (base,) = bases
    modifiers = {level: label.removesuffix(base).strip() for level, label in labels.items()}
    if len(levels) < 3 or any(modifier not in _MODIFIERS for modifier in modifiers.values()):
        return None
    return {level: float(_MODIFIERS.index(modifier)) for level, modifier in modifiers.items()}


def _rank_numbered(levels: list[str]) -> Order | None:
    """Rank labels that begin with their number, such as "1 - Very poor"."""
    matches = {level: _NUMBERED.fullmatch(level.strip()) for level in levels}
    ranks = {level: float(match[1]) for level, match in matches.items() if match is not None}
    if not len(ranks) == len(levels) == len(set(ranks.values())):
        return None
    # The numbers may also be codes, as in "1 - Male". Labels with an order of their own decide.
    labels = [match["label"] for match in matches.values() if match is not None]
    is_certain = has_ordered_words(labels) or _rank_modifiers(labels) is not None
    return Order(ranks, is_certain=is_certain, is_numbered=not is_certain)


def _rank_by_noun(levels: list[str]) -> Order | None:
    """Rank labels that differ in one word: "Week 2" and "Week 10", "1st class" and "2nd class"."""
    labels = {level: normalize_label(level).split() for level in levels}
    prefix, suffix = _common_words(list(labels.values()))
    rest = {level: words[len(prefix) : len(words) - len(suffix)] for level, words in labels.items()}
    if not all(len(words) == 1 for words in rest.values()):
        return None
    words = {level: words[0] for level, words in rest.items()}
    nouns = {*prefix, *suffix}
    for parse in (_parse_ordinal_number, _parse_number, _parse_roman):
        ranks = {level: rank for level, word in words.items() if (rank := parse(word)) is not None}
        if len(ranks) == len(levels) == len(set(ranks.values())):
            is_numbered = parse is not _parse_ordinal_number
            is_nominal = is_numbered and not nouns.isdisjoint(_NOMINAL_NOUNS)
            return None if is_nominal else Order(ranks, is_numbered=is_numbered)
    by_word = _rank_words(list(words.values())) if nouns else None
    return Order({level: by_word[word] for level, word in words.items()}) if by_word else None


def _common_words(labels: list[list[str]]) -> tuple[list[str], list[str]]:
    """Return the words with which all labels begin, and those with which all end."""
    shortest = min(map(len, labels))
    first = labels[0]
    n_prefix = 0
    while n_prefix < shortest - 1 and all(label[n_prefix] == first[n_prefix] for label in labels):
        n_prefix += 1
    n_suffix = 0
    while n_suffix < shortest - 1 - n_prefix and all(
        label[-1 - n_suffix] == first[-1 - n_suffix] for label in labels
    ):
        n_suffix += 1
    return first[:n_prefix], first[len(first) - n_suffix :]


def _parse_ordinal_number(word: str) -> float | None:
    match = _ORDINAL_NUMBER.fullmatch(word)
    return float(match[1]) if match else None


def _parse_number(word: str) -> float | None:
    return float(word) if word.isdecimal() else None


def _parse_roman(word: str) -> float | None:
    return float(_ROMAN.index(word)) if word in _ROMAN else None
