"""Mutation testing: is what each line does promised by a test.

`make mutation` changes the code in one place at a time (a mutant) and runs the tests that reach
that place; a mutant that no test notices shows a promise that is missing. mutmut makes the mutants.
They are judged by `judging.py` in its place: mutmut chooses a mutant by a switch inside one
process, and much of grading runs in other processes, behind walls. Here a mutant is a file on disk.
"""
