"""The loop exercises, without kernels: who passes, who is caught, and what is said."""

from contextlib import suppress

import pytest

from kafkalearn import ConsumerRebalanceListener
from kafkalearn.errors import CommitFailedError, WakeupError
from kafkalearn.grading.judging.judge import cases_of, decide
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.grading.loops import EXERCISES, FOLDER, WRONG, asker, exercise_of, loop_of, notebook

SEEDS = range(20)
NAMES = sorted(EXERCISES)


def finds_nothing(exercise, check, *, loop, seeds=(0,)):
    """Whether no story of a check goes wrong under any seed; nothing is made smaller."""
    return not any(found_by_seed(exercise, check, loop=loop, seeds=seeds))


def found_by_seed(exercise, check, *, loop, seeds):
    """Whether something goes wrong, for each seed; what was told already goes as it went."""
    kind, known = cases_of(exercise, asker(loop)), {}

    def goes_wrong(story):
        told = repr(story)
        if told not in known:
            known[told] = any(kind.find(case) for case in kind.with_faults(story))
        return known[told]

    return [any(map(goes_wrong, exercise.judge.stories(check, seed))) for seed in seeds]


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes_every_check(name):
    """Under 20 seeds, so that no check is passed by luck."""
    solution = loop_of(FOLDER / name / "solution.ipynb")
    for check in EXERCISES[name].checks:
        assert finds_nothing(EXERCISES[name], check.name, loop=solution, seeds=SEEDS)


@pytest.mark.parametrize("name", NAMES)
def test_the_starter_fails_every_check(name):
    """And is told that it is not written yet."""
    starter = loop_of(FOLDER / name / "starter.ipynb")
    for check in EXERCISES[name].checks:
        assert all(found_by_seed(EXERCISES[name], check.name, loop=starter, seeds=SEEDS))
        said = decide(EXERCISES[name], check.name, seed=0, ask=asker(starter)).sentence
        assert said.endswith("not written yet: your answer still raises NotImplementedError")


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_answer_is_caught_by_the_check_that_it_names(path):
    """Under 20 seeds the named check says no, and its title names it too."""
    book = notebook(path)
    caught_by = book["metadata"]["kafkalearn"]["caught_by"]
    assert caught_by in "".join(book["cells"][0]["source"])
    assert all(found_by_seed(exercise_of(path), caught_by, loop=loop_of(path), seeds=SEEDS))


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_answer_passes_what_it_does_right(path):
    """Points are partial: each wrong answer passes at least one check."""
    exercise = exercise_of(path)
    passed = [
        check.name
        for check in exercise.checks
        if finds_nothing(exercise, check.name, loop=loop_of(path))
    ]
    assert passed


SMALLEST = {
    "commits_before_the_work": (
        "nothing-lost: orders-0 offset 0 was lost: it was never processed, and the committed "
        "offset 1 passed it, after c1 crashed at 115 ms",
        "records: 1 in orders-0; c1 starts at 100 ms; process() takes 10 ms; c1 crashes at 115 ms",
    ),
    "commits_now_and_then": (
        "few-repeats: 3 records came again, orders-0 offset 2 as the last, after c1 crashed at "
        "153 ms: at most 2 may, those of one poll for each crash",
        "records: 3 in orders-0; c1 starts at 100 ms; process() takes 10 ms; c1 crashes at 153 ms",
    ),
    "does_not_wait": (
        "few-repeats: 3 records came again, orders-0 offset 2 as the last, after c1 crashed at "
        "143 ms: at most 2 may, those of one poll for each crash",
        "records: 3 in orders-0; c1 starts at 100 ms; process() takes 10 ms; commit number 1 "
        "is answered COORDINATOR_LOAD_IN_PROGRESS; c1 crashes at 143 ms",
    ),
    "commits_too_early": (
        "does-not-wait: orders-0 offset 0 was not processed yet when your loop committed it "
        "at 112 ms: after a crash now, nobody would process it",
        "records: 1 in orders-0; c1 starts at 100 ms; process() takes 0 ms",
    ),
    "commits_too_late": (
        "does-not-wait: your loop polls again at 112 ms, and has not committed orders-0 "
        "offset 0, which is processed",
        "records: 1 in orders-0; c1 starts at 100 ms; process() takes 0 ms",
    ),
    "commits_when_idle": (
        "few-commits: c1 polls again at 136 ms, and has processed 10 records since its last "
        "commit: one is due after ten",
        "records: 10 in orders-0; c1 starts at 100 ms; process() takes 2 ms",
    ),
    "commits_each_poll": (
        "few-commits: c1 sends its commit number 1 at 114 ms, and nothing is revoked: one for "
        "every ten records is allowed, and it has processed 1",
        "records: 1 in orders-0; c1 starts at 100 ms; process() takes 2 ms",
    ),
    "retries_in_the_callback": (
        "never-back: the committed offset of orders-0 went back from 3 to 2: after a crash now, "
        "records would come again",
        "records: 3 in orders-0; c1 starts at 100 ms; process() takes 0 ms; commit number 1 is "
        "answered COORDINATOR_LOAD_IN_PROGRESS",
    ),
    "no_listener": (
        "clean-rebalance: orders-0 offset 0 was processed again: nobody crashed, so nothing may "
        "come again",
        "records: 1 in orders-0; c1 starts at 100 ms; c2 starts at 200 ms; process() takes 25 ms",
    ),
}


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_story_is_told(name, monkeypatch):
    """What went wrong, and the shortest story in which it does."""
    (path,) = (path for path in WRONG if path.stem == name)
    sentence, story = SMALLEST[name]
    monkeypatch.setattr("kafkalearn.grading.judging.smallest.MOST_SECONDS", 60)
    check = notebook(path)["metadata"]["kafkalearn"]["caught_by"]
    verdict = decide(exercise_of(path), check, seed=0, ask=asker(loop_of(path)))
    assert verdict.sentence == sentence
    assert verdict.text.splitlines()[2] == story
    assert verdict.text.count("\n->") == 1


