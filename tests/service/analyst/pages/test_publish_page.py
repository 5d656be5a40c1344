"""The form that publishes a model offers the stopping rules that its target can have."""

import httpx
import pytest

from eddi import Variable
from eddi.model.certificate import THRESHOLDS, Certificate
from eddi.service.analyst.pages.publish_page import describe_certificates

AGE = Variable("age", "real", unit="years")
SEX = Variable("sex", "binary", levels=(0, 1))


def make_certificate(target, within):
    n_wrong = tuple(0 for _ in THRESHOLDS)
    return Certificate((target.name,), {}, within, 100, THRESHOLDS, n_wrong, tuple(map(float, n_wrong)))


def test_a_quantity_without_a_certificate_says_why_no_error_rate_is_offered():
    text = describe_certificates(AGE, [])
    assert "No error rate is offered, because the target is a quantity" in text
    assert "with a largest error that counts as correct" in text


def test_a_quantity_with_a_certificate_names_the_largest_error():
    text = describe_certificates(AGE, [make_certificate(AGE, 2.5)])
    assert text == (
        "If errors of up to 2.5 years count as correct, error rates from 3% up can be guaranteed with a "
        "confidence of 95%, from 100 rows that training did not use."
    )


def test_levels_need_no_largest_error():
    text = describe_certificates(SEX, [make_certificate(SEX, None)])
    assert text.startswith("Error rates from 3% up can be guaranteed")
    assert "no error rate can be guaranteed" in describe_certificates(SEX, [])


@pytest.mark.parametrize(
    ("name", "offered", "absent"),
    [("stage", "probability_above", "within"), ("age", "interval_below", "risk")],
)
def test_the_form_offers_what_the_target_can_have(gallery_site, gallery, name, offered, absent):
    page = httpx.get(f"{gallery_site}/analyst/models/{gallery.digests[name]}/publish", timeout=60).text
    assert f'name="{offered}"' in page
    assert f'name="{absent}"' not in page
