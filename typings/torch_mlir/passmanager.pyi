# The wheel has no stub for its compiled `passmanager`; without this one pyright knows none of its names.
from typing import Any

def __getattr__(name: str) -> Any: ...
