"""Which stage each parameter belongs to."""


def by_parameter(model, found):
    names = [name for name, _ in model.named_parameters()]
    return {name: stage.name for name in names for stage in found if stage.holds(name)}
