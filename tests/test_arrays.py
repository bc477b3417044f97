"""One conversion for every entrance: whatever holds the numbers, the call says what it says of float64 and int64."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
import torch

from reticent import arrays
from reticent.data.load import of_python, together
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.errors import InputError, ShapeError
from reticent.jobs.attack import Outputs
from reticent.jobs.grouping import of_outputs
from reticent.jobs.locate.source import member_ids
from reticent.procedures.estimator import Estimator


class Holder:
    """An object of another library: an array by `__array__`, or by DLPack alone."""

    def __init__(self, value, dlpack=False):
        self.value = np.array(value)
        if dlpack:
            self.__class__ = Packed

    def __array__(self, dtype=None, copy=None):
        return self.value


class Packed:
    def __dlpack__(self, **values):
        return self.value.__dlpack__(**values)

    def __dlpack_device__(self):
        return self.value.__dlpack_device__()


def read_only(value):
    value = value.copy()
    value.flags.writeable = False
    return value


def tensor(value, dtype=None):
    return torch.from_numpy(np.ascontiguousarray(value)).to(dtype)


NUMBERS = {
    **{kind: lambda v, kind=kind: v.astype(kind) for kind in ("int8", "int16", "int32", "int64")},
    **{kind: lambda v, kind=kind: v.astype(kind) for kind in ("float16", "float32", "longdouble", ">f8", ">f4", ">i2")},
    "objects": lambda v: v.astype(object),
    "decimals": lambda v: np.vectorize(lambda one: Decimal(float(one)), otypes=[object])(v),
    "fractions": lambda v: np.vectorize(lambda one: Fraction(int(one)), otypes=[object])(v),
    "lists": lambda v: v.tolist(),
    "list of tensors": lambda v: [torch.tensor(row) for row in v],
    "list of masked": lambda v: [np.ma.array(row, mask=False) for row in v],
    "nothing masked": lambda v: np.ma.array(v, mask=False),
    "read-only": read_only,
    "every second": lambda v: np.repeat(v, 2, axis=0)[::2],
    "backwards": lambda v: np.ascontiguousarray(v[::-1])[::-1],
    "Fortran's order": np.asfortranarray,
    "array of another library": Holder,
    "DLPack": lambda v: Holder(v, dlpack=True),
    "tensor": tensor,
    "tensor of int8": lambda v: tensor(v, torch.int8),
    "bfloat16": lambda v: tensor(v, torch.bfloat16),
    "float8_e4m3fn": lambda v: tensor(v, torch.float8_e4m3fn),
    "float8_e5m2": lambda v: tensor(v, torch.float8_e5m2),
    "with gradients": lambda v: tensor(v, torch.float64).requires_grad_() * 1,
    "sparse tensor": lambda v: tensor(v).to_sparse(),
    "negative view": lambda v: torch._neg_view(-tensor(v, torch.float64)),
}
FLOATING = {
    "float16",
    "float32",
    "longdouble",
    ">f8",
    ">f4",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "with gradients",
}
FLOATING |= {"decimals", "fractions", "negative view"}
WHOLE = {name: form for name, form in NUMBERS.items() if name not in FLOATING}
UNSIGNED = {
    **{kind: lambda v, kind=kind: v.astype(kind) for kind in ("uint8", "uint16", "uint32", "uint64", "bool", ">u4")},
    "scipy": lambda v: scipy.sparse.csr_array(v) if v.ndim == 2 else v,
    "arrow": lambda v: pa.array(v) if v.ndim == 1 else v,
}
MODELS, RECORDS = 4, 12
RNG = np.random.default_rng(0)
MEMBERSHIP = RNG.permuted(np.tile([True, False], (RECORDS, MODELS // 2)), axis=1).T
LABELS = np.arange(RECORDS) % 2
# Whole numbers that float8 holds.
LOGITS = RNG.choice([-4.0, -2, -1, 0, 1, 2, 4, 8], size=(MODELS, RECORDS, 2))
CERTAIN = RNG.choice([0.0, 1.0], size=(MODELS, RECORDS))
SHARES = RNG.choice([0.0, 0.25, 0.5, 1.0], size=(MODELS, RECORDS))


def told(**values):
    given = {"labels": LABELS, "membership": MEMBERSHIP} | values
    problem = Outputs(**given).problem()
    signals = problem.signals
    return [
        np.asarray(one, np.float64).tolist()
        for one in (
            signals.margins[:, :],
            signals.labels,
            signals.logits[:, :] if signals.logits is not None else [],
            problem.membership.matrix,
            problem.targets,
            problem.references,
        )
    ]


@pytest.mark.parametrize("form", NUMBERS)
def test_logits_and_margins_of_any_type(form):
    made = NUMBERS[form]
    assert told(logits=made(LOGITS)) == told(logits=LOGITS)
    assert told(margins=made(LOGITS[:, :, 0])) == told(margins=LOGITS[:, :, 0])
    shares = SHARES if form in FLOATING - {"fractions"} else CERTAIN
    assert told(probabilities=made(shares)) == told(probabilities=shares)


@pytest.mark.parametrize("form", NUMBERS | UNSIGNED)
def test_labels_and_groups_of_any_type(form):
    made = (NUMBERS | UNSIGNED)[form](LABELS)
    assert told(logits=LOGITS, labels=made) == told(logits=LOGITS)
    assert np.array_equal(of_outputs(LABELS, {"g": made})[1].codes, of_outputs(LABELS, {"g": LABELS})[1].codes)
    x = np.arange(2.0 * RECORDS).reshape(RECORDS, 2)
    for records in (of_python("mine", (x, made)), together({"a": (x, made)})[0]):
        assert records.y.tolist() == LABELS.tolist()
        assert records.y.dtype == np.int64


@pytest.mark.parametrize("form", UNSIGNED)
def test_numbers_without_a_sign(form):
    made = UNSIGNED[form]
    positive = np.abs(LOGITS) if form != "bool" else (LOGITS > 0).astype(float)
    assert told(margins=made(positive[:, :, 0])) == told(margins=positive[:, :, 0])
    assert told(probabilities=made(CERTAIN)) == told(probabilities=CERTAIN)
    if form != "bool":
        assert told(logits=made(positive)) == told(logits=positive)


@pytest.mark.parametrize("form", sorted((WHOLE | UNSIGNED).keys() - {"bool"}))
def test_rows_and_members_of_any_whole_type(form):
    made = (WHOLE | UNSIGNED)[form]
    rows = np.array([3, 1, 2])
    found = told(logits=LOGITS, targets=made(rows), references=made(rows))
    assert found == told(logits=LOGITS, targets=rows, references=rows)
    assert member_ids(made(rows), 9).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "form",
    [
        lambda v: v.tolist(),
        lambda v: v.astype(object),
        torch.from_numpy,
        lambda v: np.ma.array(v, mask=False),
        Holder,
        np.asfortranarray,
        scipy.sparse.csr_array,
        lambda v: [torch.from_numpy(row) for row in v],
        read_only,
    ],
)
def test_membership_in_any_form_of_booleans(form):
    assert told(logits=LOGITS, membership=form(MEMBERSHIP)) == told(logits=LOGITS)
    assert np.array_equal(Membership(form(MEMBERSHIP)).matrix, MEMBERSHIP)
    flags = form(MEMBERSHIP[:1])
    with pytest.raises(InputError, match=r"expected 12 truth values, one a record, got shape \(1, 12\)"):
        member_ids(flags, RECORDS)


@pytest.mark.parametrize("form", sorted(NUMBERS.keys() - {"int8", "int16", "int32", "int64", ">i2", "tensor of int8"}))
def test_features_of_any_type(form):
    x = RNG.choice([-4.0, -2, -1, 0, 1, 2, 4, 8], size=(RECORDS, 3))
    made = NUMBERS[form](x)
    wanted = Records.make(x, LABELS)
    both = {"a": (made, LABELS), "b": (x.astype(arrays.array(made).dtype), LABELS)}
    found = [of_python("mine", (made, LABELS)), together(both)[0].take(np.arange(RECORDS))]
    for records in (*found, Records.make(made, LABELS)):
        assert records.kind == "tabular"
        assert np.array_equal(records.x, wanted.x)
        assert records.digest == wanted.digest


@pytest.mark.parametrize(
    "form", ["int8", "int16", "uint16", "uint32", "uint64", "int64", ">i2", "tensor of int8", "lists"]
)
def test_tokens_of_any_whole_type(form):
    x = np.arange(3 * RECORDS).reshape(RECORDS, 3) % 7
    records = of_python("mine", ((NUMBERS | UNSIGNED)[form](x), LABELS))
    assert (records.kind, records.vocabulary) == ("tokens", 7)
    assert records.digest == Records.make(x, LABELS).digest


class Answering:
    """A classifier whose probabilities come in another form."""

    def __init__(self, form):
        self.form, self.classes_ = form, [0, 1]

    def predict_proba(self, x):
        return self.form(np.stack([x[:, 0] / 4, 1 - x[:, 0] / 4], axis=1))


@pytest.mark.parametrize(
    "form", ["float16", "float32", "longdouble", ">f4", "bfloat16", "with gradients", "lists", "objects"]
)
def test_answers_of_a_users_classifier_of_any_type(form):
    x = np.repeat([[1.0], [2.0], [3.0]], 4, axis=0)
    found, wanted = (
        Estimator(Answering(made), x, 2, "mine")(torch.from_numpy(x)) for made in (NUMBERS[form], lambda v: v)
    )
    assert torch.equal(found, wanted)
    assert found[:, 1].sub(found[:, 0]).tolist() == pytest.approx(np.repeat(np.log([3, 1, 1 / 3]), 4))


def test_columns_of_records_are_arrays():
    records = Records.make(np.zeros((3, 1)), [0, 1, 0], columns={"g": torch.tensor([1, 2, 3]), "h": ["a", None, "b"]})
    assert records.take(np.array([2, 0])).columns["g"].tolist() == [3, 1]
    assert records.columns["h"].tolist() == ["a", None, "b"]


VOID = np.zeros(3, dtype="V2")
REFUSED = [
    (
        np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 1]),
        InputError,
        "y: 2 of 3 values are masked: .* leave these records out",
    ),
    ([np.ma.array([1.0], mask=True)], InputError, "y: 1 of 1 values are masked"),
    ([1.0, np.ma.masked], InputError, "y: 1 of 1 values are masked"),
    (np.array([1 + 2j]), InputError, r"y: expected real numbers, got complex ones \(complex128\)"),
    (torch.tensor([1 + 2j]).conj(), InputError, "y: expected real numbers, got complex ones"),
    (torch.zeros(3, device="meta"), InputError, "y: the tensor is on the device meta, which holds no numbers"),
    (
        scipy.sparse.csr_array((10**6, 10**6)),
        InputError,
        "y: sparse numbers of shape .* take 7450.6 GiB .* at most 1 GiB",
    ),
    (torch.sparse_coo_tensor(size=(10**6, 10**6), check_invariants=True), InputError, "y: sparse"),
    ([[0.5], [1, 2]], ShapeError, r"y: .* entries of different shapes: \(1,\) at position 0 and \(2,\) at position 1"),
    (VOID, ShapeError, r"y: .* type \|V2, which NumPy knows no name of: is it bfloat16\? Convert it to float32"),
]


@pytest.mark.parametrize(("value", "kind", "words"), REFUSED)
def test_what_holds_no_numbers_is_refused_at_every_entrance(value, kind, words):
    with pytest.raises(kind, match=words):
        arrays.array(value, "y")
    words = words.removeprefix("y: ")
    x = np.zeros((3, 1))
    for call in (
        lambda: told(logits=value),
        lambda: told(margins=value),
        lambda: told(probabilities=value),
        lambda: told(logits=LOGITS, labels=value),
        lambda: told(logits=LOGITS, membership=value),
        lambda: told(logits=LOGITS, targets=value),
        lambda: told(logits=LOGITS, references=value),
        lambda: of_outputs(LABELS, {"g": value}),
        lambda: Records.make(value, [0, 1, 0]),
        lambda: Records.make(x, value),
        lambda: Records.make(x, [0, 1, 0], columns={"g": value}),
        lambda: of_python("mine", (x, value)),
        lambda: of_python("mine", (value, [0, 1, 0])),
        lambda: together({"a": (x, value)}),
        lambda: together({"a": (value, [0, 1, 0])}),
        lambda: member_ids(value, 3),
    ):
        with pytest.raises(kind, match=words):
            call()


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["a", None, "b"], "y: 1 of 3 values are missing, the first is None for record 1"),
        (["a", np.nan, "b"], "y: 1 of 3 values are missing, the first is nan for record 1"),
        (np.array(["a", "b", np.nan], dtype=object), "y: 1 of 3 values are missing, the first is nan for record 2"),
        (np.array([0, None, None], dtype=object), "y: 2 of 3 values are missing, the first is None for record 1"),
        ([0.0, 1.0, np.nan], "y: expected whole numbers as labels, got nan for record 2"),
        (pa.array(["a", None, "b"]), "y: 1 of 3 values are missing, the first is None for record 1"),
        (pa.array([0, 1, None]), "y: expected whole numbers as labels, got nan for record 2"),
    ],
)
def test_a_missing_label_is_no_class(labels, words):
    x = np.zeros((3, 1))
    with pytest.raises(InputError, match=words):
        of_python("mine", (x, labels))
    with pytest.raises(InputError, match=f"part: {words}" if "missing" in words else words):
        together({"part": (x, labels)})
    with pytest.raises(InputError, match=words.replace("y:", "labels:")):
        told(logits=LOGITS[:, :3], labels=labels, membership=MEMBERSHIP[:, :3])


def test_a_number_beside_texts_is_a_text_as_before():
    assert of_python("mine", (np.zeros((4, 1)), ["b", 1, 2.5, "b"])).class_names == ("1", "2.5", "b")


def test_missing_features_are_counted():
    with pytest.raises(InputError, match="mine: x: 1 of 6 values are missing, the first is None for record 2"):
        of_python("mine", (np.array([[1, 2], [3, 4], [None, 5]], dtype=object), [0, 1, 0]))


def test_large_whole_numbers_keep_every_digit():
    assert arrays.array(np.array([2**53 + 1, 1], dtype=object)).tolist() == [2**53 + 1, 1]
    assert arrays.array([2**70])[0] == 2**70
    assert arrays.array(np.array([1.0 + 2**-50])).tolist() == [1.0 + 2**-50]
    assert arrays.array(np.empty((0, 3), dtype=object)).shape == (0, 3)
