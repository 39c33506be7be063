"""Fits that are killed and go on from a file end with the same model, bit for bit."""

import hashlib
import json
import warnings

import numpy as np
import pytest
from safetensors.numpy import load as arrays_of_bytes
from safetensors.numpy import save as bytes_of_arrays
from sklearn.base import clone

from instances import OTHERS, TRANSFORMERS
from typicality import (
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    SequentialPCM,
    SparseAdaptivePCM,
    save,
)
from typicality.exceptions import ClusteringWarning, ModelFileError
from typicality.kernels import Mixed
from typicality.persistence import checkpoint as module
from typicality.persistence.checkpoint import Checkpoint

RNG = np.random.default_rng(0)
ROWS = np.vstack([RNG.normal(0, 1, (60, 3)), RNG.normal(5, 1, (50, 3)), RNG.normal(9, 1, (9, 3))])
KEY = {"versions": "1", "rows": "2", "parameters": "3"}
STEPS = FuzzyCMeans(3, tol=1e-12, init="max-min", n_init=1)  # one run of many iterations
AFTER = (1, 2, 5, 14)  # the writings after which a fit is killed, one after the other
MODELS = [  # every class, and every kind of state
    *(*TRANSFORMERS, *OTHERS),
    EntropyCMeans(n_clusters=2, kernel="gaussian", init="annealing"),
    SparseAdaptivePCM(n_clusters=4, lam=0.02, kernel="gaussian"),
    SequentialPCM(lam=0.05, kernel="gaussian"),
    AlphaCutClustering(kernel=Mixed(2)),
]


class KilledError(BaseException):
    """Stands for the end of a process: nobody cleans up."""


@pytest.fixture
def eager(monkeypatch):
    """The file is written after every iteration."""
    monkeypatch.setattr(module, "_EVERY", 0.0)
    monkeypatch.setattr(module, "_SHARE", 0.0)


def seeded(estimator):
    named = "random_state" in estimator.get_params()
    return clone(estimator).set_params(**({"random_state": 0} if named else {}))


def fitted(estimator, rows, keeper=None):
    """The model and the texts of its warnings."""
    model = seeded(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if keeper is None:
            model.fit(rows)
        else:
            keeper.belongs_to(**KEY)
            with keeper.following():
                model.fit(rows)
    return model, [(each.category, str(each.message)) for each in caught]


def killed(estimator, rows, path, monkeypatch, after):
    """Fit until the file was written so often; whether the fit was killed before its end."""
    n_written, write = 0, Checkpoint._write

    def write_and_die(self):
        nonlocal n_written
        write(self)
        n_written += 1
        if n_written == after:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_write", write_and_die)
        patch.setattr(module, "_EVERY", 0.0)  # after every iteration
        patch.setattr(module, "_SHARE", 0.0)
        try:
            fitted(estimator, rows, Checkpoint(path))
        except KilledError:
            return True
    return False


def bytes_of(model, folder):
    save(model, folder)
    return [(folder / name).read_bytes() for name in ("model.json", "arrays.safetensors")]


@pytest.mark.parametrize("estimator", MODELS, ids=str)
def test_model_is_the_same_after_kills(estimator, tmp_path, monkeypatch):
    rows, path = ROWS, tmp_path / "state"
    model, told = fitted(estimator, rows)
    assert killed(estimator, rows, path, monkeypatch, AFTER[0])
    for after in AFTER[1:]:
        killed(estimator, rows, path, monkeypatch, after)
    keeper = Checkpoint(path)
    assert keeper.resumes
    again, told_again = fitted(estimator, rows, keeper)
    assert told_again == told
    assert bytes_of(again, tmp_path / "again") == bytes_of(model, tmp_path / "model")
    keeper.remove()
    assert not path.exists()


def test_single_precision_is_kept(tmp_path, monkeypatch):
    rows, path = ROWS.astype(np.float32), tmp_path / "state"
    estimator = FuzzyCMeans(3, kernel="gaussian", m=1.5)
    assert killed(estimator, rows, path, monkeypatch, after=3)
    again, _ = fitted(estimator, rows, Checkpoint(path))
    assert again.memberships_.dtype == np.float32
    model, _ = fitted(estimator, rows)
    assert bytes_of(again, tmp_path / "again") == bytes_of(model, tmp_path / "model")


def test_finished_iterations_are_not_repeated(tmp_path, monkeypatch):
    model, _ = fitted(STEPS, ROWS)
    assert killed(STEPS, ROWS, tmp_path / "state", monkeypatch, after=9)
    n_steps, run = [], module.picard

    def counting(step, state, **options):
        result = run(step, state, **options)
        n_steps.append(result.n_iter)
        return result

    monkeypatch.setattr(module, "picard", counting)
    fitted(STEPS, ROWS, Checkpoint(tmp_path / "state"))
    assert sum(n_steps) == model.n_iter_ - 9


def test_file_is_written_now_and_then_only(tmp_path):
    fitted(STEPS, ROWS, Checkpoint(tmp_path / "state"))
    assert not (tmp_path / "state").exists()  # such a fit takes no five seconds


@pytest.mark.parametrize(
    ("error", "said"), [(KeyboardInterrupt, "the same command continues from"), (SystemExit, None)]
)
def test_interrupt_brings_the_file_up_to_date(tmp_path, monkeypatch, error, said):
    path, run = tmp_path / "state", module.picard

    def interrupted(step, state, *, callback, **options):
        def after_nine(n_iter, state):
            if n_iter == 9:
                callback(n_iter, state)
                raise error
            return callback(n_iter, state)

        return run(step, state, callback=after_nine, **options)

    with monkeypatch.context() as patch:
        patch.setattr(module, "picard", interrupted)
        with pytest.raises(error, match=said):
            fitted(STEPS, ROWS, Checkpoint(path))
    model, _ = fitted(STEPS, ROWS)
    again, _ = fitted(STEPS, ROWS, Checkpoint(path))
    assert bytes_of(again, tmp_path / "again") == bytes_of(model, tmp_path / "model")


def test_fit_goes_on_when_the_file_cannot_be_written(tmp_path, eager):
    folder = tmp_path / "folder"
    folder.mkdir()
    keeper = Checkpoint(folder / "state")
    folder.rmdir()
    model, told = fitted(FuzzyCMeans(2), ROWS, keeper)
    assert model.n_clusters_ == 2
    assert {category for category, _ in told} == {ClusteringWarning}
    assert "state could not be written" in told[0][1]


# ---- files that are refused ----------------------------------------------------------------------


@pytest.mark.parametrize("name", KEY)
def test_checkpoint_of_another_fit_is_refused(name, tmp_path, monkeypatch):
    path = tmp_path / "state"
    assert killed(STEPS, ROWS, path, monkeypatch, after=3)
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=r"state cannot be used: .*other"):
        Checkpoint(path).belongs_to(**{**KEY, name: "another"})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "other", [FuzzyCMeans(3, tol=1e-12, max_iter=999), FuzzyCMeans(4, tol=1e-12), OneClusterPCM()]
)
def test_fit_of_another_course_is_refused(other, tmp_path, monkeypatch):
    assert killed(STEPS, ROWS, tmp_path / "state", monkeypatch, after=3)
    with pytest.raises(ModelFileError, match="differs from the one that was killed"):
        fitted(other, ROWS, Checkpoint(tmp_path / "state"))


