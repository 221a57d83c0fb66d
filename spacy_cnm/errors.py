"""Every message that the package raises or warns with: a code, the offending value, the remedy.

One section a side (E0xx ids, E1xx modeling, E2xx pipeline, E3xx corpora, E4xx cli and workflow;
W... for warnings). Raise `CNMError(Errors.E001.format(...))`, warn with `CNMWarning`.
"""


class CNMError(ValueError):
    """An error of this package, with a message for the person who has to mend it."""


class CNMWarning(UserWarning):
    """A warning of this package: nothing is lost, but something deserves a look."""


class Errors:
    """Message templates, filled with `str.format`."""

    # --- ids ---------------------------------------------------------------------------------
    # --- modeling ----------------------------------------------------------------------------
    E101 = (
        "The tokenizer of {name!r} is a slow one ({kind}), which cannot tell where its pieces stand "
        "in the text. Load it with use_fast=True (in a config: tokenizer_config = "
        '{{"use_fast": true}}).'
    )
    E102 = (
        "The tokenizer of {name!r} is a {kind} tokenizer; only WordPiece tokenizers (BERT's) can be "
        "extended. Choose a Chinese BERT such as bert-base-chinese."
    )
    E103 = (
        "The token {token!r} has id {index}, but the model's embedding has only {size} rows. The "
        "tokenizer and the model do not belong together; resize the model's embeddings first."
    )
    E104 = (
        "{source!r} is neither a folder nor a model name. Give an existing folder with config.json "
        "and model.safetensors, or a hub name such as bert-base-chinese."
    )
    E105 = "The checkpoint {source!r} does not fit its own configuration: {reason}"
    E106 = (
        "Cannot load a model from {source!r}: {reason}\nA folder needs config.json, "
        "model.safetensors and a tokenizer. Weights in another format have to be converted once, "
        "with transformers: AutoModel.from_pretrained(NAME).save_pretrained(FOLDER). A hub name "
        "needs a network or a filled cache."
    )
    E107 = (
        "Keys {kind} in the weights of {source!r}: {keys}. It was made by another version, cut off "
        "or edited; make it again with 'spacy-cnm wrap' or by training."
    )
    E108 = (
        "The weight {key!r} in {source!r} has shape {shape}, but the configuration asks for "
        "{expected}. The weights and the configuration do not belong together."
    )
    E109 = (
        "The table {key!r} in {source!r} has entries outside of 0..{limit} (exclusive). The "
        "checkpoint is damaged; make it again with 'spacy-cnm wrap' or by training."
    )
    E110 = (
        "{source!r} is a model of type {kind!r}; only BERT models (model_type 'bert') can be "
        "wrapped, and only 'cnm_bert' checkpoints loaded."
    )
    # --- pipeline ----------------------------------------------------------------------------
    # Word merger and its scorers: E230..E249.
    E230 = (
        "{name}: pos_map gives the tag {tag!r} the value {pos!r}, which is not a Universal POS tag. "
        "Use one of: {upos}."
    )
    E231 = (
        "Cannot compare words: the predicted and the reference document differ in their text from "
        "character {offset} on (white space aside): {predicted!r} against {reference!r}. Make the "
        "predicted document from the reference's text."
    )
    # --- corpora -----------------------------------------------------------------------------
    # --- cli and workflow --------------------------------------------------------------------


class Warnings:
    """Warning templates, filled with `str.format`."""

    W230 = (
        "doc._.trf_data is aligned to {aligned} tokens but the document has {tokens}: it is left as "
        "it is. Another component has joined or split tokens; put the word merger before it."
    )
