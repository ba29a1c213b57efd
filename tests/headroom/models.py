"""Trains randomly initialised models for a few steps and writes the peaks of memory that PyTorch counts.

    python tests/headroom/models.py --out tests/headroom            all of them, as results.json and configs/*.json
    python tests/headroom/models.py --only gpt2-autocast            one of them, printed
    python tests/headroom/models.py --only gpt2-autocast --batch 8 --snapshot gpt2-8.pickle

Needs torch with a GPU (or `oomdoc rehearse -- python tests/headroom/models.py ...` without one), transformers and peft.
Only shapes matter for the peaks, so all weights are random and all data is noise. Every point is a process of its own:
a cache that an earlier run filled would change what is reserved.
"""

import argparse
import json
import os
import subprocess
import sys
import traceback

MIB = 1 << 20


def gpt2(**more):
    from transformers import GPT2Config

    return GPT2Config(architectures=["GPT2LMHeadModel"], **more)


def llama(**more):
    from transformers import LlamaConfig

    return LlamaConfig(architectures=["LlamaForCausalLM"], **more)


def qwen2(**more):
    from transformers import Qwen2Config

    return Qwen2Config(architectures=["Qwen2ForCausalLM"], **more)


def gemma(**more):
    from transformers import GemmaConfig

    return GemmaConfig(architectures=["GemmaForCausalLM"], **more)


def mistral(**more):
    from transformers import MistralConfig

    return MistralConfig(architectures=["MistralForCausalLM"], **more)


def neox(**more):
    from transformers import GPTNeoXConfig

    return GPTNeoXConfig(architectures=["GPTNeoXForCausalLM"], **more)


def opt(**more):
    from transformers import OPTConfig

    return OPTConfig(architectures=["OPTForCausalLM"], **more)


def bert(architecture, **more):
    from transformers import BertConfig

    return BertConfig(architectures=[architecture], **more)


def roberta(architecture, **more):
    from transformers import RobertaConfig

    return RobertaConfig(architectures=[architecture], **more)


def t5(**more):
    from transformers import T5Config

    return T5Config(architectures=["T5ForConditionalGeneration"], decoder_start_token_id=0, **more)


def vit(**more):
    from transformers import ViTConfig

    return ViTConfig(architectures=["ViTForImageClassification"], num_labels=1000, **more)


def resnet(**more):
    from transformers import ResNetConfig

    return ResNetConfig(architectures=["ResNetForImageClassification"], num_labels=1000, **more)


def convnext(**more):
    from transformers import ConvNextConfig

    return ConvNextConfig(architectures=["ConvNextForImageClassification"], num_labels=1000, **more)


def other(kind, architecture, **more):
    import transformers

    return getattr(transformers, kind)(architectures=[architecture], **more)


def qwen3(**more):
    return other("Qwen3Config", "Qwen3ForCausalLM", **more)


def phi3(**more):
    return other("Phi3Config", "Phi3ForCausalLM", **more)


def gemma2(**more):
    return other("Gemma2Config", "Gemma2ForCausalLM", **more)


def olmo2(**more):
    return other("Olmo2Config", "Olmo2ForCausalLM", **more)


def distilbert(**more):
    return other("DistilBertConfig", "DistilBertForSequenceClassification", **more)


def mt5(**more):
    return other("MT5Config", "MT5ForConditionalGeneration", decoder_start_token_id=0, **more)


MEDIUM = dict(n_layer=24, n_embd=1024, n_head=16)
TINYLLAMA = dict(hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32,
                 num_key_value_heads=4, vocab_size=32000, max_position_embeddings=2048)
LLAMA_1B = dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                num_key_value_heads=8, vocab_size=128256, head_dim=64, tie_word_embeddings=True)
LLAMA_8B = dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                num_key_value_heads=8, vocab_size=128256)
QWEN = dict(hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
            num_key_value_heads=2, vocab_size=151936, tie_word_embeddings=True)
GEMMA = dict(hidden_size=2048, intermediate_size=16384, num_hidden_layers=18, num_attention_heads=8,
             num_key_value_heads=1, head_dim=256, vocab_size=256000)
MISTRAL = dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
               num_key_value_heads=8, vocab_size=32768)
