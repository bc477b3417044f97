"""The self-test: green here, what it prints and answers, and what it leaves behind (nothing)."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

import reticent
from reticent.attacks import ATTACKS
from reticent.cli import app
from reticent.cli.run import guarded
from reticent.errors import InputError, UnknownNameError
from reticent.findings.audit import Leak
from reticent.findings.selftest import Fault
from reticent.jobs.selftest import GROUPS, attacks, checks, run, selftest, synthetic
from reticent.say.selftest import FAULTS

WITHOUT_NETWORK = """
import socket, sys
def refuse(*given):
    raise RuntimeError("the network was used")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import reticent.cli
sys.argv = ["reticent", "selftest", "--json"]
reticent.cli.main()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder, and an empty folder of temporary files in it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def group(*lines):
    return lambda: iter(lines)


def fake(ok=True, name="sum"):
    return checks.check(name, "2", "2" if ok else "-2", ok, Fault.SIGN)


@pytest.fixture
def groups(monkeypatch):
    """A table of made-up groups in place of the real one."""

    def table(**entries):
        monkeypatch.setattr(run, "GROUPS", entries)

    return table


def command(capfd, *words):
    code = guarded(app, ["selftest", *words])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.calibration
def test_the_engine_is_green_and_leaves_nothing_behind(folder):
    tested = reticent.selftest(only="engine")
    assert {check.name: check.got for check in tested.wrong} == {}
    assert tested.ok
    names = {check.name.removeprefix("engine/") for check in tested.checks}
    assert names == {"accuracy", "leak", "report", "resume", "same-bits"}
    assert list((folder / "tmp").iterdir()) == []
    assert [path.name for path in folder.iterdir()] == ["tmp"]


@pytest.mark.slow
def test_all_is_green_without_a_network(folder):
    done = subprocess.run([sys.executable, "-c", WITHOUT_NETWORK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] is True
    assert {check["name"].partition("/")[0] for check in answer["checks"]} == set(GROUPS)
    assert list((folder / "tmp").iterdir()) == []


@pytest.mark.calibration
def test_every_attack_of_the_table_is_checked():
    tested = selftest(["leak", "null", "own-references", "networks"])
    assert tested.ok
    names = {check.name for check in tested.checks}
    for name, entry in ATTACKS.items():
        if entry.fitted:
            assert {f"networks/{name}{kind}" for kind in ("", "-exchanged", "-null", "-trap", "-row")} <= names
            continue
        assert {f"leak/{name}", f"null/{name}", f"own-references/{name}-trap", f"own-references/{name}-row"} <= names


def test_two_runs_give_the_same_numbers(only_attacks):
    only_attacks("loss", "lira", "rmia")
    first, second = ([(c.name, c.got) for c in selftest(["leak", "limits"]).checks] for _ in range(2))
    assert first == second


def test_results_are_frozen_and_their_json_is_plain(groups):
    groups(one=group(fake(), fake(ok=False, name="other")))
    tested = selftest()
    with pytest.raises(ValidationError, match="frozen"):
        tested.checks = ()
    answer = json.loads(json.dumps(tested.to_json(), allow_nan=False))
    assert answer["schema"] == "reticent.selftest/1"
    assert answer["ok"] is False
    for check in answer["checks"]:
        assert check.pop("seconds") >= 0
    assert answer["checks"] == [
        {"name": "one/sum", "expected": "2", "got": "2", "ok": True, "fault": None, "cause": None},
        {"name": "one/other", "expected": "2", "got": "-2", "ok": False, "fault": FAULTS[Fault.SIGN], "cause": "sign"},
    ]


def test_no_checks_are_not_a_green_self_test(groups):
    groups(one=group())
    assert not selftest().ok


def test_only_runs_what_is_named_in_that_order(groups):
    groups(one=group(fake()), two=group(fake()), three=group(fake()))
    told = []
    tested = selftest(["three", "one"], progress=told.append)
    assert [check.name for check in tested.checks] == ["three/sum", "one/sum"]
    assert told == ["three", "one"]


def test_wrong_names_are_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"unknown group of checks 'lek': did you mean 'leak'\?"):
        selftest("lek")
    with pytest.raises(InputError, match="only: expected each group once, got leak, leak"):
        selftest(["leak", "leak"])


def test_a_check_that_raises_is_a_wrong_line(groups):
    def half():
        yield fake()
        raise OSError("no space\nleft")

    groups(one=half, two=group(fake()))
    tested = selftest()
    assert [(check.name, check.ok) for check in tested.checks] == [
        ("one/sum", True), ("one/runs", False), ("two/sum", True)
    ]  # fmt: skip
    assert tested.checks[1].got == "OSError: no space left"
    assert "did not run to its end" in tested.checks[1].fault


def test_the_command_prints_a_line_a_group_and_exits_with_0(capfd):
    code, out, err = command(capfd, "--only", "metrics", "--only", "margins")
    assert code == 0
    assert [line.split() for line in out.splitlines()][2:4] == [
        ["metrics", "10", "of", "10", "ok"], ["margins", "5", "of", "5", "ok"]
    ]  # fmt: skip
    assert "0.8125" not in out
    assert "right numbers in all 15 checks" in out
    assert err.split() == ["checking", "metrics", "checking", "margins"]


