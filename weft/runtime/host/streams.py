"""Assignment of operations to streams, and of the events they wait for.

Operations are numbered in the order in which they are issued; `needs[i]` are those that must be
done before operation i starts. A stream runs its operations in order, so it carries a chain: the
fewest streams are a minimum chain cover of the order, as many as the largest antichain (R. P.
Dilworth, 1950). It is computed from a maximum matching between operations and their successors (D.
R. Fulkerson, 1956), exactly up to `EXACT` operations; beyond, a greedy algorithm takes any stream
with a last operation that is done before, and reports a lower bound.

Sets of operations are bit sets in an integer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from heapq import heapreplace

from ..plan.check import MAX_STREAMS
from ..plan.order import closed
from ..plan.plan import Alloc, AnyStep, Free, used_buffers

EXACT = 1000
CLOSED = 20_000
"""Up to this number of operations, the order is closed transitively (50 MB); beyond, only direct
dependences are known."""


def assign_streams(needs: Sequence[Collection[int]], most: int | None = None) -> tuple[tuple[int, ...], int]:
    """Assigns operations to the fewest streams on which all operations without an order can run
    concurrently, or to `most` streams, if that is less. Also returns the fewest, without this
    limit."""
    chains, fewest = exact_chains(needs) if len(needs) <= EXACT else greedy_chains(needs)
    streams = packed(chains, most)
    return streams, min(fewest, max(streams, default=-1) + 1)


def members(bits: int) -> Iterator[int]:
    """The members of a set, in descending order."""
    while bits:
        top = bits.bit_length() - 1
        yield top
        bits ^= 1 << top


# ---- chains ---------------------------------------------------------------------------------------------------------


def exact_chains(needs: Sequence[Collection[int]]) -> tuple[list[int], int]:
    """A minimum chain cover: the chain of each operation, and the number of chains."""
    before = list(closed(needs))
    follows: list[int | None] = [None] * len(needs)  # the predecessor of each operation on its chain
    free = (1 << len(needs)) - 1  # operations without a successor so far
    for op, direct in enumerate(needs):
        for earlier in sorted(direct, reverse=True):  # direct dependences need no event on one stream
            if free >> earlier & 1:
                follows[op], free = earlier, free ^ 1 << earlier
                break
    followed_by: dict[int, int] = {earlier: op for op, earlier in enumerate(follows) if earlier is not None}
    for op in range(len(needs)):
        if follows[op] is None and before[op]:
            free = _augment(op, before, follows, followed_by, free)
    return _numbered(follows)


def _augment(op: int, before: list[int], follows: list[int | None], followed_by: dict[int, int], free: int) -> int:
    """Augments the matching so that `op` has a predecessor, changing those of others if needed.
    Returns the operations that are still without a successor."""
    came_from: dict[int, int] = {}
    unseen = ~0
    queue = [op]
    for wanting in queue:
        candidates = before[wanting] & unseen
        ready = candidates & free
        if ready:
            found = ready.bit_length() - 1
            free ^= 1 << found
            came_from[found] = wanting
            _switch(found, op, came_from, follows, followed_by)
            return free
        unseen &= ~candidates
        for earlier in members(candidates):
            came_from[earlier] = wanting
            queue.append(followed_by[earlier])
    return free


def _switch(
    found: int, op: int, came_from: dict[int, int], follows: list[int | None], followed_by: dict[int, int]
) -> None:
    """Applies an augmenting path, from its free end back to `op`: each operation takes the
    predecessor found for it."""
    earlier = found
    while True:
        wanting = came_from[earlier]
        previous = follows[wanting]
        follows[wanting], followed_by[earlier] = earlier, wanting
        if wanting == op or previous is None:
            return
        earlier = previous


def greedy_chains(needs: Sequence[Collection[int]]) -> tuple[list[int], int]:
    """A chain cover in one pass, and a lower bound of any: the largest number of operations of
    equal depth, which are unordered."""
    before = list(closed(needs)) if len(needs) <= CLOSED else None
    follows: list[int | None] = [None] * len(needs)
    depth: list[int] = []
    ends = 0
    for op, direct in enumerate(needs):
        depth.append(1 + max((depth[earlier] for earlier in direct), default=-1))
        own = [earlier for earlier in direct if ends >> earlier & 1]
        others = before[op] & ends if before is not None and not own else 0
        if own or others:
            follows[op] = earlier = max(own) if own else others.bit_length() - 1
            ends ^= 1 << earlier
        ends |= 1 << op
    levels: dict[int, int] = {}
    for level in depth:
        levels[level] = levels.get(level, 0) + 1
    return _numbered(follows)[0], max(levels.values(), default=0)


def _numbered(follows: Sequence[int | None]) -> tuple[list[int], int]:
    """Chains, numbered in the order of their first operations."""
    chains: list[int] = []
    count = 0
    for earlier in follows:
        if earlier is None:
            chains.append(count)
            count += 1
        else:
            chains.append(chains[earlier])
    return chains, count


# ---- streams and events ----------------------------------------------------------------------------------------------


def packed(chains: Sequence[int], most: int | None) -> tuple[int, ...]:
    """A stream for each chain; if there are more chains than streams, the next chain goes to the
    stream with the fewest operations."""
    count = max(chains, default=-1) + 1
    if most is None or count <= most:
        return tuple(chains)
    length = [0] * count
    for chain in chains:
        length[chain] += 1
    load = [(0, stream) for stream in range(most)]
    stream_of: list[int] = []
    for chain in range(count):
        done, stream = load[0]
        heapreplace(load, (done + length[chain], stream))
        stream_of.append(stream)
    return tuple(stream_of[chain] for chain in chains)


def waited(needs: Sequence[Collection[int]], streams: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """For each operation, the operations on other streams for which it must wait; waits that others
    imply are dropped."""
    if len(set(streams)) <= 1:
        return ((),) * len(needs)
    closing = len(needs) <= CLOSED
    before: list[int] = []
    last: dict[int, int] = {}
    found: list[tuple[int, ...]] = []
    for op, direct in enumerate(needs):
        previous = last.get(streams[op])
        implied = 0 if previous is None else (before[previous] if closing else 0) | 1 << previous
        kept: list[int] = []
        for earlier in sorted(direct, reverse=True):
            if streams[earlier] == streams[op] or implied >> earlier & 1:
                continue
            kept.append(earlier)
            implied |= (before[earlier] if closing else 0) | 1 << earlier
        found.append(tuple(reversed(kept)))
        before.append(implied if closing else 0)
        last[streams[op]] = op
    return tuple(found)


Needs = Sequence[frozenset[int]]


def on_one_stream(steps: Sequence[AnyStep]) -> list[AnyStep]:
    """The steps in program order, with each temporary allocated just before its first use, and
    freed just after its last one."""
    moves = [isinstance(step, Alloc | Free) for step in steps]
    return [steps[number] for number in _moved(steps, moves)]


def on_streams(
    steps: Sequence[AnyStep], needs: Needs, kept: Sequence[bool], most: int | None
) -> tuple[list[AnyStep], int]:
    """The steps with streams and events, and the fewest streams on which all steps without an order
    can run concurrently.

    Args:
        steps: in program order.
        needs: by step, those that must be done before.
        kept: by step, whether it keeps its place. An allocation or a free without a token may move:
            a free to directly after the last use, an allocation to directly before the first use,
            and on its stream, if that is ordered before all others.
        most: the most streams.
    """
    moves = [not kept_ and step_moves for kept_, step_moves in zip(kept, _movable(steps, needs), strict=True)]
    order = _moved(steps, moves)
    place = {number: i for i, number in enumerate(order)}
    issued = [steps[number] for number in order]
    first = _first_uses(steps)
    before: list[set[int]] = []
    for i, number in enumerate(order):
        step, wanted = steps[number], needs[number]
        if moves[number]:
            wanted = wanted | needs[first.get(step.buffer, number)] if isinstance(step, Alloc) else frozenset()
        before.append({place[n] for n in wanted if place[n] < i})  # others are allocations for later steps
    for i, earlier in _uses_before_frees(issued):
        before[i].update(earlier)
    streams, fewest = _streams(issued, before, most)
    after = waited(before, streams)
    return [replace(step, stream=s, after=a) for step, s, a in zip(issued, streams, after, strict=True)], fewest


def _first_uses(steps: Sequence[AnyStep]) -> dict[str, int]:
    """By buffer, the number of the first launch, copy or fill that uses it."""
    first: dict[str, int] = {}
    for number, step in enumerate(steps):
        for name in () if isinstance(step, Alloc | Free) else used_buffers(step):
            first.setdefault(name, number)
    return first


def _movable(steps: Sequence[AnyStep], needs: Needs) -> list[bool]:
    """By step, whether it may move: a free, or an allocation with a first use that all others of its
    buffer are ordered after."""
    first, apart = _first_uses(steps), set[str]()
    closing = len(steps) <= CLOSED
    for number, (step, before) in enumerate(zip(steps, closed(needs), strict=True) if closing else ()):
        if not isinstance(step, Alloc | Free):
            apart |= {b for b in used_buffers(step) if first[b] != number and not before >> first[b] & 1}
    return [isinstance(s, Free) or (isinstance(s, Alloc) and closing and s.buffer not in apart) for s in steps]


def _moved(steps: Sequence[AnyStep], moves: Sequence[bool]) -> list[int]:
    """The numbers of the steps in the order in which they are issued."""
    first = _first_uses(steps)
    last = {
        name: number for number, step in enumerate(steps) if not isinstance(step, Free) for name in used_buffers(step)
    }
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for number, step in enumerate(steps):
        if moves[number] and isinstance(step, Alloc):
            before.setdefault(first.get(step.buffer, number), []).append(number)
        elif moves[number] and isinstance(step, Free):
            after.setdefault(last.get(step.buffer, number), []).append(number)
    found: list[int] = []
    for number in range(len(steps)):
        found += before.get(number, ())
        found += () if moves[number] else (number,)
        found += after.get(number, ())
    return found


def _uses_before_frees(issued: Sequence[AnyStep]) -> list[tuple[int, list[int]]]:
    """For each free, all earlier uses of its buffer."""
    uses: dict[str, list[int]] = {}
    found: list[tuple[int, list[int]]] = []
    for i, step in enumerate(issued):
        if isinstance(step, Free):
            found.append((i, uses.get(step.buffer, [])))
        for name in used_buffers(step):
            uses.setdefault(name, []).append(i)
    return found


def _streams(issued: Sequence[AnyStep], before: Sequence[set[int]], most: int | None) -> tuple[list[int], int]:
    """A stream for each step, and the fewest that suffice: launches and copies by chains,
    allocations and frees by users."""
    work = [i for i, step in enumerate(issued) if not isinstance(step, Alloc | Free)]
    number = {i: n for n, i in enumerate(work)}
    streams_of_work, fewest = assign_streams(_needs_of_work(before, number), min(most or MAX_STREAMS, MAX_STREAMS))
    streams = [0] * len(issued)
    for i, n in number.items():
        streams[i] = streams_of_work[n]
    users: dict[str, list[int]] = {}
    for i in work:
        for name in used_buffers(issued[i]):
            users.setdefault(name, []).append(i)
    for i, step in enumerate(issued):
        if isinstance(step, Alloc | Free) and step.buffer in users:
            streams[i] = streams[users[step.buffer][0 if isinstance(step, Alloc) else -1]]
    return streams, fewest


def _needs_of_work(before: Sequence[set[int]], number: dict[int, int]) -> list[set[int]]:
    """The dependences of launches and copies, including those through allocations and frees."""
    through: dict[int, set[int]] = {}
    needs: list[set[int]] = []
    for i, direct in enumerate(before):
        found = {number[j] for j in direct if j in number}.union(*(through[j] for j in direct if j in through))
        if i in number:
            needs.append(found)
        else:
            through[i] = found
    return needs
