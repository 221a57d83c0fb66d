"""How many characters an encoder names by their structure alone.

    python benchmarks/known_by_structure.py models/cnm-bert-mini models/bert-mini-matched

Each character of a few sentences that is in the base vocabulary becomes [UNK] in its turn and keeps
its structure, as a character outside the vocabulary has it. Named is one that the masked-LM head
has in the first place.
"""

from typing import Annotated

import torch
import typer

from spacy_cnm.modeling import CNMBertForMaskedLM, load_or_wrap

TEXTS = (
    "湖边的钟楼在战争中烧毁了",
    "記者昨天從鐵路部門獲悉",
    "春风又绿江南岸，明月何时照我还",
    "他购买了一台新的笔记本电脑",
)


def main(
    encoders: Annotated[list[str], typer.Argument(help="Encoders with a masked-LM head.")],
) -> None:
    """Print a line an encoder."""
    for encoder in encoders:
        model, tokenizer = load_or_wrap(encoder, cls=CNMBertForMaskedLM)
        right: list[bool] = []
        for text in TEXTS:
            ids = tokenizer(text, return_tensors="pt")["input_ids"]
            places = torch.arange(1, ids.shape[1] - 1)
            places = places[ids[0, places] < model.config.vocab_size]
            each = torch.arange(len(places))
            inputs = ids.repeat(len(places), 1)
            inputs[each, places] = tokenizer.unk_token_id
            rows = model.bert.structure_rows(ids).expand_as(inputs)
            with torch.no_grad():
                logits = model(input_ids=inputs, struct_idx=rows).logits
            right += (logits[each, places].argmax(-1) == ids[0, places]).tolist()
        typer.echo(f"{encoder}: {sum(right)} of {len(right)}, {sum(right) / len(right):.1%}")


if __name__ == "__main__":
    typer.run(main)