def test_other_files_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "state"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ModelFileError, match="not written by typicality"):
        Checkpoint(path)
    assert path.read_text(encoding="utf-8") == "a,b\n1,2\n"
    with pytest.raises(ModelFileError, match="not a regular file"):
        Checkpoint(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Checkpoint(tmp_path / "nowhere" / "state")


def rewritten(path, change):
    """Change the document and the arrays of a checkpoint; the hash is made to fit."""
    head, text, numbers = path.read_bytes().split(b"\n", 2)
    document, arrays = json.loads(text), arrays_of_bytes(numbers)
    change(document, arrays)
    content = json.dumps(document).encode() + b"\n" + bytes_of_arrays(arrays)
    head = head[: len(module._FORMAT)] + hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(head + b"\n" + content)


def without(name):
    return lambda document, arrays: document["entries"][0]["state"].pop(name)


def resized(name, shape):
    def change(document, arrays):
        key = next(key for key in arrays if key.endswith(name))
        arrays[key] = np.zeros(int(np.prod(shape)), arrays[key].dtype)
        document["entries"][0]["state"][name]["shape"] = list(shape)

    return change


def retyped(name, dtype):
    def change(document, arrays):
        key = next(key for key in arrays if key.endswith(name))
        arrays[key] = arrays[key].astype(dtype)

    return change


def replaced(key, value):
    return lambda document, arrays: document["entries"][0].update({key: value})


BAD = {
    "no key": lambda document, arrays: document.pop("key"),
    "no entries": lambda document, arrays: document.pop("entries"),
    "entries are a number": lambda document, arrays: document.update(entries=3),
    "an entry is a text": lambda document, arrays: document.update(entries=["run"]),
    "an unknown status": replaced("status", "fine"),
    "no paths": replaced("paths", []),
    "one path": lambda document, arrays: document["entries"][0]["paths"].pop(),
    "an array is missing": lambda document, arrays: arrays.pop(next(iter(arrays))),
    "an array too many": lambda document, arrays: arrays.update({"0 x": np.zeros(3)}),
    "no prototypes": without("prototypes.offsets"),
    "more clusters": resized("prototypes.offsets", (9, 3)),
    "other columns": resized("prototypes.offsets", (3, 2)),
    "other numbers": retyped("prototypes.offsets", np.float32),
    "whole numbers": retyped("prototypes.offsets", np.int32),
    "a code object": replaced("objects", [{"class": "os.system", "fields": {}}]),
    "a model of nothing": lambda document, arrays: document["entries"][0].update(
        objects=[], warnings=[]
    ),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_damaged_checkpoints_are_refused(change, tmp_path, monkeypatch):
    path = tmp_path / "state"
    assert killed(STEPS, ROWS, path, monkeypatch, after=3)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match="damaged"):
        fitted(STEPS, ROWS, Checkpoint(path))


def test_model_of_other_rows_is_refused(tmp_path, eager):
    starts = {}
    for n_rows in (119, 60):
        path = tmp_path / str(n_rows)
        fitted(STEPS, ROWS[:n_rows], Checkpoint(path))  # the last writing is that of the model
        rewritten(path, lambda document, arrays, n=n_rows: starts.update({n: document["entries"]}))
    rewritten(
        path, lambda document, arrays: document["entries"][0].update(start=starts[119][0]["start"])
    )
    with pytest.raises(ModelFileError, match="damaged"):
        fitted(STEPS, ROWS, Checkpoint(path))


def test_every_byte_is_under_the_hash(tmp_path, monkeypatch):
    path = tmp_path / "state"
    assert killed(STEPS, ROWS, path, monkeypatch, after=3)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="damaged"):
        Checkpoint(path)