PYTHIA = dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16, vocab_size=50304)
LARGE = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
T5_BASE = dict(d_model=768, d_ff=3072, num_layers=12, num_decoder_layers=12, num_heads=12, d_kv=64)
FLAN_BASE = dict(d_model=768, d_ff=2048, num_layers=12, num_decoder_layers=12, num_heads=12, d_kv=64,
                 feed_forward_proj="gated-gelu", tie_word_embeddings=False)

GPT2_LARGE = dict(n_layer=36, n_embd=1280, n_head=20)
QWEN3 = dict(hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
             head_dim=128, vocab_size=151936, tie_word_embeddings=True)
PHI3 = dict(hidden_size=3072, intermediate_size=8192, num_hidden_layers=32, num_attention_heads=32, vocab_size=32064)
GEMMA2 = dict(hidden_size=2304, intermediate_size=9216, num_hidden_layers=26, num_attention_heads=8, num_key_value_heads=4,
              head_dim=256, vocab_size=256000)
OLMO2 = dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=16, vocab_size=100352)
VIT_LARGE = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096, image_size=384)
PYTHIA_1B = dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=8, vocab_size=50304)
OPT_1B = dict(hidden_size=2048, ffn_dim=8192, num_hidden_layers=24, num_attention_heads=32, word_embed_proj_dim=2048)
T5_LARGE = dict(d_model=1024, d_ff=4096, num_layers=24, num_decoder_layers=24, num_heads=16, d_kv=64)
LLAMA_3B = dict(hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24, num_key_value_heads=8,
                vocab_size=128256, head_dim=128, tie_word_embeddings=True)
QWEN3_4B = dict(hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32, num_key_value_heads=8,
                head_dim=128, vocab_size=151936, tie_word_embeddings=True)

