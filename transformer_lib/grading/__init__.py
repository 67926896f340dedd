"""A class is graded: each notebook in a process of its own, by the library's own checks.

`limits` runs and ends the processes, `judge` is what happens in one, `homework` says what a lesson
asks for, `submissions` what was handed in, `classroom` puts both together, and `page` is for the
teacher. It is no sandbox: what a notebook does, it does with the rights of whoever grades it.
"""
