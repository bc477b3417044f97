"""What writes any list of blocks: `html` as a page, `markdown` as a section of a document, `terminal` for a screen."""
