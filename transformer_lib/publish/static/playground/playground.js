// The page: what is asked stands in its address, every answer is computed anew from it.
const DATA = JSON.parse(document.getElementById("data").textContent);
const WEIGHTS = readWeights(DATA.weights);
const [SOURCE, TARGET] = DATA.vocabularies.map((words) => new Vocabulary(words));
const KNOWN = new Map(DATA.known.map(([split, english, french, links]) => [
  tokenize(english, "en").join(" "),
  { split, french, links: new Set(links.split(" ").filter(Boolean)) },
]));
const LAYERS = [...Array(DATA.config.num_layers).keys()];
const HEADS = [...Array(DATA.config.num_heads).keys()];
const ATTENTIONS = [["encoder", "self_attn"], ["decoder", "self_attn"], ["decoder", "cross_attn"]].flatMap(
  ([side, name]) => LAYERS.map((i) => `${side}.layers.${i}.${name}`),
);
const SUBLAYERS = [...ATTENTIONS, ...["encoder", "decoder"].flatMap((side) => LAYERS.map((i) => `${side}.layers.${i}.feed_forward`))];
const SWITCHES = new Set([...SUBLAYERS, ...ATTENTIONS.flatMap((name) => HEADS.map((h) => `${name}.${h}`))]);
const STAGES = DATA.scene.parts
  .filter(({ kind, name, sign }) => (kind === "box" && !name.startsWith("legend")) || sign === "+")
  .map(({ name }) => name);
const MOST_READ = 60; // tokens: more would draw maps that nobody can read
const EXAMPLES = ["I'm home.", "The old cat is sleeping in the garden.", "My sister who saw the dog is tired.", "We don't like the green soup."];
const SIGNED = { low: [178, 24, 43], high: [33, 102, 172] };
const USUAL = {
  s: EXAMPLES[1], begin: "", way: "greedy", size: 4, temperature: 1, seed: 1,
  off: [], stage: ATTENTIONS.at(-1), step: 0, pick: 0,
};

const at = (id) => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const { data = {}, aria = {}, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, data);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(`aria-${name}`, value);
  made.append(...children);
  return made;
}

