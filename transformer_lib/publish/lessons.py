"""A lesson as a class meets it: timed sections, the instructor's notes, the key terms.

A lesson has a core and, behind it, sections that go deeper; CONTRIBUTING says how both are written.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode


def notebooks_directory() -> Path:
    """Where the lessons lie: in the installed library, or in a checkout."""
    inside = Path(__file__).parents[1] / "notebooks"
    return inside if inside.exists() else Path(__file__).parents[2] / "notebooks"


NOTEBOOKS = notebooks_directory()
NOTE = re.compile(
    r"<details><summary>For the instructor · (\d+) min</summary>\n\n(.*)\n\n</details>", re.S
)
DEEPER = "Going deeper: "
FOLD = re.compile(r"<details><summary>([^\n]*)</summary>\n\n(.*?)\n\n</details>", re.S)
MARK = re.compile(r"\*\*(Ask|In a hall|Skip if late)\.\*\*\s+")
EFFORT = re.compile(r"(?m)^\*(\d+) min · (●+)(○*)\*$")
TIMES = re.compile(
    r"\*\*Time:\*\* (\d+) minutes in class · (\d+) alone(?:, in (two|three|four) sittings)? "
    r"· (\d+) going deeper\."
)
ROAD_MAP = "*Road map:* "  # begins the line that says where in the lesson a section stands
ASIDE = re.compile(r"(?m)^> \*\*(Careful|In short)\.\*\* (.*(?:\n>.*)*)")
PAUSE = "Pause: "  # begins the heading between two sittings
MISBELIEFS, SHEET, FRIEND = "What people get wrong", "On one sheet", "Explain it to a friend"
CHECK = re.compile(r'check\("([A-Za-z_.]+)"')
GLOSSARY = "| term | what it means | 中文 |"
SHOWN = ("slide", "subslide", "fragment")


@dataclass(frozen=True)
class Note:
    """What the instructor asks and does, and the minutes that its section takes."""

    minutes: int
    text: str

    @property
    def parts(self) -> dict[str, str]:
        """What stands behind **Ask.**, **In a hall.** and **Skip if late.**, by the mark."""
        _, *parts = MARK.split(self.text)
        return {
            mark: " ".join(text.split()) for mark, text in zip(parts[::2], parts[1::2], strict=True)
        }


@dataclass(frozen=True)
class Effort:
    """What a section asks of a reader alone: minutes, and a difficulty of one to three dots."""

    minutes: int
    difficulty: int

    @property
    def dots(self) -> str:
        return "●" * self.difficulty + "○" * (3 - self.difficulty)


class Entry(NamedTuple):
    """A row of a lesson's table of key terms."""

    english: str
    meaning: str
    chinese: str


@dataclass(eq=False)
class Section:
    """A heading and the cells below it."""

    heading: str
    cells: list[NotebookNode] = field(default_factory=list)

    @property
    def slug(self) -> str:
        return slug(self.heading)

    @property
    def notes(self) -> list[Note]:
        return [found for cell in self.cells if (found := instructor_note(cell))]

    @property
    def minutes(self) -> int:
        """Those in class, none where it goes deeper."""
        return sum(note.minutes for note in self.notes)

    @property
    def deeper(self) -> bool:
        """Whether it stands behind the core."""
        return "deeper" in tags(self.cells[0])

    @property
    def effort(self) -> Effort | None:
        """The line *10 min · ●●○* below the heading of an exercise and of what goes deeper."""
        found = EFFORT.search(self.cells[0].source)
        return Effort(int(found[1]), len(found[2])) if found else None

    @property
    def asides(self) -> list[tuple[str, str]]:
        """Its **Careful** and **In short** blocks: which of the two, and the text."""
        found = [aside for cell in self.cells for aside in ASIDE.findall(cell.source)]
        return [(mark, " ".join(text.replace("\n>", " ").split())) for mark, text in found]

    @property
    def careful(self) -> str:
        """The mistakes that its text warns of."""
        return " ".join(text for mark, text in self.asides if mark == "Careful")

    @property
    def model_answer(self) -> str:
        """What a good explanation would be; "" where the section asks for none."""
        folds = (fold for cell in self.cells for fold in FOLD.findall(cell.source))
        return next((text for summary, text in folds if summary == "A model answer"), "")

    @property
    def exercises(self) -> list[str]:
        """The names of the exercises that this section checks."""
        return [name for cell in self.cells for name in CHECK.findall(cell.source)]

    @property
    def terms(self) -> list[Entry]:
        """The key terms of its table."""
        return [
            Entry(*(field.strip() for field in row.strip("| ").split(" | ")))
            for cell in self.cells
            if cell.source.startswith(GLOSSARY)
            for row in cell.source.strip().splitlines()[2:]
        ]


