"""What people call a language: its codes, its English name, its own name."""

import unicodedata

NAMES = {  # ISO 639-1, then ISO 639-2 and 639-3, English, its own
    "ar": "ara, arabic, العربية",
    "bg": "bul, bulgarian, български",
    "ca": "cat, catalan, català",
    "cs": "ces, cze, czech, čeština, česky",
    "da": "dan, danish, dansk",
    "de": "deu, ger, german, deutsch",
    "el": "ell, gre, greek, ελληνικά",
    "en": "eng, english",
    "eo": "epo, esperanto",
    "es": "spa, spanish, español, castellano",
    "et": "est, estonian, eesti",
    "fa": "fas, per, pes, persian, farsi, فارسی",
    "fi": "fin, finnish, suomi",
    "fr": "fra, fre, french, français",
    "he": "heb, hebrew, עברית",
    "hi": "hin, hindi, हिन्दी",
    "hr": "hrv, croatian, hrvatski",
    "hu": "hun, hungarian, magyar",
    "id": "ind, indonesian, indonesia, bahasa indonesia",
    "it": "ita, italian, italiano",
    "ja": "jpn, japanese, 日本語",
    "ko": "kor, korean, 한국어",
    "la": "lat, latin, latina",
    "lt": "lit, lithuanian, lietuvių",
    "lv": "lav, latvian, latviešu",
    "nl": "nld, dut, dutch, nederlands",
    "no": "nor, nob, nb, norwegian, norsk, bokmål",
    "pl": "pol, polish, polski",
    "pt": "por, portuguese, português",
    "ro": "ron, rum, romanian, română",
    "ru": "rus, russian, русский",
    "sk": "slk, slo, slovak, slovenčina",
    "sl": "slv, slovene, slovenian, slovenščina",
    "sr": "srp, serbian, srpski, српски",
    "sv": "swe, swedish, svenska",
    "sw": "swa, swh, swahili, kiswahili",
    "th": "tha, thai, ไทย",
    "tr": "tur, turkish, türkçe",
    "uk": "ukr, ukrainian, українська",
    "ur": "urd, urdu, اردو",
    "vi": "vie, vietnamese, tiếng việt",
    "zh": "zho, chi, cmn, chinese, mandarin, 中文, 汉语, 漢語",
}
_CODES = {name: code for code, names in NAMES.items() for name in (code, *names.split(", "))}


def language_named(text: str) -> str | None:
    """The two-letter code of the language that `text` names, by code or by name; None if none."""
    return _CODES.get(unicodedata.normalize("NFC", text).strip().casefold())