# name: config, sizes of batches, and what `oomdoc headroom` is told beside the config.
CASES = {
    "gpt2-autocast": (lambda: gpt2(), [1, 2, 4, 8, 16, 32], dict(precision="bf16-mixed", seq=512)),
    "gpt2-fp32": (lambda: gpt2(), [1, 2, 4, 8, 16], dict(precision="fp32", seq=512)),
    "gpt2-checkpoint": (lambda: gpt2(), [2, 4, 8, 16, 32], dict(precision="bf16-mixed", seq=512, checkpointing=True)),
    "gpt2-eager-1024": (lambda: gpt2(), [1, 2, 4, 8], dict(precision="bf16-mixed", seq=1024, attention="eager")),
    "gpt2-eager-256": (lambda: gpt2(), [2, 4, 8, 16], dict(precision="bf16-mixed", seq=256, attention="eager")),
    "gpt2-medium-fp32": (lambda: gpt2(**MEDIUM), [1, 2, 4, 8], dict(precision="fp32", seq=256)),
    "gpt2-medium-bf16-fused": (lambda: gpt2(**MEDIUM), [2, 4, 8, 16],
                               dict(precision="bf16", seq=1024, optimizer="adamw-fused")),
    "pythia-410m-autocast": (lambda: neox(**PYTHIA), [1, 2, 4, 8], dict(precision="bf16-mixed", seq=1024)),
    "opt-125m-fp32": (lambda: opt(), [2, 4, 8, 16], dict(precision="fp32", seq=512)),
    "tinyllama-bf16": (lambda: llama(**TINYLLAMA), [1, 2, 4, 8], dict(precision="bf16", seq=1024)),
    "tinyllama-autocast-checkpoint": (lambda: llama(**TINYLLAMA), [1, 2, 4, 8],
                                      dict(precision="bf16-mixed", seq=1024, checkpointing=True)),
    "llama-1b-lora": (lambda: llama(**LLAMA_1B), [1, 2, 4, 8],
                      dict(precision="bf16", seq=1024, lora=16, targets="attention")),
    "llama-8b-lora-checkpoint": (lambda: llama(**LLAMA_8B), [1, 2, 4, 8],
                                 dict(precision="bf16", seq=2048, lora=16, targets="all", checkpointing=True)),
    "mistral-7b-lora": (lambda: mistral(**MISTRAL), [1, 2, 4], dict(precision="bf16", seq=1024, lora=8, targets="all")),
    "qwen2.5-0.5b-autocast": (lambda: qwen2(**QWEN), [1, 2, 4, 8], dict(precision="bf16-mixed", seq=512)),
    "qwen2.5-0.5b-fp32": (lambda: qwen2(**QWEN), [1, 2, 4], dict(precision="fp32", seq=512)),
    "gemma-2b-adafactor": (lambda: gemma(**GEMMA), [1, 2, 4], dict(precision="bf16", seq=512, optimizer="adafactor")),
    "bert-base-classify-fp32": (lambda: bert("BertForSequenceClassification"), [8, 16, 32, 64],
                                dict(precision="fp32", seq=128)),
    "bert-base-mlm-autocast": (lambda: bert("BertForMaskedLM"), [4, 8, 16, 32], dict(precision="bf16-mixed", seq=256)),
    "roberta-large-checkpoint": (lambda: roberta("RobertaForSequenceClassification", **LARGE), [8, 16, 32],
                                 dict(precision="bf16-mixed", seq=512, checkpointing=True)),
    "t5-small-fp32": (lambda: t5(), [2, 4, 8, 16], dict(precision="fp32", seq=512, target_seq=128)),
    "t5-base-autocast": (lambda: t5(**T5_BASE), [2, 4, 8, 16], dict(precision="bf16-mixed", seq=512, target_seq=128)),
    "flan-t5-base-bf16": (lambda: t5(**FLAN_BASE), [2, 4, 8, 16], dict(precision="bf16", seq=512, target_seq=512)),
    "vit-base-autocast": (lambda: vit(), [8, 16, 32, 64], dict(precision="bf16-mixed")),
    "vit-base-fp32-sgd": (lambda: vit(), [8, 16, 32, 64], dict(precision="fp32", optimizer="sgd-momentum")),
    "resnet50-fp32": (lambda: resnet(), [8, 16, 32, 64], dict(precision="fp32", optimizer="sgd-momentum", image=224)),
    "resnet50-autocast": (lambda: resnet(), [16, 32, 64, 128],
                          dict(precision="bf16-mixed", optimizer="sgd-momentum", image=224)),
    "convnext-tiny-autocast": (lambda: convnext(), [8, 16, 32, 64], dict(precision="bf16-mixed", image=224)),
    "convnext-tiny-fp32": (lambda: convnext(), [8, 16, 32], dict(precision="fp32", image=224)),
    "gpt2-large-bf16-checkpoint": (lambda: gpt2(**GPT2_LARGE), [1, 2, 4, 8],
                                   dict(precision="bf16", seq=1024, checkpointing=True)),
    "qwen3-0.6b-autocast": (lambda: qwen3(**QWEN3), [1, 2, 4], dict(precision="bf16-mixed", seq=512)),
    "phi3-mini-bf16-sgd": (lambda: phi3(**PHI3), [1, 2, 4], dict(precision="bf16", seq=512, optimizer="sgd-momentum")),
    "gemma2-2b-lora": (lambda: gemma2(**GEMMA2), [1, 2, 4],
                       dict(precision="bf16", seq=512, lora=8, targets="all", attention="eager")),
    "olmo2-1b-bf16": (lambda: olmo2(**OLMO2), [1, 2, 4], dict(precision="bf16", seq=1024)),
    "distilbert-autocast": (lambda: distilbert(), [16, 32, 64], dict(precision="bf16-mixed", seq=256)),
    "roberta-base-mlm-bf16": (lambda: roberta("RobertaForMaskedLM", vocab_size=50265, max_position_embeddings=514, type_vocab_size=1),
                              [8, 16, 32], dict(precision="bf16", seq=256)),
    "mt5-small-autocast": (lambda: mt5(), [2, 4, 8], dict(precision="bf16-mixed", seq=256, target_seq=64)),
    "vit-large-checkpoint": (lambda: vit(**VIT_LARGE), [4, 8, 16], dict(precision="bf16-mixed", checkpointing=True)),
    "resnet18-autocast": (lambda: resnet(layer_type="basic", hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2]),
                          [32, 64, 128], dict(precision="bf16-mixed", image=224)),
    "resnet101-fp32": (lambda: resnet(depths=[3, 4, 23, 3]), [8, 16, 32], dict(precision="fp32", optimizer="sgd-momentum", image=256)),
    "convnext-base-autocast": (lambda: convnext(hidden_sizes=[128, 256, 512, 1024], depths=[3, 3, 27, 3]), [8, 16, 32],
                               dict(precision="bf16-mixed", image=224)),
}

