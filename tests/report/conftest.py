import example
import example_compare
import example_trust
import pytest


@pytest.fixture(scope="session")
def document():
    """An audit with every key."""
    return example_trust.add(example.document(models=4, records=600))


@pytest.fixture(scope="session")
def older():
    """An audit from before epsilon, control and groups."""
    return example.document(models=4, records=600)


@pytest.fixture(scope="session")
def compared():
    return example_compare.comparison(recipes=4, controls=2)


@pytest.fixture(scope="session")
def small():
    """Two attacks, none of the later keys, and none of the figures that take long to draw."""
    made = example.document(models=2, records=300, attacks=2)
    for attack in made["attacks"]:
        attack["roc"] = attack["histogram"] = None
    return made


@pytest.fixture(scope="session")
def rows():
    return example_trust.extend(example.rows(300))


@pytest.fixture(scope="session")
def page(document, rows):
    from audit_forms import html

    return html(document, rows, example.thumbnails([row["record"] for row in rows[:30]]))