function draw(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// --------------------------------------------------------------------------- what is asked

function clamped(text, low, high, usual) {
  const number = Number(text);
  return text === null || Number.isNaN(number) ? usual : Math.min(Math.max(number, low), high);
}

function read(address) {
  const given = new URLSearchParams(address.replace(/^#/, ""));
  const whole = (name, high) => Math.round(clamped(given.get(name), 0, high, USUAL[name]));
  return {
    s: given.get("s") ?? USUAL.s,
    begin: given.get("begin") ?? "",
    way: ["greedy", "beam", "sample", "reference"].find((way) => way === given.get("way")) ?? "greedy",
    size: Math.max(whole("size", 8), 2),
    temperature: clamped(given.get("temperature"), 0.1, 3, USUAL.temperature),
    seed: whole("seed", 2 ** 31),
    off: (given.get("off") ?? "").split(" ").filter((name) => SWITCHES.has(name)),
    stage: STAGES.find((name) => name === given.get("stage")) ?? USUAL.stage,
    step: whole("step", LONGEST),
    pick: whole("pick", 8),
  };
}

function address(asked) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    const text = Array.isArray(value) ? value.join(" ") : String(value);
    if (text !== String(USUAL[name])) said.set(name, text);
  }
  return `#${said}`;
}

let asked = read(location.hash);

function change(wanted) {
  asked = { ...asked, ...wanted };
  history.replaceState(null, "", address(asked));
  answer();
}

// ------------------------------------------------------------------------ what is answered

const isSublayer = (name) => SUBLAYERS.includes(name);
const sayable = (text) => TARGET.encode(text).filter((id) => id !== UNK);

function translate({ s, begin, way, size, temperature, seed, off, pick }) {
  const source = [...SOURCE.encode(s).slice(0, MOST_READ), EOS];
  const known = KNOWN.get(tokenize(s, "en").join(" "));
  const beginning = sayable(begin);
  const model = new Transformer(DATA.config, WEIGHTS, { off: new Set(off) });
  const began = performance.now();
  const hypotheses = way === "beam" ? beamSearch(model, source, beginning, size) : [];
  const ids =
    way === "beam" ? (hypotheses[pick] ?? hypotheses[0]).ids
    : way === "sample" ? sample(model, source, beginning, temperature, seeded(seed))
    : way === "reference" && known ? [...TARGET.encode(known.french), EOS]
    : greedy(model, source, beginning);
  const forced = way === "reference" ? ids.length : beginning.length;
  return { source, ids, known, forced, hypotheses, milliseconds: performance.now() - began, text: TARGET.decode(ids) };
}

// Everything that every part puts out while the model reads the sentence and says these ids.
function listen({ source, ids }, off) {
  const heard = {};
  const tell = (name, rows) => (heard[name] ??= []).push(...rows);
  write(new Transformer(DATA.config, WEIGHTS, { off: new Set(off), tell }), source, ids, () => EOS);
  return heard;
}

function answer() {
  fillForm();
  const nothing = SOURCE.encode(asked.s).length === 0;
  for (const section of document.querySelectorAll("main > section")) {
    section.hidden = nothing && section.getAttribute("aria-labelledby") !== "said-heading";
  }
  const said = nothing ? null : translate(asked);
  tellWords(said);
  if (nothing) return;
  const heard = listen(said, asked.off);
  const labels = {
    read: SOURCE.tokens(said.source),
    said: TARGET.tokens(said.ids),
    given: TARGET.tokens([BOS, ...said.ids.slice(0, -1)]),
  };
  labels.steps = labels.given.map((word, t) => `${word} → ${labels.said[t]}`); // it has read this and predicts that
  const step = Math.min(asked.step, said.ids.length - 1);
  const shown = { ...said, heard, labels, step, gold: gold(said) };
  for (const show of [showSaid, showSteps, showDrawing, showPanel, showHeads]) show(shown);
}

// The gold links hold for the reference, so also for a translation that is the same.
function gold({ known, ids }) {
  const reference = known && [...TARGET.encode(known.french), EOS];
  return reference && String(reference) === String(ids) ? known.links : new Set();
}

// ---------------------------------------------------------------------------------- the form

function fillForm() {
  for (const [id, value] of [["sentence", asked.s], ["beginning", asked.begin], ["size", asked.size], ["temperature", asked.temperature]]) {
    const field = at(id);
    if (document.activeElement !== field) field.value = value;
  }
  at("forced").hidden = !KNOWN.has(tokenize(asked.s, "en").join(" "));
  for (const way of document.querySelectorAll("input[name=way]")) way.checked = way.value === asked.way;
  at("again").disabled = asked.way !== "sample";
  at("stage").value = asked.stage;
  at("everything-on").hidden = asked.off.length === 0;
}

function quoted(words) {
  const shown = [...new Set(words)].slice(0, 5).map((word) => `“${word.slice(0, 30)}”`);
  return shown.join(", ") + (new Set(words).size > 5 ? " and others" : "");
}

function tellWords(said) {
  const unknown = SOURCE.unknown(asked.s);
  const unsayable = TARGET.unknown(asked.begin);
  const count = SOURCE.encode(asked.s).length;
  const told = [
    said ? "" : "Type a sentence: without a word there is nothing to translate.",
    unknown.length ? `Training never showed ${quoted(unknown)}: read as <unk>.` : "",
    unsayable.length ? `The model has no word ${quoted(unsayable)}: left out of the beginning.` : "",
    count > MOST_READ ? `Cut after ${MOST_READ} of ${count} words and marks.` : "",
  ];
  at("words").textContent = told.filter(Boolean).join(" ");
  if (!said) for (const id of ["read", "translation", "beside", "hypotheses"]) at(id).replaceChildren();
}

// -------------------------------------------------------------------- sentence, hypotheses, words

function showSaid({ source, text, known, hypotheses, milliseconds, ids }) {
  const chip = (id, word) => make("span", { className: id === UNK ? "chip unknown" : "chip" }, word);
  at("read").replaceChildren(...source.map((id) => chip(id, SOURCE.words[id])));
  at("translation").textContent = ids.at(-1) === EOS ? text : `${text} …`;
  const beside = [make("span", {}, `${source.length} tokens in, ${ids.length} out, ${milliseconds.toFixed(0)} ms.`)];
  if (ids.at(-1) !== EOS) beside.push(` It had not ended after ${LONGEST} tokens.`);
  if (known) beside.push(` In ${known.split}, never trained on; its reference: `, make("span", { lang: "fr" }, known.french));
  if (asked.off.length) {
    const whole = translate({ ...asked, off: [] }).text;
    beside.push(make("br"), `Switched off: ${asked.off.join(", ")}. With everything on: `, make("span", { lang: "fr", className: "whole" }, whole));
  }
  at("beside").replaceChildren(...beside);
  at("hypotheses").hidden = hypotheses.length === 0;
  at("hypotheses").replaceChildren(...hypotheses.map(({ ids: other, score }, i) => {
    const pick = make("button", { type: "button", lang: "fr", aria: { pressed: String(i === asked.pick) } }, TARGET.decode(other));
    pick.onclick = () => change({ pick: i, step: 0 });
    return make("li", {}, pick, ` ${percent(Math.exp(score))} of all that it could say`);
  }));
}

const percent = (share) => (share >= 0.0995 ? `${(100 * share).toFixed(0)} %` : share >= 0.001 ? `${(100 * share).toFixed(1)} %` : "under 0.1 %");

// The shares that a word was taken from, drawn ones at their temperature.
function sharesAt(heard, step) {
  return asked.way === "sample" ? softmax(heard.generator[step].map((x) => x / asked.temperature)) : heard.softmax[step];
}

function showSteps({ heard, labels, ids, step, forced }) {
  at("steps").replaceChildren(...labels.said.map((word, t) => {
    const button = make("button", { type: "button", lang: "fr", className: t < forced ? "forced" : "", aria: { pressed: String(t === step) } }, word);
    button.onclick = () => {
      change({ step: t });
      at("steps").children[t].focus();
    };
    return button;
  }));
  const shares = sharesAt(heard, step);
  const best = largest(shares, 8);
  const shown = best.includes(ids[step]) ? best : [...best.slice(0, 7), ids[step]];
  const others = shares.length - shown.length;
  const left = 1 - shown.reduce((sum, id) => sum + shares[id], 0);
  const notes = [step < forced ? "this word was given" : "", asked.way === "sample" ? `at temperature ${asked.temperature}` : ""];
  at("shares").caption.textContent = [`After ${labels.given.slice(0, step + 1).join(" ")}`, ...notes.filter(Boolean)].join("; ");
  at("shares").tBodies[0].replaceChildren(
    ...shown.map((id) => shareRow(TARGET.words[id], shares[id], id === ids[step])),
    shareRow(`the other ${others} words together`, left, false),
  );
}

function shareRow(word, share, chosen) {
  const bar = make("span", { className: "bar" });
  bar.style.width = `${70 * share}%`;
  return make("tr", { className: chosen ? "chosen" : "" }, make("th", { scope: "row" }, word), make("td", {}, bar, percent(share)));
}

// --------------------------------------------------------------------------------- the drawing

const shapeOf = (rows) => (typeof rows[0] === "number" ? `(${rows.length})` : `(${rows.length}, ${rows[0].length})`);

function drawMark(mark, shape) {
  if (mark.kind === "text") {
    const text = shape && mark.text.startsWith("(") ? mark.text.replace(/^\([^)]*\)/, shape) : mark.text;
    const look = { x: mark.x, y: mark.y, "font-size": mark.size, "text-anchor": mark.anchor, fill: mark.color };
    return draw("text", mark.bold ? { ...look, "font-weight": "bold" } : look, text);
  }
  const look = { d: mark.path, fill: mark.fill, stroke: mark.stroke, "stroke-width": mark.width };
  return draw("path", { ...look, transform: `translate(${mark.x} ${mark.y})` });
}