# Measured after the formulas were finished, so that they could not have been fitted to these.
HELD_OUT = {
    "pythia-1b-bf16-checkpoint": (lambda: neox(**PYTHIA_1B), [1, 2, 4, 8],
                                  dict(precision="bf16", seq=2048, checkpointing=True)),
    "opt-1.3b-autocast": (lambda: opt(**OPT_1B), [1, 2, 4], dict(precision="bf16-mixed", seq=512)),
    "bert-large-fp32-sgd": (lambda: bert("BertForSequenceClassification", **LARGE), [8, 16, 32],
                            dict(precision="fp32", seq=256, optimizer="sgd-momentum")),
    "t5-large-bf16-checkpoint": (lambda: t5(**T5_LARGE), [2, 4, 8], dict(precision="bf16", seq=512, target_seq=128, checkpointing=True)),
    "llama-3b-lora-autocast": (lambda: llama(**LLAMA_3B), [1, 2, 4],
                               dict(precision="bf16-mixed", seq=1024, lora=32, targets="all")),
    "gpt2-medium-eager-fp32": (lambda: gpt2(**MEDIUM), [1, 2, 4], dict(precision="fp32", seq=768, attention="eager")),
    "qwen3-4b-lora-checkpoint": (lambda: qwen3(**QWEN3_4B), [1, 2, 4],
                                 dict(precision="bf16", seq=2048, lora=16, targets="attention", checkpointing=True)),
    "resnet34-fp32-adam": (lambda: resnet(layer_type="basic", hidden_sizes=[64, 128, 256, 512], depths=[3, 4, 6, 3]),
                           [16, 32, 64], dict(precision="fp32", image=288)),
}

SMOLLM2_360M = dict(hidden_size=960, intermediate_size=2560, num_hidden_layers=32, num_attention_heads=15,
                    num_key_value_heads=5, vocab_size=49152, tie_word_embeddings=True)
QWEN25_1_5B = dict(hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12,
                   num_key_value_heads=2, vocab_size=151936, tie_word_embeddings=True)
QWEN25_7B = dict(hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28,
                 num_key_value_heads=4, vocab_size=152064)
DEEPSEEK_1_3B = dict(hidden_size=2048, intermediate_size=5504, num_hidden_layers=24, num_attention_heads=16,
                     num_key_value_heads=16, vocab_size=32256)
QWEN3_1_7B = dict(hidden_size=2048, intermediate_size=6144, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
                  head_dim=128, vocab_size=151936, tie_word_embeddings=True)
PYTHIA_160M = dict(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, vocab_size=50304)
PYTHIA_1_4B = dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=24, num_attention_heads=16, vocab_size=50304)
OPT_2_7B = dict(hidden_size=2560, ffn_dim=10240, num_hidden_layers=32, num_attention_heads=32, word_embed_proj_dim=2560)
VIT_SMALL = dict(hidden_size=384, num_hidden_layers=12, num_attention_heads=6, intermediate_size=1536)
NLLB = dict(d_model=512, d_ff=2048, num_layers=8, num_decoder_layers=8, num_heads=8, d_kv=64, vocab_size=64000)
XLMR_LARGE = dict(**LARGE, vocab_size=250002, max_position_embeddings=514, type_vocab_size=1)

