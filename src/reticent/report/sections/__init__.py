"""The parts of the page that an audit may lack: one file a part, from the document's key to what a template names."""