let seen = "";

function showDrawing({ heard }) {
  const { width, height, marks } = DATA.scene;
  const groups = new Map();
  for (const mark of marks) {
    if (!groups.has(mark.part)) groups.set(mark.part, draw("g", {}));
    groups.get(mark.part).append(drawMark(mark, heard[mark.part] && shapeOf(heard[mark.part])));
  }
  for (const [name, group] of groups) {
    if (!STAGES.includes(name)) continue;
    const off = asked.off.includes(name);
    const chosen = name === asked.stage;
    const said = `${name}, ${heard[name] ? shapeOf(heard[name]) : ""}${off ? ", switched off" : ""}`;
    const look = { class: `stage${off ? " off" : ""}`, role: "button", tabindex: chosen ? 0 : -1, "data-stage": name };
    for (const [key, value] of Object.entries({ ...look, "aria-label": said, "aria-pressed": chosen })) group.setAttribute(key, value);
  }
  const focused = at("drawing").contains(document.activeElement);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "sans-serif" }, ...groups.values());
  at("drawing").replaceChildren(picture);
  const chosen = picture.querySelector("[tabindex='0']");
  if (focused) chosen.focus();
  if (asked.stage !== seen) {
    const { x, y } = chosen.getBBox(); // on a telephone the drawing is larger than its window
    const scale = picture.clientWidth / width;
    at("drawing").scrollTo(scale * x - 60, scale * y - 120);
  }
  seen = asked.stage;
}

