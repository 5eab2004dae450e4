"""Loops of the payload: which of them are parallel, as exact dependence analysis says, and their forms that maps take."""

from .coalescing import coalesce, spelled
from .independence import is_loop
from .nests import merge_nested, on_one_processor, parallel_nest, single_iteration
from .strips import cut

__all__ = ["coalesce", "cut", "is_loop", "merge_nested", "on_one_processor", "parallel_nest", "single_iteration", "spelled"]
