"""The time of a kernel on a chip that need not be there: a model runs the compiled kernel's own instructions.

NVRTC compiles the text, nvdisasm shows the instructions (`sass`); `trace` executes those that compute indices, branches
and addresses, for all threads that one multiprocessor holds at a time (`operands`, `integers`: what an instruction
computes); `multiprocessor` issues them clock by clock, as the control words, the pipes (`pipes`) and the memory
(`memory`) of the chip (`chips`) allow. `prediction` makes a time of it: rounds of blocks, bandwidth, what limits. No
MLIR and no GPU are needed.
"""
