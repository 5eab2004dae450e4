"""From sm_90 on: memory barriers, clusters, the tensor memory accelerator, products of warp groups."""