def test_the_command_exits_with_1_and_says_what_kind_of_fault_it_is(groups, capfd):
    groups(one=group(fake(), fake(ok=False), fake(ok=False, name="[bold]difference")))
    code, out, _ = command(capfd)
    out = " ".join(out.split())
    assert code == 1
    assert "one 1 of 3 WRONG" in out
    assert "one/sum 2 -2 one/[bold]difference 2 -2" in out
    assert out.count(FAULTS[Fault.SIGN]) == 1
    assert "one/sum, one/[bold]difference" in out
    assert "wrong numbers in 2 of 3 checks" in out
    assert "do not trust" in out


def test_the_command_prints_json_and_nothing_else(groups, capfd):
    groups(one=group(fake(), fake(ok=False, name="other")))
    code, out, err = command(capfd, "--json")
    assert (code, err) == (1, "")
    answer = json.loads(out)
    assert [check["ok"] for check in answer["checks"]] == [True, False]
    assert answer["environment"]["reticent"] == reticent.__version__


def test_the_command_refuses_an_unknown_group(capfd):
    code, out, err = command(capfd, "--only", "metrisc")
    assert (code, out) == (2, "")
    assert "did you mean 'metrics'?" in err


@pytest.mark.slow
@pytest.mark.usefixtures("not_ignored")
def test_an_interruption_exits_with_130_and_leaves_nothing_behind(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "reticent", "selftest", "--only", "engine"], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list((folder / "tmp").glob("reticent-selftest-*/store/runs/*")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "interrupted; nothing is left behind" in err
    assert "Traceback" not in err
    assert list((folder / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("made_line", "ok"),
    [
        (checks.near("n", 1.0, 1.0 + 1e-12, Fault.SIGN), True),
        (checks.near("n", 1.0, 1.1, Fault.SIGN), False),
        (checks.near("n", 1.0, float("nan"), Fault.SIGN), False),
        (checks.within("n", 0.0, 1.0, 1.0, Fault.SIGN), True),
        (checks.within("n", 0.0, 1.0, 1.1, Fault.SIGN), False),
        (checks.within("n", 0.0, 1.0, float("nan"), Fault.SIGN), False),
        (checks.twin("n", [1.0, 2.0], [1.0, 2.0], Fault.SIGN), True),
        (checks.twin("n", [1.0, 2.0], [1.0, 2.5], Fault.SIGN), False),
        (checks.twin("n", [1.0, 2.0], [1.0, float("nan")], Fault.SIGN), False),
        (checks.twin("n", [1.0, 2.0], [[1.0, 2.0]], Fault.SIGN), False),
    ],
)
def test_comparisons(made_line, ok):
    assert made_line.ok is ok


def test_the_plain_auc_counts_pairs():
    scores = np.array([4, 3, 2, 1, 2.5, 1.5, 0.5, 0])
    assert synthetic.auc(scores, np.arange(8) < 4) == 0.8125
    assert synthetic.auc(np.zeros((2, 8)), np.tile(np.arange(8) < 4, (2, 1))) == 0.5


@pytest.mark.parametrize("target", [0, 3])
def test_in_the_trap_nothing_depends_on_the_target_s_membership(target):
    trap = synthetic.trap(target, 400)
    others = np.delete(trap.membership.matrix, target, axis=0)
    assert (others.sum(axis=0) == 1).all()
    margins = np.asarray(trap.signals.margins)[:, :, 0]
    assert np.delete(margins, target, axis=0).max() < -16
    assert margins[target].min() > 0
    assert trap.targets.tolist() == [target]
    assert target in trap.references


def test_flipping_changes_one_row_only():
    plain = synthetic.problem(1.0, 4, 20, "test")
    changed = synthetic.flipped(plain, 2).membership.matrix != plain.membership.matrix
    assert changed[2].all()
    assert changed.sum() == 20


def test_the_help_names_every_group_and_only_those(capfd):
    assert guarded(app, ["selftest", "--help"]) == 0
    shown = " ".join(capfd.readouterr().out.replace("│", " ").split())
    named = shown[shown.index("By default all: ") :].removeprefix("By default all: ").split(".")[0]
    assert named.replace(" and ", ", ").split(", ") == list(GROUPS)


@pytest.mark.parametrize(
    ("lower", "got"), [(0.0, "no epsilon is ruled out"), (0.7, "every epsilon below 0.7 is ruled out")]
)
def test_the_row_of_epsilon_says_what_is_ruled_out(lower, got):
    lines = attacks._nothing_said(Leak.NOT_FOUND, lower)
    found = next(line for line in lines if line.name == "epsilon")
    assert (found.expected, found.got, found.ok) == ("no epsilon is ruled out", got, lower == 0)


def test_the_page_names_every_group():
    page = (Path(__file__).parents[2] / "docs" / "selftest.md").read_text(encoding="utf-8")
    rows = [row.split("`")[1] for row in page.splitlines() if row.startswith("| `")]
    assert rows == list(GROUPS)


def test_every_fault_is_told_and_every_one_can_be_found():
    assert list(FAULTS) == list(Fault)
    source = "".join(path.read_text() for path in Path(run.__file__).parent.glob("*.py"))
    assert all(f"Fault.{fault.name}" in source for fault in Fault)