// ----------------------------------------------------------------------------------- the panel

function meaning(name) {
  if (name.endsWith(".add")) return "The stream after the sum: what came in plus what the box adds.";
  if (name.includes(".add_norm")) return "Each row less its mean, by its spread; then a learned scale and shift.";
  if (name.endsWith(".positions")) return "A code for each place; the + beside it adds it to the word's vector.";
  const step = DATA.scene.steps.find(({ lit }) => lit.includes(name));
  const caption = step?.caption ?? "";
  const told = caption.startsWith(`${name}: `) ? caption.slice(name.length + 2) : caption;
  return told.charAt(0).toUpperCase() + told.slice(1);
}

function toggle(name, label) {
  const box = make("input", { type: "checkbox", checked: !asked.off.includes(name), data: { off: name } });
  box.onchange = () => {
    change({ off: box.checked ? asked.off.filter((other) => other !== name) : [...asked.off, name] });
    document.querySelector(`input[data-off="${name}"]`)?.focus();
  };
  return make("label", {}, box, ` ${label}`);
}

function showPanel(shown) {
  const { heard, labels } = shown;
  const name = asked.stage;
  const rows = heard[name];
  const heading = make("h3", {}, make("code", {}, name), rows ? ` ${shapeOf(rows)}` : "");
  const content = [heading, make("p", {}, meaning(name))];
  if (isSublayer(name)) content.push(make("p", {}, toggle(name, "this whole sublayer is on")));
  if (ATTENTIONS.includes(name) && !asked.off.includes(name)) {
    content.push(make("p", {}, "A head that is off gathers zeros; the bias behind all heads is still added."));
    content.push(...HEADS.map((h) => headTable(name, h, shown)));
  }
  const side = name.startsWith("encoder") || name === "memory" ? labels.read : labels.steps;
  if (asked.off.includes(name)) content.push(make("p", {}, "Switched off, it adds nothing: the stream passes it by."));
  else if (name.endsWith(".ids")) content.push(idTable(rows, side));
  else if (name === "generator" || name === "softmax") content.push(wordTable(rows, side, name));
  else if (rows) content.push(numberTable(rows, side));
  at("panel").replaceChildren(...content);
}

