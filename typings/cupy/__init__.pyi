# CuPy is an extra, and most machines that check the types have no GPU.
from typing import Any

def __getattr__(name: str) -> Any: ...
