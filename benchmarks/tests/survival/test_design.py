"""Splits of a table, and its covariates as numbers."""

import numpy as np

from eddi_benchmarks.survival.design import Split


def draw(patients, seed=0, max_train=0):
    return Split.draw(patients, seed=seed, test_share=0.25, max_train=max_train)


def test_a_split_has_every_row_once(patients):
    split = draw(patients)
    assert len(split.test) == 50
    times = np.sort(np.r_[split.train.time, split.test.time])
    assert np.array_equal(times, np.sort(patients.time))


def test_the_number_of_training_rows_may_be_limited(patients):
    assert len(draw(patients, max_train=30).train) == 30


def test_columns_are_complete_and_standardised(patients):
    columns = draw(patients).columns()
    assert list(columns) == ["age", "group", "noise"]
    assert columns["group"][0].shape[1] == 2
    for train, test in columns.values():
        assert np.isfinite(train).all()
        assert np.isfinite(test).all()
        assert np.allclose(train.mean(0), 0)