function table(caption, head, rows) {
  return make("div", { className: "scrolled", tabIndex: 0, role: "group", ariaLabel: caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...rows)));
}

const headings = (...words) => make("tr", {}, ...words.map((word) => (word ? make("th", { scope: "col" }, word) : make("td"))));

function idTable(ids, words) {
  const rows = words.map((word, t) => make("tr", {}, make("th", { scope: "row" }, word), make("td", {}, String(ids[t]))));
  return table("A number for each token", headings("token", "id"), rows);
}

function wordTable(rows, words, name) {
  const told = name === "softmax" ? percent : (x) => x.toFixed(2);
  const best = (row) => largest(row, 3).map((id) => `${TARGET.words[id]} ${told(row[id])}`).join(" · ");
  const found = words.map((word, t) => make("tr", {}, make("th", { scope: "row" }, word), make("td", {}, best(rows[t]))));
  return table("The three highest, of one for every word", headings("read → predicted", name === "softmax" ? "shares" : "scores"), found);
}

function paint(canvas, width, height, color) {
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      context.fillStyle = color(y, x);
      context.fillRect(x, y, 1, 1);
    }
  }
  return canvas;
}

function signed(share) {
  const end = share < 0 ? SIGNED.low : SIGNED.high;
  return `rgb(${end.map((c) => Math.round(255 - Math.min(Math.abs(share), 1) * (255 - c))).join(" ")})`;
}

function numberTable(rows, words) {
  const flat = rows.flatMap((row) => [...row]);
  const [low, high] = [Math.min(...flat), Math.max(...flat)];
  const most = Math.max(-low, high) || 1;
  const said = make("output", {}, "Point at a row, or touch it, to read its numbers.");
  const found = rows.map((row, t) => {
    const label = `${words[t]}: ${row.length} numbers, the first ${[...row.slice(0, 4)].map((x) => x.toFixed(2)).join(", ")}`;
    const strip = paint(make("canvas", { className: "strip", role: "img", ariaLabel: label }), row.length, 1, (_, x) => signed(row[x] / most));
    strip.onpointermove = strip.onpointerdown = ({ offsetX }) => {
      const i = Math.min(Math.floor((offsetX / strip.clientWidth) * row.length), row.length - 1);
      said.textContent = `${words[t]}, component ${i}: ${row[i].toFixed(3)}`;
    };
    return make("tr", {}, make("th", { scope: "row" }, words[t]), make("td", {}, strip));
  });
  const caption = `What it puts out, from ${low.toFixed(2)} (red) by 0 (white) to ${high.toFixed(2)} (blue)`;
  return make("div", {}, table(caption, headings("token", `${rows[0].length} components`), found), make("p", {}, said));
}

// ----------------------------------------------------------------------------------- the heads

function axes(name, { labels }) {
  if (name.startsWith("encoder")) return [labels.read, labels.read];
  return [labels.steps, name.endsWith("cross_attn") ? labels.read : labels.given];
}

const shade = (share) => DATA.shades[Math.round(Math.min(share, 1) * (DATA.shades.length - 1))];

