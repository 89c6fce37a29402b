"""Reasons that say the same are one group, whoever they speak of."""

from kafkalearn.grading.report.reasons import grouped


def patterns(*reasons):
    """Group these reasons of s0, s1 …: pattern -> students."""
    return {
        group.pattern: list(group.students)
        for group in grouped((f"s{number}", reason) for number, reason in enumerate(reasons))
    }


def test_numbers_lists_and_names_do_not_split_a_group():
    """Partitions, however many, and members, with digits or not."""
    assert patterns(
        "c1 gets t0-1 t0-2; range gives it t0-3",
        "c10 gets t0-1; range gives it t0-3 t0-4 t1-0",
        "ann gets t0-0; range gives it t0-3",
        "carol gets nothing; range gives it t0-3",
    ) == {"… gets …; range gives it …": ["s0", "s1", "s2", "s3"]}


def test_other_sentences_and_other_errors_stay_apart():
    """What went wrong is never blanked."""
    assert patterns(
        "your code stopped with KeyError: 'c1' (at: `x = y['c1']`)",
        "your code stopped with KeyError: 'zoe' (at: `return z`)",
        "your code stopped with ValueError: 'zoe' (at: `return z`)",
        "the answer is None (is a `return` missing?)",
    ) == {
        "your code stopped with KeyError: … (at: …)": ["s0", "s1"],
        "your code stopped with ValueError: … (at: …)": ["s2"],
        "the answer is None (is a … missing?)": ["s3"],
    }


def test_the_most_frequent_comes_first_and_a_student_counts_once():
    """Whatever order they come in; the sentences themselves are kept."""
    pairs = [("bob", "x 1 is wrong here"), ("ann", "y"), ("ann", "x 2 is wrong here")]
    first, second = grouped([*pairs, ("ann", "x 3 is wrong here")])
    assert (first.pattern, first.students) == ("x … is wrong here", ("ann", "bob"))
    assert first.reasons == ("x 1 is wrong here", "x 2 is wrong here", "x 3 is wrong here")
    assert second.students == ("ann",)
    assert grouped(reversed(pairs))[0].pattern == first.pattern


def test_groups_are_in_the_order_of_their_size():
    """Also where a sentence that comes later in the alphabet is the more frequent one."""
    assert list(patterns("zebra 1 is wrong", "apple", "zebra 2 is wrong")) == [
        "zebra … is wrong",
        "apple",
    ]
