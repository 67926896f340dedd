// Typesets, draws, fits every slide to the screen, and only then shows the first.
const TYPE = [1.25, 1.12, 1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7];
const CHART_SCALES = Array.from({ length: 61 }, (_, n) => 1.7 - 0.02 * n); // to 0.5
const LEGIBLE = 1.3; // of a chart: Vega's letters are then 14 pixels high

function overflows(slide) {
  return slide.scrollHeight > slide.clientHeight || slide.scrollWidth > slide.clientWidth;
}

// A tall chart has its controls beside it, so that they take no height from it.
function layCharts(slide) {
  for (const svg of slide.querySelectorAll(".chart svg.marks")) {
    const tall = svg.getAttribute("height") > 0.7 * svg.getAttribute("width");
    svg.closest(".chart").classList.toggle("tall", tall);
  }
}

function scaleCharts(slide, scale) {
  for (const svg of slide.querySelectorAll(".chart svg.marks")) {
    svg.style.width = `${svg.getAttribute("width") * scale}px`;
    svg.style.height = `${svg.getAttribute("height") * scale}px`;
  }
}

// A formula wider than the slide gets smaller by itself, and leaves the words beside it their size.
function fitFormulas(slide) {
  for (const formula of slide.querySelectorAll('mjx-container[display="true"]')) {
    formula.style.fontSize = "";
    const room = formula.clientWidth / formula.querySelector("svg").clientWidth;
    if (room < 1) formula.style.fontSize = `${room * parseFloat(getComputedStyle(formula).fontSize)}px`;
  }
}

// The largest charts and the largest type with which the slide still fits; type gives way first.
function fit(slide) {
  const charts = slide.querySelector(".chart svg.marks");
  layCharts(slide);
  const sizes = slide.querySelector(".chart, .figure") ? TYPE.filter((type) => type <= 1) : TYPE;
  const legible = CHART_SCALES.filter((scale) => scale >= LEGIBLE);
  for (const scales of charts ? [legible, CHART_SCALES] : [[1]]) {
    for (const type of sizes) {
      slide.style.setProperty("--fit", type);
      fitFormulas(slide);
      for (const scale of scales) {
        scaleCharts(slide, scale);
        if (!overflows(slide)) return;
      }
    }
  }
}

function changeTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = dark === "dark" ? "light" : "dark";
}

async function start() {
  await MathJax.startup.promise;
  await MathJax.typesetPromise();
  // read aloud by the formula itself; in the speaker's window it would stand there twice
  document.querySelectorAll(".notes mjx-assistive-mml").forEach((copy) => copy.remove());
  await drawCharts();
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  document.body.classList.add("measuring");
  document.querySelectorAll(".slide").forEach(fit);
  document.body.classList.remove("measuring");
  await Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false, hash: true, slideNumber: "c/t",
    transition: "none", backgroundTransition: "none", pdfSeparateFragments: false,
    defaultTiming: 60, // every slide says its own; without this the speaker's view shows no pace
    plugins: [RevealNotes],
  });
  Reveal.addKeyBinding({ keyCode: 68, key: "D", description: "Dark or light" }, changeTheme);
  document.addEventListener("toggle", (event) => fit(event.target.closest(".slide")), true);
  document.body.classList.remove("waiting");
}

start();