function headTable(name, h, shown) {
  const [down, across] = axes(name, shown);
  const rows = shown.heard[`${name}.weights.${h}`];
  const linked = name.endsWith("cross_attn") && shown.gold.size > 0;
  const now = name.startsWith("decoder") ? shown.step : -1;
  const cell = (share, t, i) => {
    const told = share >= 0.095 ? (100 * share).toFixed(0) : "";
    const made = make("td", { className: linked && shown.gold.has(`${i}-${t}`) ? "weight gold" : "weight", title: `${down[t]} to ${across[i]}: ${percent(share)}` }, told);
    made.style.background = shade(share);
    made.style.color = share > 0.7 ? "#fff" : "#000";
    return made;
  };
  const found = rows.map((row, t) => make("tr", {}, make("th", { scope: "row", className: t === now ? "now" : "" }, down[t]), ...across.map((_, i) => (i < row.length ? cell(row[i], t, i) : make("td")))));
  const off = asked.off.includes(`${name}.${h}`);
  const caption = `Head ${h}${off ? ", off" : ""}: who looks at whom, in percent from 10 on${linked ? "; framed: the gold links" : ""}`;
  return make("div", { className: off ? "head off" : "head", id: `${name}.${h}` }, make("p", {}, toggle(`${name}.${h}`, `head ${h} is on`)), table(caption, headings("", ...across), found));
}

function showHeads({ heard }) {
  at("heads").replaceChildren(...ATTENTIONS.map((name) => {
    const maps = HEADS.map((h) => {
      const rows = heard[`${name}.weights.${h}`];
      const off = asked.off.includes(name) || asked.off.includes(`${name}.${h}`);
      const button = make("button", { type: "button", className: off ? "map off" : "map", ariaLabel: `${name}, head ${h}${off ? ", switched off" : ""}` });
      if (rows) button.append(paint(make("canvas"), rows.at(-1).length, rows.length, (y, x) => shade(rows[y][x] ?? 0)));
      button.onclick = () => {
        change({ stage: name });
        document.getElementById(`${name}.${h}`)?.scrollIntoView({ block: "nearest" });
      };
      return button;
    });
    return make("div", { className: "maps" }, make("code", {}, name), make("div", {}, ...maps));
  }));
}

// ----------------------------------------------------------------------------- the discoveries

const TIRED = ["sister", "brother", "mother"].flatMap((who) => ["man", "woman", "dog"].map((whom) => `My ${who} who saw the ${whom} is tired.`));
const DISCOVERIES = [
  {
    title: "Who chooses the sense of a word?",
    question: "French has two verbs for “missed”: manquer, of people, and rater, of trains. Take the encoder's first self-attention away, and no word sees its neighbours there. What happens to “She missed our uncle.” and “She missed the train.”?",
    choices: ["Both keep their verb", "One of them changes its verb", "Both change"],
    right: 1,
    runs: ["She missed our uncle.", "She missed the train."].flatMap((s) => [{ s }, { s, off: ["encoder.layers.0.self_attn"] }, { s, off: ["encoder.layers.1.self_attn"] }]),
    told: "The uncle is now missed like a train. Nor would any missing part have done: without the second layer's look both verbs stay. In the first layer “missed” looks at what stands around it; without that look the model falls back on rater, which happens to be right for the train. There are other roads, though: “She missed her sister.” keeps its verb.",
  },
  {
    title: "Who decides what?",
    question: "Under “My sister is tired.” you force the French to begin with “Le chien”, “La femme” or “Nous”. What will the adjective agree with, and what the verb?",
    choices: ["Both with the English", "Both with the French beginning", "The adjective with the beginning, the verb with the English"],
    right: 2,
    runs: [
      ...["", "Le chien", "La femme", "Nous"].map((begin) => ({ s: "My sister is tired.", begin })),
      { s: "My brother is tired.", begin: "La femme" },
      { s: "The dogs are tired.", begin: "La femme" },
    ],
    told: "Under “My sister” it is so: fatigué or fatiguée goes with the French that stands there, and est stays, even after Nous. The last two rows try the other side. Under “The dogs” La femme gets sont: the verb's number does come from the English. But under “My brother” La femme est fatigué: the feminine needs both, the English sister and the French femme.",
  },
  {
    title: "A hypothesis dies",
    question: "“My sister who saw the dog is tired.” goes wrong. Perhaps the adjective agrees with the nearest noun? Nine sentences will tell.",
    choices: ["Yes, with the nearest noun", "No, with the subject after all", "Neither explains it"],
    right: 2,
    runs: TIRED.map((s) => ({ s })),
    told: "Nine times fatigué: right for the brother, and next to a man or a dog, but “My mother who saw the woman” has two feminine nouns, so both hypotheses ask for fatiguée. What does explain it? Shorten the clause, and try other adjectives.",
  },
];

