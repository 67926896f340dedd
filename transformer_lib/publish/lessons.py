"""A lesson as a class meets it: timed sections, the instructor's notes, the key terms."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NOTE = re.compile(
    r"<details><summary>For the instructor · (\d+) min</summary>\n\n(.*)\n\n</details>", re.S
)
CHECK = re.compile(r'check\("([A-Za-z_.]+)"')
GLOSSARY = "| term | 中文 |"
SHOWN = ("slide", "subslide", "fragment")


@dataclass(frozen=True)
class Note:
    """What the instructor asks and does, and the minutes since the note before it."""

    minutes: int
    text: str


@dataclass(eq=False)
class Section:
    """A heading and the cells below it; `minutes` is its share of the note that ends it."""

    heading: str
    cells: list[NotebookNode] = field(default_factory=list)
    minutes: float = 0.0

    @property
    def slug(self) -> str:
        return slug(self.heading)

    @property
    def notes(self) -> list[Note]:
        return [found for cell in self.cells if (found := instructor_note(cell))]

    @property
    def exercises(self) -> list[str]:
        """The names of the exercises that this section checks."""
        return [name for cell in self.cells for name in CHECK.findall(cell.source)]

    @property
    def weight(self) -> int:
        """How much there is to show: cells on slides."""
        return sum(place(cell) in SHOWN for cell in self.cells)


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
    def terms(self) -> list[tuple[str, str]]:
        """The key terms, English and Chinese."""
        return [
            tuple(field.strip() for field in row.strip("| ").split(" | "))
            for cell in self.notebook.cells
            if cell.source.startswith(GLOSSARY)
            for row in cell.source.strip().splitlines()[2:]
        ]


def read_lesson(path: Path) -> Lesson:
    """A notebook, cut at its headings, with the minutes of each section.

    The minutes of a note are shared out over the sections since the note before it, by what these
    show.
    """
    notebook = nbformat.read(path, as_version=4)
    sections = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (start := re.match(r"#+ (.+)", cell.source)):
            sections.append(Section(start[1].strip()))
        if not sections:
            raise ValueError(f"{path.name}: the first cell must be a heading, not {cell.source!r}")
        sections[-1].cells.append(cell)
    since = []
    for section in sections:
        since.append(section)
        for note in section.notes:
            _share_out(note.minutes, since)
            since = []
    return Lesson(path, notebook, sections)


def _share_out(minutes: int, sections: list[Section]) -> None:
    weight = sum(max(section.weight, 1) for section in sections)
    for section in sections:
        section.minutes += minutes * max(section.weight, 1) / weight


def find_lessons(names: Iterable[str] = ()) -> list[Path]:
    """The notebooks in order; `names` picks some, by number ("03"), by name, or by path."""
    every = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    if not every:
        raise FileNotFoundError(
            f"publishing needs the project's notebooks, and {NOTEBOOKS} holds none: run it in a "
            "checkout, after `make setup`"
        )
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


def is_predicted(cell: NotebookNode) -> bool:
    """Whether the reader is to say the result first: it is folded in the notebook."""
    return bool(cell.metadata.get("jupyter", {}).get("outputs_hidden"))
