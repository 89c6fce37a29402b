"""What exercise 44 asks, and how an answer to it is judged: by what it promises.

A member's load is the sum of the lags of its partitions. Dealing the largest lag first, to whoever
carries least, gives nobody more than 4/3 of what the best answer would (Graham 1969), if everybody
may read everything; so an answer must not be worse than that. If not, nothing of the kind holds,
and what is asked is that no single move helps. The check `any-order` asks for two answers at once.

Source: document 002, "自定义分区策略"; Kafka has no such assignor.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, cast

from kafkalearn.grading.exercise import Table
from kafkalearn.grading.judging import assignment_picture, assignments
from kafkalearn.grading.judging.assignments import Assignment, Group, all_want, mixed, owned_before
from kafkalearn.records import Subscription, TopicPartition

Lags = Mapping[str, list[int]]
Case = tuple[Lags, Mapping[str, Subscription]]


def reference(lags: Lags, subscriptions: Mapping[str, Subscription]) -> Assignment:
    """Give one answer that is right: what is owned if it is as good as any, else dealt anew."""
    case = lags, subscriptions
    new, owned = dealt_anew(case), owned_before(_group(case))
    return owned if _as_good(case, owned, heaviest=_heaviest(lags, new)) else new


def dealt_anew(case: Case) -> Assignment:
    """Deal the largest lag first, to whoever carries least; then move until no move helps."""
    lags, subscriptions = case
    new: Assignment = {member: [] for member in sorted(subscriptions)}
    wanted = set().union(*assignments.readable(_group(case)).values())
    for partition in sorted(wanted, key=lambda p: (-lags[p.topic][p.partition], p)):
        subscribers = [member for member in new if partition.topic in subscriptions[member].topics]
        lightest = min(subscribers, key=lambda m: (_load(lags, new[m]), len(new[m]), m))
        new[lightest].append(partition)
    while move := _helpful_move(case, new):
        partition, giver, taker = move
        new[giver].remove(partition)
        new[taker].append(partition)
    return new


def _group(case: Case) -> Group:
    lags, subscriptions = case
    return {topic: len(of_topic) for topic, of_topic in lags.items()}, subscriptions


def _load(lags: Lags, partitions: Iterable[TopicPartition]) -> int:
    return sum(lags[topic][number] for topic, number in partitions)


def _heaviest(lags: Lags, assignment: Assignment) -> int:
    return max(_load(lags, mine) for mine in assignment.values())


def _as_good(case: Case, owned: Assignment, *, heaviest: int) -> bool:
    """Whether everything has its owner, nobody carries more than `heaviest`, and no move helps."""
    return (
        assignments.forgotten(_group(case), owned) is None
        and _heaviest(case[0], owned) <= heaviest
        and _helpful_move(case, owned) is None
    )


def _helpful_move(case: Case, answer: Assignment) -> tuple[TopicPartition, str, str] | None:
    """Find a partition that could go from a member to a subscriber that would carry less than it.

    One without lag weighs nothing: it could go to a member with no more load and two fewer of them.
    """
    lags, subscriptions = case
    load = {member: _load(lags, mine) for member, mine in answer.items()}
    for giver, mine in sorted(answer.items()):
        for partition in sorted(mine):
            lag = lags[partition.topic][partition.partition]
            for taker in sorted(subscriptions):
                lighter = load[taker] + lag < load[giver]
                fewer = load[taker] <= load[giver] and len(answer[taker]) + 1 < len(mine)
                if partition.topic in subscriptions[taker].topics and (lighter if lag else fewer):
                    return partition, giver, taker
    return None


def inputs(check: str, seed: int) -> Iterable[Case]:
    """Give the groups of one check, small ones first; equal seeds give equal groups."""
    cases = _CASES[check](Random(f"{seed} {check}"))
    return sorted(cases, key=lambda case: assignments.size(_group(case)))


def _everything_given(random: Random) -> Iterator[Case]:
    yield {"t0": [7]}, all_want(["t0"], "c0 c1")
    yield {"t0": [0, 0]}, all_want(["t0"], "c0 c1")
    yield {"t0": [], "t1": [3, 4], "unwanted": [9]}, all_want(["t0", "t1", "unknown"], "c0 c1")
    yield {"t0": [5]}, all_want(["t0"], "c1") | all_want([], "c0")
    for _ in range(6):
        lags, members = _sizes(random)
        yield lags, mixed(lags, members, random=random)


def _heaviest_member(random: Random) -> Iterator[Case]:
    yield {"t0": [1, 1, 2]}, all_want(["t0"], "c0 c1")
    for _ in range(12):
        lags, members = _sizes(random, least=1)
        yield lags, all_want(lags, " ".join(members))


def _no_move_helps(random: Random) -> Iterator[Case]:
    yield {"t0": [5], "t1": [4]}, all_want(["t0", "t1"], "c0") | all_want(["t0"], "c1")
    for _ in range(24):
        lags, members = _sizes(random, least=1)
        yield lags, mixed(lags, members, random=random)


def _idle_partitions(random: Random) -> Iterator[Case]:
    yield {"t0": [0, 0]}, all_want(["t0"], "c0 c1")
    for _ in range(8):
        lags, members = _sizes(random)
        idle = {topic: [random.choice([0, 0, 50]), *[0] * len(lags[topic])] for topic in lags}
        yield idle, all_want(lags, " ".join(members))


def _stays_put(random: Random) -> Iterator[Case]:
    swapped = {"c0": [("t0", 1), ("t0", 3)], "c1": [("t0", 0), ("t0", 2)]}
    yield {"t0": [5, 5, 5, 5]}, {m: Subscription(["t0"], mine, 1) for m, mine in swapped.items()}
    yield from _not_as_good()
    for number in range(12):
        lags, members = _sizes(random, least=1)
        alike = all_want(lags, " ".join(members))
        group = alike if number % 2 else mixed(lags, members, random=random)
        answer = reference(lags, group)
        owners = {m: Subscription(group[m].topics, answer[m], 1) for m in members}
        names = random.sample(members, len(members))  # who owns what, no assignor would choose
        yield lags, dict(zip(names, owners.values(), strict=True))


def _not_as_good() -> Iterator[Case]:
    """What is owned could be more even, is not all, is given twice, or is not wanted any more."""
    t0, t1 = [("t0", number) for number in range(4)], [("t1", 0)]
    no_move_helps = [6, 6, 5, 3], t0[:2], t0[2:]
    has_grown, has_shrunk = ([5, 5, 5], t0[:1], t0[1:2]), ([5], t0[:1], t0[1:2])
    both_claim_one = [0, 5], t0[:1], t0[:2]
    a_move_helps, an_idle_one_too = ([5, 5], t0[:2], t0[:0]), ([0, 0], t0[:2], t0[:0])
    uneven = a_move_helps, an_idle_one_too, no_move_helps
    for lags, *owned in (*uneven, has_grown, has_shrunk, both_claim_one):
        claims = [Subscription(["t0"], mine, 1) for mine in owned]
        yield {"t0": lags}, dict(zip(("c0", "c1"), claims, strict=True))
    swapped = {"c0": Subscription(["t1"], t0[:1], 1), "c1": Subscription(["t0"], t1, 1)}
    yield {"t0": [5], "t1": [5]}, swapped


def _any_order(random: Random) -> Iterator[Case]:
    yield {"t0": [5]}, all_want(["t0"], "b a")
    yield {"t1": [3, 3], "t0": [3]}, all_want(["t1", "t0"], "a b")
    for _ in range(8):
        lags, members = _sizes(random)
        equal = {topic: [random.choice([4, 9])] * len(of) for topic, of in lags.items()}
        yield equal, mixed(lags, members, random=random)


_CASES: dict[str, Callable[[Random], Iterator[Case]]] = {
    "everything-given": _everything_given,
    "heaviest-member": _heaviest_member,
    "no-move-helps": _no_move_helps,
    "idle-partitions": _idle_partitions,
    "stays-put": _stays_put,
    "any-order": _any_order,
}


def _sizes(random: Random, least: int = 0) -> tuple[dict[str, list[int]], list[str]]:
    """Draw topics with lags, some of them far behind, and members in no order."""
    lags: dict[str, list[int]] = {}
    for topic in ("t0", "t1", "t2")[: random.randint(1, 3)]:
        most = random.choices((9, 60), (2, 1), k=random.randint(1, 4))
        lags[topic] = [random.randint(least, each) for each in most]
    return lags, random.sample([f"c{i}" for i in range(9)], random.randint(2, 4))


def allowed(arguments: Case) -> bool:
    """A group has a member, or nobody asks, and there is something to give."""
    lags, subscriptions = arguments
    return bool(subscriptions) and any(lags.values())


def problem(arguments: Case, answer: Any) -> str | None:
    """Name the first promise that the answer, or one of two answers, breaks."""
    answers = answer if isinstance(answer, list) and len(answer) == 2 else [answer]
    for each in answers:
        for broken in (_invalid, _too_heavy, _could_move, _moved_for_nothing):
            if sentence := broken(arguments, each):
                return sentence
    for member in sorted(arguments[1]):
        one, other = (answers[place][member] for place in (0, -1))
        if set(one) != set(other):
            one, other = assignments.names(one), assignments.names(other)
            return f"{member} gets {one}; with both dicts turned round it gets {other}"
    return None


def _invalid(case: Case, answer: object) -> str | None:
    group = _group(case)
    return assignments.malformed(group, answer) or assignments.forgotten(group, answer)


def _too_heavy(case: Case, answer: Assignment) -> str | None:
    lags, subscriptions = case
    if not assignments.same_for_all(subscriptions):
        return None
    member = max(sorted(answer), key=lambda member: _load(lags, answer[member]))
    load, most = _load(lags, answer[member]), _heaviest(lags, dealt_anew(case))
    told = (
        f"{member} carries {load}; if the largest lags are dealt first, nobody carries over {most}"
    )
    return told if load > most else None


def _could_move(case: Case, answer: Assignment) -> str | None:
    move = _helpful_move(case, answer)
    if move is None:
        return None
    partition, giver, taker = move
    lag, more, less = (_load(case[0], each) for each in ([partition], answer[giver], answer[taker]))
    ends = f"from {giver} (carries {more}) to {taker} (carries {less})"
    sizes = "" if lag else f": {len(answer[taker])} partitions there, {len(answer[giver])} here"
    return f"{partition} (lag {lag}) could move {ends}{sizes}"


def _moved_for_nothing(case: Case, answer: Assignment) -> str | None:
    owned = owned_before(_group(case))
    moved = [(p, member) for member, mine in owned.items() for p in mine if p not in answer[member]]
    if not moved or not _as_good(case, owned, heaviest=_heaviest(case[0], answer)):
        return None
    return f"{moved[0][0]} is taken from {moved[0][1]} for nothing: all was as even before"


def table(arguments: Case, answer: object) -> Table:
    """Lay out the group, what it owned, one right answer and this one, each with its load."""
    group, lags = _group(arguments), arguments[0]
    owned = owned_before(group)
    columns = _answers(arguments, answer)
    if any(owned.values()):
        columns = {"owned": owned, **columns}
    there = [partition for mine in assignments.readable(group).values() for partition in mine]

    def told(got: list[Any]) -> str:
        load = _load(lags, (each for each in got if each in there))
        return f"{assignments.names(got)} (carries {load})" if got else "nothing"

    laid_out = assignments.table(group, columns, told=told)
    lists = (f"{topic} {', '.join(map(str, each))}" for topic, each in sorted(lags.items()) if each)
    caption = f"{laid_out.caption}\nLags, partition 0 first: {'; '.join(lists)}"
    return laid_out._replace(caption=caption)


def _answers(case: Case, answer: object) -> dict[str, object]:
    """Name what is shown: a right answer and the learner's, or two of the learner's."""
    if isinstance(answer, list) and len(answer) == 2:
        return {"got": answer[0], "got, turned round": answer[1]}
    return {"one right answer": reference(*case), "got": answer}


def picture(arguments: Case, answer: object) -> str:
    """Draw what one right answer changes of what was owned, and what this one does."""
    group, titled = _group(arguments), {}
    for title, each in _answers(arguments, answer).items():
        if not assignments.malformed(group, each):
            title += f": largest load {_heaviest(arguments[0], cast(Assignment, each))}"
        titled[title] = each
    return assignment_picture.changed(group, titled)
