"""The rules for a lesson: functions that say where a notebook breaks them.

Each takes a notebook and returns its complaints, a sentence each, none where the rule is kept.
`python tests/edition.py LESSON` prints them with what the lesson takes.
"""
