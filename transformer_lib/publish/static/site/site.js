// The theme, and what makes a page of charts usable by keyboard.
const theme = document.getElementById("theme");

// -------------------------------------------------------------------------------------- theme

const root = document.documentElement;
const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const name = () => theme.setAttribute("aria-pressed", isDark());
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

// ---------------------------------------------------------------------------- contents, folds

if (matchMedia("(max-width: 56rem)").matches) document.querySelector(".route details")?.removeAttribute("open");

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

// who follows a link to what is folded wants to read it
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const own = target?.querySelector(":scope > details.deeper");
  for (let fold = own ?? target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

addEventListener("hashchange", unfold);
unfold();

// on paper everything is read: what is folded opens, and folds again
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const fold of folded) fold.open = true;
});
addEventListener("afterprint", () => folded.forEach((fold) => (fold.open = false)));

// what scrolls sideways must be reachable without a mouse
function scrollable() {
  for (const part of document.querySelectorAll("pre, table, .chart, mjx-container[display]")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
}

// ----------------------------------------------------------------------- copying, definitions

for (const code of document.querySelectorAll("div.code, div.solution")) {
  const button = element("button", "Copy");
  button.className = "copy";
  button.type = "button";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.querySelector("pre").textContent.trimEnd());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code.querySelector("pre"));
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  code.classList.add("copied");
  code.append(button);
}

// Escape closes a definition, until the pointer or the focus comes to another one
document.addEventListener("keydown", (event) => document.body.classList.toggle("hushed", event.key === "Escape"));
document.addEventListener("pointerover", () => document.body.classList.remove("hushed"));

// -------------------------------------------------------------------------- formulas and charts

async function draw() {
  await MathJax.startup.promise;
  await MathJax.typesetPromise();
  if (typeof vegaEmbed !== "undefined") await drawCharts();
  scrollable();
  document.body.dataset.ready = "true";
}

addEventListener("resize", scrollable);
draw();
