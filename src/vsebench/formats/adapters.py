"""Find an adapter by the name of its module."""

import importlib
from types import ModuleType

from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in

KINDS = {  # for adapters that do not read a data set: name of the adapter's function -> kind of the adapter
    "read_parents": "adapter for the parents of labels",
    "read_vectors": "adapter for word vectors",
}


def knows(adapter: str) -> frozenset[str]:
    """Return the inputs of methods, such as the truth, that an adapter provides because it simulates the data.

    The inputs are keys of `NEEDS` in `vsebench.data.needs`. The module of a simulator lists them in `KNOWS`. An adapter
    for real data has no such attribute, so the result is empty.
    """
    return frozenset(getattr(load_adapter(adapter, adapter, "Options"), "KNOWS", ()))


def load_adapter(name: str, where: str, reads: str = "read") -> ModuleType:
    """Import an adapter: a module of vsebench.formats with a class `Options` and a function that reads the data.

    `name` is the module's name without its folders. `reads` is the name of the function: `read` for an adapter that
    reads a data set, or a key of `KINDS` for an adapter of another kind. With `Options`, any adapter is accepted. If
    there is no such adapter, a `UserError` is raised. The error begins with `where`, for example the configuration file
    that names the adapter.
    """
    names = modules_in("formats")
    module = importlib.import_module(names[name]) if name in names else None
    if module is None or not hasattr(module, reads):
        kind = KINDS.get(reads, "adapter")
        raise UserError(f"{where}: adapter: there is no {kind} named {name!r} in vsebench.formats")
    return module
