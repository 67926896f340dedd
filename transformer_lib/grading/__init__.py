"""A class is graded: each notebook in a process of its own, by the library's own checks.

`files` reads folders and zips, `entries` and `roster` say whose they are, `notebooks` which lesson,
`homework` what that asks for, `programs` what of it runs. `limits` runs and ends the processes,
`judge` is what happens in one, `versions` what became of a notebook. `classroom` puts it together,
with `remarks`, and `page` is for the teacher. It is no sandbox: what a notebook does, it does with
the rights of whoever grades it.
"""
