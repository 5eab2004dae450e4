"""Instructions of sm_75 and sm_80: asynchronous copies by threads; matrices and products of
warps."""
