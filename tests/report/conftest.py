import example
import pytest


@pytest.fixture(scope="session")
def document():
    return example.document(models=4, records=600)


@pytest.fixture(scope="session")
def small():
    return example.document(models=2, records=300, attacks=2)


@pytest.fixture(scope="session")
def rows():
    return example.rows(300)


@pytest.fixture(scope="session")
def page(document, rows):
    from reticent.report.html import html

    return html(document, rows, example.thumbnails([row["record"] for row in rows[:30]]))
