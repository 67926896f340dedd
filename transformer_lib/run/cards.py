"""The card of a model that is given away: what a stranger has to know of it."""

import warnings
from pathlib import Path

from transformer_lib.checkpoints import LoadedModel
from transformer_lib.run.runs import score_run, stored_settings

LIBRARY = """\
`pip install .` in the folder of the course *Attention and Transformers, lesson by lesson* installs
the library `transformer_lib`, which pip calls attention-lessons. (Say here where a stranger finds it.)"""

OURS = """\
```python
from transformer_lib import Translator

print(Translator.load("{folder}").translate(["…"]))  # this folder, as you have it
```

```sh
python -m transformer_lib translate --model {folder} "…"
python -m transformer_lib evaluate --model {folder} --corpus mytest.tsv
```
"""

SERVED = """\
`translate.py` in this folder says which engine it needs besides, and takes a line for a line:

```sh
python {folder}/translate.py < lines.txt
```
"""


def model_card(loaded: LoadedModel, folder: Path, *, served: bool = False) -> str:
    """Markdown: languages, data, held-out scores with signatures, licence, how to load.

    Where the data that it was trained on cannot be read any more, it says so in place of scores.
    `served` says that it is for another engine.
    """
    source, target = loaded.source_vocabulary, loaded.target_vocabulary
    size = sum(parameter.numel() for parameter in loaded.model.parameters())
    case = "capitals kept" if not target.lower else "all in lower case, but for the first letter"
    assumed = " (assumed)" if loaded.info.get("languages_are") == "assumed" else ""
    return f"""\
# {" → ".join(loaded.languages)}{assumed}

A translator: {type(loaded.model).__name__}, {size:,} parameters, {len(source)} and {len(target)}
tokens, {case}; trained for {loaded.info["step"]} updates.

## Data

{_data(loaded)}

## Scores

{_scores(loaded)}

## Licence

(Say here under which licence you give it away, and whether your data allow it.)

## How to use it

{LIBRARY}

{(SERVED if served else OURS).format(folder=folder.name)}"""


def _data(loaded: LoadedModel) -> str:
    if "settings" not in loaded.info:
        return "Not known: it was not trained by `python -m transformer_lib train`."
    names = ", ".join(Path(name).name for name in stored_settings(loaded).corpus)
    data = loaded.info.get("data")
    return f"{names}: {data['pairs']} pairs, SHA-256 {data['sha256']}." if data else f"{names}."


def _scores(loaded: LoadedModel) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = score_run(loaded)
    except (OSError, ValueError) as error:
        return f"Not measured when this was written: {error}."
    scores = result["held_out"]
    return (
        f"On the {scores['pairs']} held-out pairs of {result['corpus']}, greedy:\n\n"
        f"- BLEU {scores['bleu']:.1f} ({scores['signature']})\n"
        f"- chrF {scores['chrf']:.1f} ({scores['chrf_signature']})\n"
        f"- {100 * scores['exact_match']:.1f} of 100 right word for word"
    )
