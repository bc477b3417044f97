"""A user's numbers, whatever holds them, as one NumPy array: the one conversion for every entrance.

Known by what they can do, so that neither torch, SciPy, pandas nor JAX is loaded for it.
"""

import decimal
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.errors import InputError, ShapeError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

DENSE_BYTES = 2**30
"""Sparse numbers are written out, zeros and all, up to this size."""
SCALARS = (bool, int, float, complex, str, bytes, type(None))
CONVERTED = ("bfloat16", "float8_", "float6_", "float4_")
"""Beginnings of the names of types that NumPy lacks, and float32 holds."""


def array(value: Any, name: str = "") -> NDArray[Any]:
    """Take an array, a list, a tensor, a table or a column of one."""
    where = f"{name}: " if name else ""
    try:
        return _native(_read(value, where), where)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever a foreign type raises)
        text = str(error).partition("\n")[0]
        raise ShapeError(f"{where}expected a rectangular array, got {type(value).__name__} ({text})") from None


def described(values: NDArray[Any]) -> str:
    """Say what an array holds, which is no numbers."""
    first = next(iter(values.flat), None)
    if values.dtype.kind in {"O", "T"} and not isinstance(first, (str, bytes)):
        return f"Python objects, the first of type {type(first).__name__}"
    return f"texts, the first {str(first)[:40]!r}"


def missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which objects stand for no value: None, pandas' NA and NaT, and NaN."""
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=np.bool_)
    return np.array([_is_missing(one) for one in values.flat], dtype=np.bool_).reshape(values.shape)


def _is_missing(one: Any) -> bool:
    if one is None or type(one).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(one, (float, np.floating)) and bool(np.isnan(one))


def _read(value: Any, where: str) -> Any:
    if isinstance(value, (list, tuple)):
        return _of_list([one if isinstance(one, SCALARS) else _read(one, where) for one in value], where)
    if isinstance(value, np.ma.MaskedArray):
        return _unmasked(value, where)
    if hasattr(value, "detach"):
        return _of_tensor(value, where)
    if hasattr(value, "toarray") and hasattr(value, "nnz"):
        _check_dense(value.shape, value.dtype.itemsize, where)
        return np.asarray(value.toarray())
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _of_list(values: list[Any], where: str) -> NDArray[Any]:
    """Keep a number beside texts a number: NumPy would write NaN as a text."""
    try:
        found = np.asarray(values)
    except ValueError:
        shapes = list(map(np.shape, values))
        other = next(i for i, shape in enumerate([*shapes, None]) if shape != shapes[0])
        if other == len(shapes):
            raise
        raise ShapeError(
            f"{where}expected a rectangular array, got entries of different shapes: {shapes[0]} at position 0 and "
            f"{shapes[other]} at position {other}"
        ) from None
    mixed = found.dtype.kind in "US" and any(isinstance(one, (bool, int, float, complex)) for one in values)
    return np.asarray(values, dtype=object) if mixed else found


def _unmasked(value: "np.ma.MaskedArray[Any, Any]", where: str) -> NDArray[Any]:
    count = int(np.ma.getmaskarray(value).sum())
    if count:
        raise InputError(
            f"{where}{count} of {value.size} values are masked: expected a value everywhere: leave these records out, "
            "or fill them (filled)"
        )
    return np.asarray(value.data)


def _of_tensor(value: Any, where: str) -> NDArray[Any]:
    if getattr(value, "is_meta", False):
        raise InputError(f"{where}the tensor is on the device meta, which holds no numbers: give it with its numbers")
    if getattr(value, "is_quantized", False):
        value = value.dequantize()
    if str(value.layout) != "torch.strided":
        _check_dense(tuple(value.shape), value.element_size(), where)
        value = value.to_dense()
    plain = value.detach().cpu().resolve_conj().resolve_neg()
    if str(plain.dtype).removeprefix("torch.").startswith(CONVERTED):
        plain = plain.float()
    return np.asarray(plain.numpy())


def _check_dense(shape: tuple[int, ...], each: int, where: str) -> None:
    size = each
    for length in shape:
        size *= int(length)
    if size > DENSE_BYTES:
        raise InputError(
            f"{where}sparse numbers of shape {tuple(shape)}, which take {size / 2**30:.1f} GiB when written out: "
            f"expected at most {DENSE_BYTES / 2**30:.0f} GiB: keep fewer columns (a feature selection, or a truncated "
            "SVD), or write them out yourself"
        )


def _native(values: Any, where: str) -> NDArray[Any]:
    found: NDArray[Any] = np.asarray(values)
    if found.dtype.kind == "O":
        found = _numbers(found)
    if found.dtype.kind == "T":  # NumPy's texts of any length
        return found.astype(object)
    if found.dtype.kind == "c":
        raise InputError(
            f"{where}expected real numbers, got complex ones ({found.dtype}): give their real part or their size"
        )
    if found.dtype.name.startswith(CONVERTED):
        return found.astype(np.float32)
    if found.dtype.kind == "V" and found.dtype.name.startswith(("int", "uint")):  # int2, int4 of ml_dtypes
        return found.astype(np.int8 if found.dtype.name.startswith("int") else np.uint8)
    if found.dtype.kind == "V":
        raise ShapeError(
            f"{where}expected numbers, got elements of the type {found.dtype}, which NumPy knows no name of: is it "
            "bfloat16? Convert it to float32 before it is saved"
        )
    if found.dtype.kind == "f" and found.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            return found.astype(np.float64)
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def _numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Turn objects that are all numbers into an array of numbers; whole ones beyond 64 bits stay objects."""
    if not values.size or not all(isinstance(one, (numbers.Number, np.bool_)) for one in values.flat):
        return values
    found = np.array(values.tolist())
    if found.dtype.kind == "O" and any(isinstance(one, (decimal.Decimal, numbers.Rational)) for one in values.flat):
        whole = all(isinstance(one, numbers.Integral) for one in values.flat)
        return found if whole else values.astype(np.float64)
    return found
