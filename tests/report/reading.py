"""Read a page as a strict parser does: elements with attributes and text, unbalanced tags are errors."""

from html.parser import HTMLParser

VOID = {"meta", "img", "input", "br", "hr", "link", "wbr"}
SHAPES = {"path", "circle", "rect", "use"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children, self.own = tag, dict(attributes), parent, [], []

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.own)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, tag, **wanted):
        names = {key.rstrip("_").replace("_", "-"): value for key, value in wanted.items()}
        return [
            e
            for e in self.walk()
            if e.tag == tag and all(e.attributes.get(key) == value for key, value in names.items())
        ]

    def one(self, tag, **wanted):
        found = self.all(tag, **wanted)
        assert len(found) == 1, f"{len(found)} elements {tag} {wanted}"
        return found[0]


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.here = Element("root", {}, None)

    def handle_starttag(self, tag, attrs):
        child = Element(tag, attrs, self.here)
        self.here.children.append(child)
        self.here.own.append(child)
        if tag not in VOID:
            self.here = child

    def handle_startendtag(self, tag, attrs):
        assert tag in SHAPES, f"<{tag}/> is not closed in HTML"
        self.handle_starttag(tag, attrs)
        self.here = self.here.parent

    def handle_endtag(self, tag):
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.own.append(data)


def read(page):
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.here is reader.root, f"<{reader.here.tag}> is never closed"
    return reader.root