@dataclass
class Lesson:
    """One notebook, cut at its headings."""

    path: Path
    notebook: NotebookNode
    sections: list[Section]

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def number(self) -> str:
        """The two digits that its name begins with."""
        return self.stem[:2]

    @property
    def core(self) -> list[Section]:
        """What a newcomer needs, and a class hears."""
        return [section for section in self.sections if not section.deeper]

    @property
    def deeper(self) -> list[Section]:
        """What stands behind the core, for those who want more."""
        return [section for section in self.sections if section.deeper]

    @property
    def page(self) -> str:
        """The file name of its deck and of its page."""
        return f"{self.stem}.html"

    @property
    def title(self) -> str:
        return self.sections[0].heading

    @property
    def promise(self) -> str:
        """The sentences between the title and what one will be able to do."""
        return self.notebook.cells[0].source.split("\n\n")[1]

    @cached_property
    def minutes(self) -> int:
        return int(re.search(r"(\d+) min", self.notebook.cells[0].source)[1])

    @property
    def sheets(self) -> list[Section]:
        """The pages to take along, one for each part of the lesson."""
        return [section for section in self.core if section.heading.startswith(SHEET)]

    @property
    def terms(self) -> list[Entry]:
        """The key terms, in the order of the lesson's tables."""
        return [entry for section in self.sections for entry in section.terms]


def read_lesson(path: Path) -> Lesson:
    """A notebook, cut at its headings, with the minutes of each section."""
    notebook = nbformat.read(path, as_version=4)
    try:
        return Lesson(path, notebook, cut(notebook))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def cut(notebook: NotebookNode) -> list[Section]:
    """The sections of a notebook: each begins with a cell that is a heading."""
    sections = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (start := re.match(r"#+ (.+)", cell.source)):
            sections.append(Section(start[1].strip()))
        if not sections:
            raise ValueError(f"the first cell must be a heading, not {cell.source!r}")
        sections[-1].cells.append(cell)
    return sections


def find_lessons(names: Iterable[str] = ()) -> list[Path]:
    """The notebooks in order; `names` picks some, by number ("03"), by name, or by path."""
    every = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    chosen = []
    for name in names:
        stem = Path(name).stem
        found = [path for path in every if stem in (path.stem, path.stem[:2])]
        if not found:
            raise ValueError(
                f"There is no lesson {name!r}. There are: {', '.join(path.stem for path in every)}"
            )
        chosen += found
    return chosen or every


def place(cell: NotebookNode) -> str:
    """slide, subslide, fragment, notes or skip."""
    return cell.metadata.get("slideshow", {}).get("slide_type", "skip")


def tags(cell: NotebookNode) -> list[str]:
    """The cell's tags, none where it has none."""
    return cell.metadata.get("tags", [])


def slug(text: str) -> str:
    """A text as a part of an address."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def instructor_note(cell: NotebookNode) -> Note | None:
    """The note that a cell tagged `instructor` holds, unfolded."""
    if "instructor" not in tags(cell):
        return None
    found = NOTE.fullmatch(cell.source.strip())
    if not found:
        raise ValueError(f"A note of another form than the others: {cell.source[:80]!r}")
    return Note(int(found[1]), found[2])


def unfolded(source: str) -> str:
    """Markdown without the folds around its parts, as a speaker and an instructor read it."""
    return FOLD.sub(r"\2", source)


def is_predicted(cell: NotebookNode) -> bool:
    """Whether the reader is to say the result first: it is folded in the notebook."""
    return bool(cell.metadata.get("jupyter", {}).get("outputs_hidden"))
