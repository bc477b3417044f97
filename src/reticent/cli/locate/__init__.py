"""``reticent locate``: where the leak is; one file a command, loaded when it is called."""

import cyclopts

app = cyclopts.App(name="locate")
for command, about in {
    "weights": "Score every weight: how much it leaks of membership, and how much the network learns by it.",
    "layers": "Compare networks on all and on half of the records, stage by stage: where membership begins to show.",
    "records": "List how exposed each record is, and how far it is memorised.",
}.items():
    app.command(f"reticent.cli.locate.{command}:{command}", name=command, help=about)
