"""``reticent locate``: where the leak is; one file a command, loaded when it is called."""

import cyclopts

app = cyclopts.App(name="locate", help="Find where a leak is: in which weights, at which depth, in which records.")
app.command(
    "reticent.cli.locate.weights:weights",
    name="weights",
    help="Score every weight: how much it gives members away, and how much the network learns by it.",
)
app.command(
    "reticent.cli.locate.layers:layers",
    name="layers",
    help="Compare networks on all and on half of the records, stage by stage: where membership begins to show.",
)
app.command(
    "reticent.cli.locate.records:records",
    name="records",
    help="List how exposed each record is, and how far it is memorised.",
)
