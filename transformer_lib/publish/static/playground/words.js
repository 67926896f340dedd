// Text to ids and back, as transformer_lib.corpus does it.
const SPECIAL = ["<pad>", "<bos>", "<eos>", "<unk>"];
const [PAD, BOS, EOS, UNK] = SPECIAL.keys();
const LETTER = "[\\p{L}\\p{N}_]";
const WORD = `${LETTER}+(?:-${LETTER}+)*`;
const MARK = "[^\\p{L}\\p{N}_\\s]";
const TOKEN = {
  en: new RegExp(`'${WORD}|${WORD}|${MARK}`, "gu"), // i 'm
  fr: new RegExp(`${WORD}'?|${MARK}`, "gu"), // j' ai
};

function tokenize(text, language) {
  return text.normalize("NFC").toLowerCase().replaceAll("’", "'").match(TOKEN[language]) ?? [];
}

function detokenize(tokens, language) {
  let text = tokens.join(" ").replace(/ (?=[.,…)\]%])/g, "").replace(/(?<=[([]) /g, "");
  text = language === "fr" ? text.replaceAll("' ", "'") : text.replace(/ (?=['!?:;])/g, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

class Vocabulary {
  constructor({ language, words }) {
    this.language = language;
    this.words = [...SPECIAL, ...words];
    this.ids = new Map(this.words.map((word, id) => [word, id]));
  }

  encode(text) {
    return tokenize(text, this.language).map((token) => this.ids.get(token) ?? UNK);
  }

  tokens(ids) {
    return ids.map((id) => this.words[id]);
  }

  // The sentence up to <eos>, as people write it.
  decode(ids) {
    const end = ids.indexOf(EOS);
    const said = (end < 0 ? ids : ids.slice(0, end)).filter((id) => id !== PAD && id !== BOS);
    return detokenize(this.tokens(said), this.language);
  }

  unknown(text) {
    return tokenize(text, this.language).filter((token) => !this.ids.has(token));
  }
}
