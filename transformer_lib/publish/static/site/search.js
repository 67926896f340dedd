// The search: what it finds, and how it is walked through.
const MOST = 12;
const box = document.getElementById("search");
const found = document.getElementById("found");

function matches(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return SEARCH_INDEX.map((entry) => {
    const heading = `${entry.lesson} ${entry.heading}`.toLowerCase();
    const text = entry.text.toLowerCase();
    const all = words.every((word) => heading.includes(word) || text.includes(word));
    const count = (word) => 20 * heading.includes(word) + Math.min(text.split(word).length - 1, 10);
    return { entry, score: all ? words.reduce((sum, word) => sum + count(word), 0) : 0 };
  })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST);
}

function element(name, text, children = []) {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...children);
  return made;
}

// A place in a text, moved to the border of the formula that it falls into.
function outside(text, at, way) {
  const inFormula = text.slice(0, at).split("$").length % 2 === 0;
  const border = way < 0 ? text.lastIndexOf("$", at - 1) : text.indexOf("$", at) + 1;
  return inFormula ? border : at;
}

function excerpt(text, word) {
  const at = Math.max(text.toLowerCase().indexOf(word), 0);
  const start = outside(text, Math.max(at - 50, 0), -1);
  const [from, to] = [outside(text, at, -1), outside(text, at + word.length, 1)];
  const found = from === at && to === at + word.length ? element("mark", text.slice(from, to)) : text.slice(from, to);
  const end = outside(text, Math.min(to + 90, text.length), 1);
  return element("small", (start ? "… " : "") + text.slice(start, from), [found, `${text.slice(to, end)} …`]);
}

function search() {
  const query = box.value.trim();
  found.hidden = query.length < 2;
  if (found.hidden) return;
  const results = matches(query);
  const links = results.map(({ entry }) => {
    const link = element("a", "", [
      element("strong", entry.heading === entry.lesson ? entry.lesson : `${entry.heading}`),
      element("small", entry.lesson),
      excerpt(entry.text, query.toLowerCase().split(/\s+/)[0]),
    ]);
    link.href = entry.url;
    return link;
  });
  const told = results.length === MOST ? `The best ${MOST}` : `${results.length} found`;
  MathJax.typesetClear?.([found]);
  found.replaceChildren(element("p", results.length ? told : `Nothing holds “${query}”.`), ...links);
  MathJax.typeset?.([found]);
}

function walk(event) {
  const stops = [box, ...found.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const here = stops.indexOf(document.activeElement);
  if (step && here >= 0 && !found.hidden) {
    event.preventDefault();
    stops[Math.min(Math.max(here + step, 0), stops.length - 1)].focus();
  } else if (event.key === "Escape") {
    found.hidden = true;
    box.focus();
  }
}

box.addEventListener("input", search);
box.addEventListener("focus", search);
box.form.addEventListener("keydown", walk);
box.form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});
found.addEventListener("click", (event) => {
  if (event.target.closest("a")) found.hidden = true;
});
document.addEventListener("click", (event) => {
  if (!box.form.contains(event.target)) found.hidden = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/input|select|textarea/i.test(document.activeElement.tagName)) {
    event.preventDefault();
    box.focus();
  }
});
