// From next-word scores to a sentence, as transformer_lib.decoding does it. All take the ids of the
// source and a beginning that the sentence must have, and give ids up to and with <eos>.
const LONGEST = 100;

function largest(scores, count) {
  const order = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a] || a - b);
  return order.slice(0, count);
}

// No sentence holds <pad> or <bos>, whatever the model thinks of them.
const withoutSpecial = (scores) => scores.map((x, id) => (id === PAD || id === BOS ? -Infinity : x));

function write(model, source, beginning, choose) {
  let state = model.start(source);
  let id = BOS;
  const ids = [];
  while (id !== EOS && ids.length < LONGEST) {
    const next = model.step(id, state);
    id = beginning[ids.length] ?? choose(withoutSpecial(next.logits));
    state = next.state;
    ids.push(id);
  }
  return ids;
}

function greedy(model, source, beginning = []) {
  return write(model, source, beginning, (logits) => logits.indexOf(logits.reduce((a, b) => Math.max(a, b))));
}

// Random numbers from 0 to 1 that come out the same for the same seed (mulberry32, Ettinger 2017).
function seeded(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sample(model, source, beginning, temperature, random) {
  return write(model, source, beginning, (logits) => {
    const shares = softmax(logits.map((x) => x / temperature));
    let left = random();
    const drawn = shares.findIndex((share) => (left -= share) < 0);
    return drawn < 0 ? largest(shares, 1)[0] : drawn; // rounded shares may add up to less than 1
  });
}

// The best hypotheses, the best first: each with its ids and the sum of its log-probabilities.
function beamSearch(model, source, beginning, size) {
  let kept = [{ ids: [], score: 0, state: model.start(source) }];
  let best = null;
  const finished = (hypothesis) => hypothesis.ids.at(-1) === EOS;
  for (let t = 0; t < LONGEST; t++) {
    const grown = kept.flatMap((hypothesis) => {
      if (finished(hypothesis)) return [hypothesis];
      const { logits, state } = model.step(hypothesis.ids.at(-1) ?? BOS, hypothesis.state);
      const logs = withoutSpecial(logSoftmax(logits));
      const next = t < beginning.length ? [beginning[t]] : largest(logs, size);
      return next.map((id) => ({ ids: [...hypothesis.ids, id], score: hypothesis.score + logs[id], state }));
    });
    kept = grown.sort((a, b) => b.score - a.score).slice(0, size);
    const done = kept.filter((hypothesis) => finished(hypothesis) || t === LONGEST - 1);
    if (done.length && done[0].score > (best?.score ?? -Infinity)) best = done[0];
    const open = kept.filter((hypothesis) => !finished(hypothesis));
    if (best && open.every(({ score }) => score <= best.score)) break;
  }
  return [best, ...kept.filter((hypothesis) => hypothesis !== best)];
}