# Measured after the formulas were finished too, with another release of PyTorch and of transformers, and with the real
# bitsandbytes where weights are quantised.
FRESH = {
    "smollm2-360m-bf16": (lambda: llama(**SMOLLM2_360M), [1, 2, 4, 8, 16], dict(precision="bf16", seq=1024)),
    "smollm2-360m-sgd": (lambda: llama(**SMOLLM2_360M), [2, 4, 8], dict(precision="fp32", seq=512, optimizer="sgd-momentum")),
    "deepseek-1.3b-checkpoint": (lambda: llama(**DEEPSEEK_1_3B), [1, 2, 4, 8, 16],
                                 dict(precision="bf16-mixed", seq=2048, checkpointing=True)),
    "llama-1b-4096-checkpoint": (lambda: llama(**LLAMA_1B), [1, 2, 4, 8],
                                 dict(precision="bf16", seq=4096, checkpointing=True)),
    "qwen2.5-1.5b-bf16": (lambda: qwen2(**QWEN25_1_5B), [1, 2, 4, 8], dict(precision="bf16", seq=768)),
    "qwen2.5-7b-lora-checkpoint": (lambda: qwen2(**QWEN25_7B), [1, 2, 4, 8],
                                   dict(precision="bf16", seq=1536, lora=32, targets="all", checkpointing=True)),
    "qwen3-1.7b-lora": (lambda: qwen3(**QWEN3_1_7B), [1, 2, 4, 8], dict(precision="bf16", seq=512, lora=8, targets="all")),
    "pythia-160m-fp32": (lambda: neox(**PYTHIA_160M), [2, 4, 8, 16, 32], dict(precision="fp32", seq=384)),
    "pythia-1.4b-bf16": (lambda: neox(**PYTHIA_1_4B), [1, 2, 4, 8], dict(precision="bf16", seq=1536)),
    "opt-2.7b-bf16-adafactor": (lambda: opt(**OPT_2_7B), [1, 2, 4], dict(precision="bf16", seq=1024, optimizer="adafactor")),
    "gpt2-large-fp32": (lambda: gpt2(**GPT2_LARGE), [1, 2, 4], dict(precision="fp32", seq=384)),
    "gpt2-768-autocast": (lambda: gpt2(), [2, 4, 8, 16, 32], dict(precision="bf16-mixed", seq=768)),
    "mistral-7b-lora-checkpoint": (lambda: mistral(**MISTRAL), [1, 2, 4, 8],
                                   dict(precision="bf16", seq=4096, lora=64, targets="all", checkpointing=True)),
    "phi3-mini-lora": (lambda: phi3(**PHI3), [1, 2, 4], dict(precision="bf16", seq=768, lora=16, targets="all")),
    "olmo2-1b-autocast": (lambda: olmo2(**OLMO2), [1, 2, 4], dict(precision="bf16-mixed", seq=768)),
    "gemma-2b-lora": (lambda: gemma(**GEMMA), [1, 2, 4, 8], dict(precision="bf16", seq=768, lora=16, targets="attention")),
    "bert-large-mlm-autocast": (lambda: bert("BertForMaskedLM", **LARGE), [4, 8, 16, 32], dict(precision="bf16-mixed", seq=384)),
    "bert-base-512-fp32": (lambda: bert("BertForSequenceClassification"), [4, 8, 16, 32], dict(precision="fp32", seq=512)),
    "xlmr-large-autocast": (lambda: roberta("RobertaForSequenceClassification", **XLMR_LARGE), [4, 8, 16, 32],
                            dict(precision="bf16-mixed", seq=192)),
    "distilbert-fp32": (lambda: distilbert(), [8, 16, 32, 64], dict(precision="fp32", seq=384)),
    "t5-8-layers-fp32": (lambda: t5(**NLLB), [4, 8, 16, 32], dict(precision="fp32", seq=384, target_seq=96)),
    "vit-small-autocast": (lambda: vit(**VIT_SMALL), [16, 32, 64, 128], dict(precision="bf16-mixed")),
    "vit-large-fp32": (lambda: vit(**{**VIT_LARGE, "image_size": 224}), [4, 8, 16, 32], dict(precision="fp32")),
    "resnet152-fp32": (lambda: resnet(depths=[3, 8, 36, 3]), [8, 16, 32, 64],
                       dict(precision="fp32", optimizer="sgd-momentum", image=192)),
    "convnext-small-autocast": (lambda: convnext(depths=[3, 3, 27, 3]), [8, 16, 32, 64], dict(precision="bf16-mixed", image=224)),
    "llama-8b-qlora": (lambda: llama(**LLAMA_8B), [1, 2, 4, 8],
                       dict(precision="bf16", seq=1024, lora=16, targets="all", checkpointing=True, quantised=4, prepared=True)),
    "qwen2.5-7b-qlora": (lambda: qwen2(**QWEN25_7B), [1, 2, 4],
                         dict(precision="bf16", seq=2048, lora=64, targets="all", checkpointing=True, quantised=4, prepared=True)),
    "mistral-7b-qlora-unprepared": (lambda: mistral(**MISTRAL), [1, 2, 4],
                                    dict(precision="bf16", seq=2048, lora=16, targets="attention", checkpointing=True,
                                         quantised=4, prepared=False)),
}
ALL = {**CASES, **HELD_OUT, **FRESH}


