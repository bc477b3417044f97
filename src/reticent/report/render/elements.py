"""Elements of a page: text that is ready for it, and all other text escaped."""

import html as standard

from reticent.report import blocks as b

ICONS: dict[b.Tone, str] = {
    "bad": '<path d="M12 2.6 22.6 21H1.4Z" fill="currentColor"/><path d="M12 9v6" stroke="var(--tint)" '
    'stroke-width="2.2" stroke-linecap="round"/><circle cx="12" cy="18" r="1.3" fill="var(--tint)"/>',
    "good": '<circle cx="12" cy="12" r="10.5" fill="currentColor"/><path d="m7 12.5 3.4 3.4L17 9" fill="none" '
    'stroke="var(--tint)" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>',
    "unsure": '<rect x="1.8" y="1.8" width="20.4" height="20.4" rx="4" fill="currentColor"/><path d="M8.8 9.2a3.2 3.2 '
    '0 1 1 4.6 2.9c-1 .5-1.4 1-1.4 2.2" fill="none" stroke="var(--tint)" stroke-width="2.2" stroke-linecap="round"/>'
    '<circle cx="12" cy="17.9" r="1.4" fill="var(--tint)"/>',
    "neutral": "",
}


class Html(str):
    """Text that is ready for the page; all other text is escaped."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """Escape text, unless it is ready for the page."""
    return text if isinstance(text, Html) else Html(standard.escape(text))


def start(tag: str, **attributes: str | None) -> Html:
    """Write the tag that begins an element; attributes that are None are left out."""
    told = (
        f' {name.rstrip("_").replace("_", "-")}="{standard.escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{''.join(told)}>")


def element(tag: str, *inside: str, **attributes: str | None) -> Html:
    """Write an element; what is inside is escaped unless it is `Html`."""
    return Html(f"{start(tag, **attributes)}{''.join(map(escaped, inside))}</{tag}>")


def lines(*parts: Html) -> Html:
    """Put parts that are not empty on lines of their own."""
    return Html("\n".join(filter(None, parts)))


def class_of(weight: b.Weight) -> str | None:
    """Name the class of a text by how loud it is."""
    return None if weight == "usual" else weight


def icon(tone: b.Tone) -> Html:
    """Draw the sign of a tone."""
    drawn = ICONS[tone]
    return Html(
        f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">{drawn}</svg>' * bool(drawn)
    )
