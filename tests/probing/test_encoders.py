"""Variants of an encoder that differ in the structure side."""

import json

import pytest
import torch

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import StructureTable, build_table
from spacy_cnm.modeling import CNMBertForPreTraining, CNMBertModel, load_or_wrap
from spacy_cnm.probing.encoders import Variant, load_encoder, save_variant, with_structure
