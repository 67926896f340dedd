// The search, the theme, and what makes a page of charts usable by keyboard.
const MOST = 12;
const box = document.getElementById("search");
const found = document.getElementById("found");
const theme = document.getElementById("theme");

// ------------------------------------------------------------------------------------- search

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

function excerpt(text, word) {
  const at = Math.max(text.toLowerCase().indexOf(word), 0);
  const start = Math.max(at - 50, 0);
  const around = element("small", (start ? "… " : "") + text.slice(start, at));
  around.append(element("mark", text.slice(at, at + word.length)), `${text.slice(at + word.length, at + 90)} …`);
  return around;
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
  found.replaceChildren(element("p", results.length ? told : `Nothing holds “${query}”.`), ...links);
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

// -------------------------------------------------------------------------------------- theme

const root = document.documentElement;
const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const name = () => (theme.textContent = isDark() ? "Light" : "Dark");
theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // a browser may forbid it for files; then the choice holds for this page
  }
  name();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
name();

// ------------------------------------------------------------------------- contents, formulas

if (matchMedia("(max-width: 56rem)").matches) document.querySelector(".route details").open = false;

const links = new Map([...document.querySelectorAll(".contents a")].map((a) => [a.hash.slice(1), a]));
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  },
  { rootMargin: "-20% 0px -70% 0px" },
);
document.querySelectorAll("article > section").forEach((section) => watcher.observe(section));

// who follows a link to a folded section wants to read it
function unfold() {
  const section = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = section?.querySelector(":scope > details.deeper");
  if (fold) fold.open = true;
}

addEventListener("hashchange", unfold);
unfold();

// what scrolls sideways must be reachable without a mouse
function scrollable() {
  for (const part of document.querySelectorAll("pre, table, .chart, mjx-container[display]")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
}

async function draw() {
  await MathJax.startup.promise;
  await MathJax.typesetPromise();
  if (typeof vegaEmbed !== "undefined") await drawCharts();
  scrollable();
  document.body.dataset.ready = "true";
}

addEventListener("resize", scrollable);
draw();
