"""Predicts a kernel's time on a chip that need not be present: a model executes the compiled
kernel's instructions.

NVRTC compiles the text, and nvdisasm prints its instructions (`sass`). `trace` executes the
instructions that compute indices, branches and addresses, for all threads that one multiprocessor
holds at a time (`operands`, `integers`: the results of an instruction). `multiprocessor` issues the
instructions clock by clock, as permitted by the control words, the pipes (`pipes`) and the memory
(`memory`) of the chip (`chips`). `prediction` derives the time of a launch: rounds of blocks,
bandwidth, the limit. Neither MLIR nor a GPU is needed.
"""
