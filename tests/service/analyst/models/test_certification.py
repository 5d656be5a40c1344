"""Models of the workshop are certified on the rows that training did not use."""

from dataclasses import replace

from eddi.service.analyst.models.certification import certify_held_out
from eddi.table import formats


def test_a_target_with_levels_is_certified(model, people):
    fitted = replace(model.model_, target=("stage",), certificates={})
    certify_held_out(fitted, formats.read(people(40, seed=5)))
    [certificate] = fitted.certificates.values()
    assert certificate.n_rows > 0
