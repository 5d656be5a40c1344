"""A Partial VAE is a scikit-learn estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from eddi import PartialVAE
from eddi.errors import TableError

A_MAPPING = "without a target predict gives a mapping of predictions by name, which rows do not index"


def expected_failures(estimator):
    if estimator.target is None:
        return {"check_methods_sample_order_invariance": A_MAPPING}
    return {}


@parametrize_with_checks(
    [PartialVAE(max_steps=20), PartialVAE(max_steps=20, target="x0")],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def numbers(n_rows=60, seed=0):
    random = np.random.default_rng(seed)
    table = random.normal(size=(n_rows, 1)) + 0.5 * random.normal(size=(n_rows, 3))
    table[random.random(table.shape) < 0.2] = np.nan
    return table


def frame(n_rows=60):
    words = np.array(["low", "high", None], dtype=object)[np.arange(n_rows) % 3]
    return pd.DataFrame(numbers(n_rows), columns=["a", "b", "c"]).assign(d=words)


def test_it_fills_holes_for_the_next_step_of_a_pipeline():
    table = numbers()
    answer = np.nansum(table, axis=1)
    pipeline = make_pipeline(PartialVAE(max_steps=200, random_state=0), StandardScaler(), Ridge())
    assert pipeline.fit(table, answer).score(table, answer) > 0.5


def test_a_pipeline_can_be_cross_validated():
    pipeline = make_pipeline(PartialVAE(max_steps=20, random_state=0), Ridge())
    assert np.isfinite(cross_val_score(pipeline, numbers(), np.arange(60), cv=2)).all()


def test_a_grid_search_over_set_encoders_uses_the_score():
    grid = {"set_encoder": ["zi", "zi-m", "pn", "pnp"]}
    search = GridSearchCV(PartialVAE(max_steps=20, random_state=0), grid, cv=2).fit(numbers())
    best = search.cv_results_["mean_test_score"]
    assert np.isfinite(best).all()
    assert len(set(best)) == 4
    assert search.best_params_["set_encoder"] == grid["set_encoder"][int(best.argmax())]


def test_a_clone_is_unfitted_and_has_the_same_settings():
    fitted = PartialVAE(max_steps=5, set_encoder="pn", target="x1", random_state=3).fit(numbers())
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "network_")


def test_a_clone_with_a_schema_learns_the_same():
    from eddi import Schema

    model = PartialVAE(Schema.infer(numbers()), max_steps=20, random_state=0)
    assert np.array_equal(
        clone(model).fit_transform(numbers()), model.fit(numbers()).transform(numbers())
    )


def test_feature_names_out_are_those_of_the_table():
    assert list(PartialVAE(max_steps=5).fit(frame()).get_feature_names_out()) == ["a", "b", "c", "d"]
    assert list(PartialVAE(max_steps=5).fit(numbers()).get_feature_names_out()) == ["x0", "x1", "x2"]


@pytest.mark.parametrize("source", [numbers, frame, lambda: pl.from_pandas(frame())])
@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_gives_the_frame_asked_for(source, library, kind):
    table = source()
    model = PartialVAE(max_steps=5, random_state=0).fit(table)
    plain = model.transform(table)
    framed = model.set_output(transform=library).transform(table)
    assert isinstance(framed, kind)
    assert list(framed.columns) == list(model.get_feature_names_out())
    assert np.array_equal(np.asarray(framed), np.asarray(plain))


def test_set_output_keeps_the_index():
    table = frame().set_index(np.arange(60) + 100)
    model = PartialVAE(max_steps=5, random_state=0).set_output(transform="pandas")
    assert model.fit_transform(table).index.equals(table.index)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_never_puts_a_column_under_another_name(library):
    table = frame()
    model = PartialVAE(max_steps=5, random_state=0).fit(table)
    expected = model.transform(table)
    turned = table[["d", "c", "b", "a"]].assign(extra=1)
    with config_context(transform_output=library):
        found = model.transform(turned if library == "pandas" else pl.from_pandas(turned))
    assert list(found.columns) == ["a", "b", "c", "d"]
    for name in "abcd":
        assert found[name].to_list() == expected[name].to_list()


def test_set_output_refuses_a_table_that_lacks_a_promised_column():
    table = frame().assign(name=[f"person {place}" for place in range(60)])
    model = PartialVAE(max_steps=5, random_state=0).fit(table).set_output(transform="pandas")
    with pytest.raises(
        TableError, match=r"no column 'name', which the table given to fit had and set_out"
    ):
        model.transform(table.drop(columns="name"))


def test_a_prediction_is_something_metrics_understand():
    table = numbers(200)
    seen = ~np.isnan(table[:, 0])
    model = PartialVAE(max_steps=300, target="x0", random_state=0).fit(table)
    assert r2_score(table[seen, 0], model.predict(table[seen])) > 0.3
