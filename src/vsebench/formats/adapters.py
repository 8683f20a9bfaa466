"""Finding an adapter by the name of its module."""

import importlib
from types import ModuleType

from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in

KINDS = {  # of adapters that read no data set, by their function
    "read_parents": "adapter for the parents of labels",
    "read_vectors": "adapter for the vectors of words",
}


def knows(adapter: str) -> frozenset[str]:
    """Return what a simulator knows of its data and nobody of real data, keys of `needs.NEEDS`.

    It is the attribute `KNOWS` of the adapter's module; empty for an adapter of real data.
    """
    return frozenset(getattr(load_adapter(adapter, adapter, "Options"), "KNOWS", ()))


def load_adapter(name: str, where: str, reads: str = "read") -> ModuleType:
    """Import an adapter: a module of vsebench.formats with `Options` and a function.

    Parameters
    ----------
    name : the module's, without its folders
    where : the configuration file that names it
    reads : the function: `read` for a data set's adapter, or a key of `KINDS`

    Raises
    ------
    UserError
        There is no such module. The message begins with `where`.
    """
    known = modules_in("formats")
    module = importlib.import_module(known[name]) if name in known else None
    if module is None or not hasattr(module, reads):
        what = KINDS.get(reads, "adapter")
        raise UserError(f"{where}: adapter: there is no {what} named {name!r} in vsebench.formats")
    return module
