"""Models of the workshop are certified on the rows that training did not use."""

from dataclasses import replace

from eddi.service.analyst.models.certification import certify_held_out
from eddi.table import formats


def test_a_target_with_levels_is_certified(model, people):
    fitted = replace(model.model_, target=("stage",), certificates={})
    certify_held_out(fitted, formats.read(people(40, seed=5)))
    [certificate] = fitted.certificates.values()
    assert certificate.n_rows > 0


def test_a_quantity_is_certified_for_an_error_that_counts_as_correct(model, people):
    fitted = replace(model.model_, target=("age",), certificates={})
    rows = formats.read(people(40, seed=5))
    certify_held_out(fitted, rows)
    assert fitted.certificates == {}
    certify_held_out(fitted, rows, within=10.0)
    [certificate] = fitted.certificates.values()
    assert (certificate.target, certificate.within) == (("age",), 10.0)
