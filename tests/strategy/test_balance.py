"""A strategy that balances sections; tests/interview/test_section_rules.py has it in interviews."""

import pytest

from eddi.errors import StrategyError
from eddi.strategy import Balance, Information


@pytest.mark.parametrize("shares", [{"mood": 0.0}, {"mood": 0.8, "sleep": 0.4}, {}])
def test_shares_that_are_no_shares_are_rejected(shares):
    with pytest.raises(StrategyError, match="share"):
        Balance(Information(), shares)
