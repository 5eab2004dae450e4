"""Instructions of sm_90: memory barriers, clusters, the tensor memory accelerator, products of warp
groups."""
