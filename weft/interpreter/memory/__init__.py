"""What upstream's ops do to memory, said once: effects, views, roots, memory spaces. Everybody who asks, asks here.

An op that no table here knows may touch and return anything: `effects` and `shown` say so, and whoever asks refuses it
    or assumes
a conflict. Nobody skips it.
"""
