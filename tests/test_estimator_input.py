"""Tables and targets that scikit-learn passes to an estimator."""

import numpy as np
import pandas as pd
import pytest

from eddi import PartialVAE
from eddi.estimator_input import join_target, read_table


def test_fitting_records_the_number_and_the_names_of_columns():
    estimator = PartialVAE()
    read_table(estimator, pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), reset=True)
    assert estimator.n_features_in_ == 2
    assert list(estimator.feature_names_in_) == ["a", "b"]


def test_an_array_has_the_given_columns_except_while_fitting():
    estimator = PartialVAE()
    fitted = read_table(estimator, np.zeros((3, 2)), reset=True)
    assert fitted.column_names == ["x0", "x1"]
    assert not hasattr(estimator, "feature_names_in_")
    later = read_table(estimator, np.zeros((1, 2)), reset=False, columns=["a", "b"])
    assert later.column_names == ["a", "b"]


def test_arrays_fail_with_the_messages_of_scikit_learn():
    estimator = PartialVAE()
    read_table(estimator, np.zeros((3, 2)), reset=True)
    with pytest.raises(ValueError, match="X has 3 features, but PartialVAE is expecting 2"):
        read_table(estimator, np.zeros((3, 3)), reset=False)


def test_a_target_is_joined_only_if_it_is_declared_and_not_a_column():
    table = read_table(PartialVAE(), pd.DataFrame({"a": [1.0, 2.0]}), reset=True)
    joined = join_target(table, [3.0, np.nan], "y")
    assert joined.column("y").to_pylist() == [3.0, None]
    assert join_target(table, [3.0, 4.0], None) is None
    assert join_target(table, [3.0, 4.0], "a") is None
    assert join_target(table, [3.0, 4.0], ["y"]) is None


def test_a_target_of_another_length_is_refused():
    table = read_table(PartialVAE(), pd.DataFrame({"a": [1.0, 2.0]}), reset=True)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        join_target(table, [1.0, 2.0, 3.0], "y")
