"""A student, as a roster or an LMS knows them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Student:
    """Who hands in: the name that is shown, and what a gradebook tells people apart by.

    `id` is the number that the LMS has for them, `login` their name there. `entry` is what they
    handed in as the LMS has named it, a folder, a file or the front of several files' names; what
    is given back goes by it. What is not known is "".
    """

    name: str
    id: str = ""
    login: str = ""
    email: str = ""
    entry: str = ""

    @property
    def called(self) -> list[str]:
        """Whatever they may be asked for by, besides the id."""
        return [self.name, self.login, self.email, self.entry]