def quantise(model):
    """Replaces the linear layers inside the blocks by those of bitsandbytes, as its loader does."""
    import bitsandbytes
    import torch

    for name, layer in list(model.named_modules()):
        if not isinstance(layer, torch.nn.Linear) or name == "lm_head":
            continue
        new = bitsandbytes.nn.Linear4bit(layer.in_features, layer.out_features, bias=layer.bias is not None,
                                         compute_dtype=torch.bfloat16, quant_type="nf4", device="cpu")
        new.weight = bitsandbytes.nn.Params4bit(layer.weight.data, requires_grad=False, quant_type="nf4", module=new)
        if layer.bias is not None:
            new.bias = layer.bias
        parent, _, leaf = name.rpartition(".")
        layer.weight = None
        setattr(model.get_submodule(parent), leaf, new.to("cuda"))
    model.is_loaded_in_4bit = True
    torch.cuda.empty_cache()


def build(config, how):
    import torch
    import transformers

    # Every row is one sequence. transformers looks at the values to find that out, and with values that are not really
    # there (a rehearsal) it would build a mask and with it another attention kernel.
    if hasattr(transformers, "masking_utils"):
        transformers.masking_utils.find_packed_sequence_indices = lambda position_ids: None
    attention = how.get("attention")
    if attention:
        config._attn_implementation = attention
    kind = getattr(transformers, config.architectures[0])
    # Made in its final precision: a 32-bit model converted afterwards would leave its segments reserved.
    torch.set_default_dtype(torch.bfloat16 if how["precision"] == "bf16" else torch.float32)
    with torch.device("cuda"):
        model = kind(config)
    torch.set_default_dtype(torch.float32)
    if how.get("quantised"):
        quantise(model)
    if how.get("checkpointing"):
        model.gradient_checkpointing_enable()
    if how.get("lora"):
        import peft

        if how.get("prepared"):
            model = peft.prepare_model_for_kbit_training(model)

        attention_only = ["q_proj", "k_proj", "v_proj", "o_proj"]
        targets = attention_only if how["targets"] == "attention" else "all-linear"
        model = peft.get_peft_model(model, peft.LoraConfig(r=how["lora"], target_modules=targets, task_type="CAUSAL_LM"))
        if how.get("checkpointing"):
            model.enable_input_require_grads()
    model.train()
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False
    return model


def optimizer(model, name):
    import torch

    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if name == "sgd-momentum":
        return torch.optim.SGD(weights, lr=0.1, momentum=0.9)
    if name == "adafactor":
        return torch.optim.Adafactor(weights)
    return torch.optim.AdamW(weights, lr=1e-4, fused=name == "adamw-fused" or None)


def data(config, how, batch):
    import torch

    if hasattr(config, "num_channels"):
        side = how.get("image") or config.image_size
        pixels = torch.randn(batch, config.num_channels, side, side, device="cuda")
        return dict(pixel_values=pixels, labels=torch.randint(0, config.num_labels, (batch,), device="cuda"))
    tokens = torch.randint(0, config.vocab_size, (batch, how["seq"]), device="cuda")
    if config.architectures[0].endswith("SequenceClassification"):
        return dict(input_ids=tokens, labels=torch.randint(0, config.num_labels, (batch,), device="cuda"))
    if how.get("target_seq"):
        target = torch.randint(0, config.vocab_size, (batch, how["target_seq"]), device="cuda")
        return dict(input_ids=tokens, labels=target)
    return dict(input_ids=tokens, labels=tokens)