function showDiscovery({ title, question, choices, right, runs, told }, number) {
  const result = make("div", { hidden: true });
  const options = choices.map((choice, i) => {
    const radio = make("input", { type: "radio", name: `guess-${number}` });
    radio.onchange = () => {
      if (result.hidden) result.append(...compared(runs), make("p", { className: "told" }, told));
      result.hidden = false;
      verdict.textContent = i === right ? "So it is." : `You said: “${choice}”. It is: “${choices[right]}”.`;
    };
    return make("label", {}, radio, ` ${choice}`);
  });
  const verdict = make("p", { role: "status" });
  return make("article", {}, make("h3", {}, title), make("p", {}, question), make("fieldset", {}, make("legend", {}, "What do you expect?"), ...options), verdict, result);
}

function compared(runs) {
  const rows = runs.map((run) => {
    const wanted = { ...USUAL, ...run, stage: run.off?.[0] ?? USUAL.stage };
    const link = make("a", { href: address(wanted) }, run.s);
    link.onclick = () => scrollTo(0, 0);
    const given = [run.off ? `without ${run.off[0]}` : "", run.begin ? `beginning ${run.begin}` : ""].filter(Boolean).join(", ");
    return make("tr", {}, make("td", {}, link, given ? `, ${given}` : ""), make("td", { lang: "fr" }, translate(wanted).text));
  });
  return [table("Computed just now; a link brings you there", headings("asked", "said"), rows)];
}

// --------------------------------------------------------------------------------- the beginning

function listenToReader() {
  at("ask").onsubmit = (event) => event.preventDefault();
  at("sentence").oninput = ({ target }) => change({ s: target.value, step: 0, pick: 0, way: asked.way === "reference" ? "greedy" : asked.way });
  at("beginning").oninput = ({ target }) => change({ begin: target.value, step: 0, pick: 0 });
  at("size").oninput = ({ target }) => change({ size: Math.round(clamped(target.value, 2, 8, USUAL.size)), way: "beam", pick: 0 });
  at("temperature").oninput = ({ target }) => change({ temperature: clamped(target.value, 0.1, 3, USUAL.temperature), way: "sample" });
  at("size").onchange = at("temperature").onchange = ({ target }) => (target.value = asked[target.id]);
  at("again").onclick = () => change({ seed: asked.seed + 1, step: 0 });
  for (const way of document.querySelectorAll("input[name=way]")) way.onchange = () => change({ way: way.value, step: 0, pick: 0 });
  at("everything-on").onclick = () => change({ off: [] });
  at("stage").append(...STAGES.map((name) => make("option", { value: name }, name)));
  at("stage").onchange = ({ target }) => change({ stage: target.value });
  at("examples").append(...EXAMPLES.map((s) => {
    const button = make("button", { type: "button" }, s);
    button.onclick = () => change({ ...USUAL, s, stage: asked.stage, off: asked.off });
    return button;
  }));
  at("drawing").onclick = ({ target }) => {
    const stage = target.closest("[data-stage]")?.dataset.stage;
    if (stage) change({ stage });
  };
  at("drawing").onkeydown = (event) => {
    const forward = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
    if (!forward) return;
    event.preventDefault();
    const next = STAGES.indexOf(asked.stage) + forward;
    change({ stage: STAGES[(next + STAGES.length) % STAGES.length] });
  };
  addEventListener("hashchange", () => {
    asked = read(location.hash);
    answer();
  });
}

listenToReader();
at("discoveries").append(...DISCOVERIES.map(showDiscovery));
answer();
document.body.dataset.ready = "true";
