// The forward pass of transformer_lib.transformer (pre-norm), one sentence at a time.
//
// A row is a Float32Array, a matrix an array of rows, one for each position. Every part has its name
// in the module tree; `tell(name, matrix)` hears what it puts out, and `off` names what is switched
// off: a sublayer (it adds nothing), or a head of an attention, such as "decoder.layers.0.cross_attn.3"
// (what it gathers is zero).

// A safetensors file as nested objects: weights.encoder.layers[0].self_attn.q_proj.weight.
function readWeights(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const start = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const { __metadata__, ...tensors } = JSON.parse(new TextDecoder().decode(bytes.slice(8, start)));
  const tree = {};
  for (const [name, { shape, data_offsets: [from, to] }] of Object.entries(tensors)) {
    const path = name.split(".");
    const leaf = path.pop();
    const parent = path.reduce((node, key) => (node[key] ??= {}), tree);
    parent[leaf] = { shape, data: new Float32Array(bytes.slice(start + from, start + to).buffer) };
  }
  for (const side of ["encoder", "decoder"]) tree[side].layers = Object.values(tree[side].layers);
  return tree;
}

function linear({ weight, bias }, row) {
  const [height, width] = weight.shape;
  const out = new Float32Array(height);
  for (let i = 0, at = 0; i < height; i++) {
    let sum = bias ? bias.data[i] : 0;
    for (let j = 0; j < width; j++, at++) sum += weight.data[at] * row[j];
    out[i] = sum;
  }
  return out;
}

function layerNorm({ weight, bias }, row) {
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  return row.map((x, i) => (x - mean) * scale * weight.data[i] + bias.data[i]);
}

function logSoftmax(scores) {
  const highest = scores.reduce((a, b) => Math.max(a, b));
  const total = Math.log(scores.reduce((sum, x) => sum + Math.exp(x - highest), 0)) + highest;
  return scores.map((x) => x - total);
}

function softmax(scores) {
  return logSoftmax(scores).map(Math.exp);
}

function sinusoids(position, width) {
  return Float32Array.from({ length: width }, (_, i) => {
    const angle = position / 10000 ** ((i - (i % 2)) / width);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

function keysValues(attention, rows) {
  const project = (part) => rows.map((row) => linear(part, row));
  return { keys: project(attention.k_proj), values: project(attention.v_proj) };
}

const plus = (a, b) => a.map((x, i) => x + b[i]);

class Transformer {
  constructor(config, weights, { off = new Set(), tell = () => {} } = {}) {
    Object.assign(this, { config, weights, off, tell });
  }

  embed(side, ids, offset) {
    const { data } = this.weights[side].embedding.weight;
    const width = this.config.d_model;
    const vectors = ids.map((id) => data.slice(id * width, (id + 1) * width).map((x) => x * Math.sqrt(width)));
    const codes = ids.map((_, t) => sinusoids(offset + t, width));
    const x = vectors.map((vector, t) => plus(vector, codes[t]));
    this.tell(`${side}.ids`, ids);
    this.tell(`${side}.embedding`, vectors);
    this.tell(`${side}.positions`, codes);
    this.tell(`${side}.positions.add`, x);
    return x;
  }

  // x + sublayer(norm(x))
  addNorm(layer, number, name, sublayer, x) {
    const [prefix, part] = layer;
    const y = x.map((row) => layerNorm(part[`add_norm${number}`].norm, row));
    const full = `${prefix}.${name}`;
    const out = this.off.has(full) ? x.map((row) => row.map(() => 0)) : sublayer(y, part[name], full);
    const sum = x.map((row, t) => plus(row, out[t]));
    this.tell(`${prefix}.add_norm${number}.norm`, y);
    this.tell(full, out);
    this.tell(`${full}.add`, sum);
    return sum;
  }

  // Queries that may see all these keys.
  attend(full, part, queries, { keys, values }) {
    const heads = this.config.num_heads;
    const width = this.config.d_model / heads;
    return queries.map((query) => {
      const q = linear(part.q_proj, query);
      const context = new Float32Array(q.length);
      for (let h = 0; h < heads; h++) {
        const score = (key) => {
          let sum = 0;
          for (let i = h * width; i < (h + 1) * width; i++) sum += q[i] * key[i];
          return sum / Math.sqrt(width);
        };
        const weights = softmax(Float32Array.from(keys, score));
        this.tell(`${full}.weights.${h}`, [weights]);
        if (this.off.has(`${full}.${h}`)) continue;
        values.forEach((value, t) => {
          for (let i = h * width; i < (h + 1) * width; i++) context[i] += weights[t] * value[i];
        });
      }
      return linear(part.out_proj, context);
    });
  }

  feedForward(x, part) {
    return x.map((row) => linear(part.down_proj, linear(part.up_proj, row).map((h) => Math.max(h, 0))));
  }

  encode(ids) {
    let x = this.embed("encoder", ids, 0);
    this.weights.encoder.layers.forEach((part, i) => {
      const layer = [`encoder.layers.${i}`, part];
      const attention = (y, own, full) => this.attend(full, own, y, keysValues(own, y));
      x = this.addNorm(layer, 1, "self_attn", attention, x);
      x = this.addNorm(layer, 2, "feed_forward", this.feedForward, x);
    });
    const memory = x.map((row) => layerNorm(this.weights.encoder.norm, row));
    this.tell("encoder.norm", memory);
    this.tell("memory", memory);
    return memory;
  }

  // The state before the first word. No state ever changes: beams branch from it.
  start(ids) {
    const memory = this.encode(ids);
    const layers = this.weights.decoder.layers;
    return {
      past: layers.map(() => ({ keys: [], values: [] })),
      memory: layers.map((layer) => keysValues(layer.cross_attn, memory)),
      position: 0,
    };
  }

  // The logits of the word after `id`, and the state for the step after.
  step(id, state) {
    let x = this.embed("decoder", [id], state.position);
    const past = this.weights.decoder.layers.map((part, i) => {
      const layer = [`decoder.layers.${i}`, part];
      let grown = state.past[i];
      x = this.addNorm(layer, 1, "self_attn", (y, own, full) => {
        const { keys, values } = keysValues(own, y);
        grown = { keys: [...grown.keys, ...keys], values: [...grown.values, ...values] };
        return this.attend(full, own, y, grown);
      }, x);
      x = this.addNorm(layer, 2, "cross_attn", (y, own, full) => this.attend(full, own, y, state.memory[i]), x);
      x = this.addNorm(layer, 3, "feed_forward", this.feedForward, x);
      return grown;
    });
    const hidden = x.map((row) => layerNorm(this.weights.decoder.norm, row));
    const generator = this.weights.generator ?? this.weights.decoder.embedding; // tied
    const logits = linear(generator, hidden[0]);
    this.tell("decoder.norm", hidden);
    this.tell("generator", [logits]);
    this.tell("softmax", [softmax(logits)]);
    return { logits, state: { past, memory: state.memory, position: state.position + 1 } };
  }
}