def train(name, batch, steps=3, snapshot=None):
    import torch

    make, _, how = ALL[name]
    if snapshot:
        torch.cuda.memory._record_memory_history(max_entries=100000)
    config = make()
    model = build(config, how)
    step = optimizer(model, how.get("optimizer", "adamw"))
    phases = {}
    for _ in range(steps):
        inputs = data(config, how, batch)
        torch.cuda.reset_peak_memory_stats()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=how["precision"] == "bf16-mixed"):
            loss = model(**inputs).loss
        phases["forward"] = torch.cuda.max_memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        loss.backward()
        phases["backward"] = torch.cuda.max_memory_allocated()
        reserved = torch.cuda.max_memory_reserved()
        torch.cuda.reset_peak_memory_stats()
        step.step()
        step.zero_grad(set_to_none=True)
        phases["optimizer"] = torch.cuda.max_memory_allocated()
    reserved = max(reserved, torch.cuda.max_memory_reserved())
    if snapshot:
        torch.cuda.memory._dump_snapshot(snapshot)
    return dict(batch=batch, allocated_bytes=max(phases.values()), reserved_bytes=reserved,
                phase=max(phases, key=phases.get), phases=phases,
                parameters=sum(weight.numel() for weight in model.parameters()),
                trainable=sum(weight.numel() for weight in model.parameters() if weight.requires_grad))


def point(name, batch, snapshot=None):
    """One point in a process of its own; `None` where it ran out of memory."""
    if ALL[name][2].get("lora"):
        # peft imports what starts CUDA, which a forked process could not start again.
        command = [sys.executable, __file__, "--point", name, str(batch)] + (["--snapshot", snapshot] if snapshot else [])
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            text = json.dumps(train(name, batch, snapshot=snapshot))
            os.write(write, text.encode())
            os._exit(0)
        except Exception:
            traceback.print_exc()
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else None


def main():
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("--out", help="folder for results.json and configs/")
    ask.add_argument("--held-out", action="store_true", help="those of HELD_OUT, into held-out.json")
    ask.add_argument("--fresh", action="store_true", help="those of FRESH, into fresh.json")
    ask.add_argument("--only", action="append", default=[], choices=[*ALL])
    ask.add_argument("--batch", type=int, action="append", default=[])
    ask.add_argument("--snapshot", help="file for a memory snapshot; with one model and one batch")
    ask.add_argument("--point", nargs=2, metavar=("MODEL", "BATCH"), help=argparse.SUPPRESS)
    a = ask.parse_args()
    if a.point:
        print(json.dumps(train(a.point[0], int(a.point[1]), snapshot=a.snapshot)))
        return
    import torch
    import transformers

    results = []
    for name in a.only or (HELD_OUT if a.held_out else FRESH if a.fresh else CASES):
        make, batches, how = ALL[name]
        config = make()
        if not how.get("lora"):
            # Imported before the processes fork, not in each of them.
            getattr(transformers, config.architectures[0])
        points = [point(name, batch, a.snapshot) for batch in a.batch or batches]
        points = [one for one in points if one]
        if not points:
            print(f"{name}: nothing measured", file=sys.stderr)
            continue
        sizes = {key: points[0][key] for key in ("parameters", "trainable")}
        for one in points:
            one.pop("parameters"), one.pop("trainable")
        results.append(dict(name=name, how=how, **sizes, points=points))
        shown = ", ".join(f"{p['batch']}: {p['allocated_bytes'] / MIB:.1f}/{p['reserved_bytes'] / MIB:.0f} {p['phase'][0]}" for p in points)
        print(f"{name}: {sizes['parameters'] / 1e6:.1f} M; {shown}", file=sys.stderr, flush=True)
        if a.out:
            folder = os.path.join(a.out, "configs")
            os.makedirs(folder, exist_ok=True)
            described = {key: value for key, value in config.to_dict().items() if value is not None}
            for noise in ("id2label", "label2id", "_name_or_path", "transformers_version"):
                described.pop(noise, None)
            if hasattr(config, "num_channels"):
                described["num_labels"] = config.num_labels
            with open(os.path.join(folder, f"{name}.json"), "w") as out:
                json.dump(described, out, indent=1, sort_keys=True)
                out.write("\n")
    text = json.dumps(dict(torch=torch.__version__.split("+")[0], transformers=transformers.__version__, cases=results), indent=1)
    if a.out:
        with open(os.path.join(a.out, "held-out.json" if a.held_out else "fresh.json" if a.fresh else "results.json"), "w") as out:
            out.write(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