def test_two_faults_are_found_where_one_does_no_harm():
    """A last commit that nobody waits for is lost only if the one before it is lost as well."""
    (path,) = (path for path in WRONG if path.stem == "leaves_without_waiting")
    kind = cases_of(exercise_of(path), asker(loop_of(path)))
    found = [case.faults for case, found in kind.tried("last-word", 3) if found]
    assert {len(faults) for faults in found} == {2}


@pytest.mark.parametrize("timeout_ms", [0, 30, 1000])
def test_the_plain_loop_is_right_however_long_it_polls(timeout_ms):
    """Five obvious lines pass exercise 38, though CommitFailedError ends them."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        while True:
            for record in consumer.poll(timeout_ms):
                process(record)
            consumer.commit_sync()

    exercise = EXERCISES["38_loss_and_duplicates"]
    for check in exercise.checks:
        assert finds_nothing(exercise, check.name, loop=loop)


def test_committing_each_record_by_itself_is_right_too():
    """It costs much, and repeats at most one record."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        while True:
            for record in consumer.poll(100):
                process(record)
                partition = TopicPartition(record.topic, record.partition)
                try:
                    consumer.commit_sync({partition: OffsetAndMetadata(record.offset + 1)})
                except CommitFailedError:
                    break

    exercise = EXERCISES["38_loss_and_duplicates"]
    for check in exercise.checks:
        assert finds_nothing(exercise, check.name, loop=loop), check.name


def test_one_commit_at_a_time_is_right_though_a_poll_is_skipped():
    """Who waits for the callback before the next commit hears of it in the poll after."""

    def loop(consumer, process):
        is_due = is_on_its_way = False

        def on_commit(_, error):
            nonlocal is_due, is_on_its_way
            is_on_its_way, is_due = False, is_due or error is not None

        consumer.subscribe(["orders"])
        with suppress(WakeupError):
            while True:
                for record in consumer.poll(20):
                    process(record)
                    is_due = True
                if is_due and not is_on_its_way:
                    is_due, is_on_its_way = False, True
                    consumer.commit_async(callback=on_commit)
        consumer.commit_sync()
        consumer.close()

    exercise = EXERCISES["36_sync_and_async"]
    for check in exercise.checks:
        assert finds_nothing(exercise, check.name, loop=loop, seeds=range(3)), check.name


def commits_every_ten(*, after_each_poll=False, anew=False, also_with_two=False):
    """A loop for exercise 39; also_with_two: it commits each record while it has two partitions."""

    def loop(consumer, process):
        done, count = {}, 0

        class Handover(ConsumerRebalanceListener):
            def on_partitions_revoked(self, partitions):
                nonlocal count
                consumer.commit_sync(done)
                done.clear()
                count = 0 if anew else count

        def commit_what_is_due(*, now):
            nonlocal count
            if now and (count >= 10 or (also_with_two and len(done) > 1)):
                count = max(0, count - 10)
                consumer.commit_sync(done)

        consumer.subscribe(["orders"], listener=Handover())
        with suppress(WakeupError):
            while True:
                for record in consumer.poll(100):
                    process(record)
                    partition = TopicPartition(record.topic, record.partition)
                    done[partition] = OffsetAndMetadata(record.offset + 1)
                    count += 1
                    commit_what_is_due(now=not after_each_poll)
                commit_what_is_due(now=after_each_poll)
        consumer.commit_sync(done)
        consumer.close()

    return loop


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("after_each_poll", [False, True])
def test_ten_may_be_counted_in_several_ways(after_each_poll, anew):
    """At the tenth record or when its poll is done; from a handover on, or in all."""
    loop = commits_every_ten(after_each_poll=after_each_poll, anew=anew)
    exercise = EXERCISES["39_rebalance_listener"]
    for check in exercise.checks:
        assert finds_nothing(exercise, check.name, loop=loop, seeds=range(3)), check.name


def test_commits_are_dear_with_several_partitions_too():
    """Who commits each record while it has two is caught, and by this check alone."""
    loop = commits_every_ten(also_with_two=True)
    exercise = EXERCISES["39_rebalance_listener"]
    found = [
        check.name
        for check in exercise.checks
        if not finds_nothing(exercise, check.name, loop=loop)
    ]
    assert found == ["few-commits"]


def test_equal_seeds_give_equal_stories():
    """And other seeds give others, in each check that has chance in it."""
    for exercise in EXERCISES.values():
        for check in exercise.checks:
            first, again, other = (
                list(exercise.judge.stories(check.name, seed)) for seed in (1, 1, 2)
            )
            assert first == again
            assert first != other
