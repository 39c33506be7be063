"""Latitude and longitude in files: places are compared on the sphere."""

import json

import numpy as np
import pandas as pd
import pytest

import typicality
from cli.conftest import record_of, words

TEXT = {"encoding": "utf-8"}
FAR = 75  # a place far to the east, in the Pacific


@pytest.fixture(scope="module")
def frame():
    """Places around New Zealand and Tonga, on both sides of the date line, and in Europe."""
    rng = np.random.default_rng(0)
    lat = np.concatenate([rng.normal(-30, 5, 75), [-25.0], rng.normal(48, 4, 74)])
    lng = np.concatenate([rng.normal(179, 4, 75), [-120.0], rng.normal(8, 5, 74)])
    lng = np.where(lng > 180, lng - 360, lng)
    return pd.DataFrame({"lat": lat, "lng": lng}).round(4)


@pytest.fixture(params=["in memory", "by passes"])
def call(request):
    return request.getfixturevalue("run" if request.param == "in memory" else "in_blocks")


@pytest.fixture
def file(frame, tmp_path):
    frame.to_csv(tmp_path / "places.csv", index=False)
    return tmp_path / "places.csv"


def test_outliers_at_the_date_line_vanish(call, run, file, frame, tmp_path):
    frame = frame[: FAR + 1]
    frame.to_csv(file, index=False)
    done = call("outliers", file, "--rate", 0.02, "-o", tmp_path / "out")
    said = words(done)
    assert "Assumed: lat and lng are places on the globe, compared on the sphere" in said
    assert "(--geo none compares them as plain numbers)" in said
    record = record_of(tmp_path / "out")
    assert record["data"]["places"] == ["lat", "lng"]
    worst = record["results"]["atypical_rows"][0]
    assert worst["row"] == FAR
    assert worst["reasons"][0]["column"] == "lng"
    assert typicality.load(tmp_path / "out").predict(frame)[FAR] == -1
    assert run("report", tmp_path / "out", "--force").exit_code == 0


@pytest.mark.parametrize(("geo", "same"), [("lat,lng", True), ("none", False)])
def test_scores_do_not_depend_on_where_the_date_line_is(run, file, frame, tmp_path, geo, same):
    scores = []
    for east in (0, 60):
        lng = (frame["lng"] + east + 180) % 360 - 180
        frame.assign(lng=lng).round(4).to_csv(file, index=False)
        run("outliers", file, "--geo", geo, "-o", tmp_path / "out", "--force")
        scores.append(pd.read_csv(tmp_path / "out" / "outliers.csv")["score"])
    assert np.allclose(*scores, atol=1e-3) == same


def test_plain_numbers_are_compared_on_request(run, file, tmp_path):
    done = run("outliers", file, "--geo", "none", "-o", tmp_path / "out")
    assert "Assumed" not in done.stdout
    record = record_of(tmp_path / "out")
    assert record["data"]["places"] is None
    assert record["preparation"]["class"] == "ColumnScaler"


def test_clusters_cross_the_date_line(call, file, tmp_path):
    words(call("cluster", file, "-m", "fcm", "-k", 2, "-o", tmp_path / "out"))
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")["label"].to_numpy()
    assert [len({*labels[:FAR]}), len({*labels[FAR + 1 :]})] == [1, 1]
    medians = record_of(tmp_path / "out")["results"]["clusters"][0]["medians"]
    assert [*medians] == ["lat", "lng"]


def test_named_places_are_scored_and_explained_in_their_units(run, file, frame, tmp_path):
    other = frame.rename(columns={"lat": "phi", "lng": "lambda"}).assign(height=range(150))
    other["height"] = other["height"] ** 2 % 97 / 7
    other.to_csv(tmp_path / "named.csv", index=False)
    options = ("--geo", "phi,lambda", "--rate", 0.01, "-o", tmp_path / "out")
    assert run("outliers", tmp_path / "named.csv", *options).exit_code == 0
    scored = run("score", tmp_path / "out", tmp_path / "named.csv")
    assert scored.exit_code == 0, scored.stderr
    done = run("explain", tmp_path / "out", tmp_path / "named.csv", "--row", 3, "--json")
    columns = {each["column"]: each for each in json.loads(done.stdout)["columns"]}
    assert {*columns} == {"phi", "lambda", "height"}
    assert columns["phi"]["typical"] == pytest.approx(columns["phi"]["value"], abs=8)
    away = abs(columns["lambda"]["typical"] - columns["lambda"]["value"])
    assert min(away, 360 - away) < 8


def test_wrong_places_are_refused(run, file, frame, tmp_path):
    run("outliers", file, "-o", tmp_path / "out", "--no-report")
    (tmp_path / "new.csv").write_text("lat,lng\n10,20\n95,3\n", **TEXT)
    done = run("score", tmp_path / "out", tmp_path / "new.csv")
    assert (done.exit_code, done.stderr.split(":")[1]) == (
        3,
        f" {tmp_path}/new.csv, line 3, column 'lat'",
    )
    done = run("outliers", file, "--geo", "lng,lat", "-o", tmp_path / "other")
    assert done.exit_code == 3
    assert "outside -90 to 90" in done.stderr
    done = run("outliers", file, "--geo", "lat,width", "-o", tmp_path / "other")
    assert done.exit_code == 3
    assert "'width' is not one of the columns" in done.stderr
    assert run("outliers", file, "--geo", "lat").exit_code == 2
    frame.assign(kind=["a", "b"] * 75).to_csv(tmp_path / "kinds.csv", index=False)
    mixed = (tmp_path / "kinds.csv", "--categorical", "auto", "-o", tmp_path / "mixed")
    assert "plain numbers because of the categories" in words(run("outliers", *mixed))
    assert run("outliers", *mixed, "--geo", "lat,lng", "--force").exit_code == 3


def test_places_close_together_beside_measurements_are_no_warning(run, tmp_path):
    rng = np.random.default_rng(0)
    names = ["lat", "lon", "rooms", "price"]
    places = pd.DataFrame(rng.normal([50, 10, 3, 9], [1e-3, 1e-3, 1, 1], (200, 4)), columns=names)
    places.to_csv(tmp_path / "town.csv", index=False)
    words(run("cluster", tmp_path / "town.csv", "-o", tmp_path / "out", "--no-report"))
    assert record_of(tmp_path / "out")["warnings"] == []
