"""The torch side: CNM-BERT, its tokenizer, and how to make one from a BERT.

Importing it registers `cnm_bert` with transformers' Auto classes.
"""

from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoModelForPreTraining

from .config import CNMBertConfig
from .model import CNMBertForMaskedLM, CNMBertModel
from .pretraining import CNMBertForPreTraining
from .tokenizer import extend_tokenizer
from .wrap import load_or_wrap, wrap_bert

AutoConfig.register(CNMBertConfig.model_type, CNMBertConfig, exist_ok=True)
AutoModel.register(CNMBertConfig, CNMBertModel, exist_ok=True)
AutoModelForMaskedLM.register(CNMBertConfig, CNMBertForMaskedLM, exist_ok=True)
AutoModelForPreTraining.register(CNMBertConfig, CNMBertForPreTraining, exist_ok=True)

__all__ = [
    "CNMBertConfig",
    "CNMBertForMaskedLM",
    "CNMBertForPreTraining",
    "CNMBertModel",
    "extend_tokenizer",
    "load_or_wrap",
    "wrap_bert",
]
