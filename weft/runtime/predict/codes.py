"""The W078x codes, explained."""

from ...dsl.diagnostics import explanations

CODES = explanations("""
W0780 no disassembler
    `--predict` reads a kernel's machine code, which NVRTC makes and nvdisasm shows:
    `pip install 'weft-gpu[predict]'` brings both. Neither needs a GPU.
W0781 a chip without figures
    The model knows a few chips (the message lists them) by what NVIDIA and others have published. It does not guess
    the figures of others.

    wrong:  weft run simt --predict --chip gtx1080
    right:  weft run simt --predict --chip rtx3090
W0782 a kernel whose time is not predicted
    The model executes what decides on branches and addresses, from sizes and indices. A branch that depends on what
    was loaded, a call, or an instruction that computes an index in a way that it does not know are beyond it; and so
    are memory barriers at which nobody arrives.
""")
