"""Rehearses models from their configurations, and writes what came out beside the published number of parameters.

    python tests/rehearse/scripts/models.py run RESULTS.jsonl --oomdoc target/release/oomdoc --python /path/to/python
    python tests/rehearse/scripts/models.py table RESULTS.jsonl > tests/rehearse/models.md

The configurations hold what was published where it differs from the library's defaults. `run` goes on where it was
interrupted; `table` takes the results of one build and of all models only. PYTHON has PyTorch, transformers, PEFT,
bitsandbytes, timm and diffusers, or finds them by the PYTHONPATH that is given.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from programs import build_of, lines

HEAD = """# Models from their configurations

`oomdoc rehearse --model`, addresses upwards, PyTorch {torch}, {libraries}. Made by `scripts/models.py` from one pass with one
build; the configurations stand there. MiB allocated / reserved at the peak. "= published" where the number of parameters is
published and comes out to the parameter.

{total} rehearsals, {fits} fit, {over} do not, {unknown} not to be known, {refused} refused; {same} of {known} published numbers
of parameters met.

| model | options | GPU | parameters | trained | verdict | MiB | s |
|---|---|---|---:|---:|---|---:|---:|"""
A100, RTX, H200 = "A100 80GB", "RTX 3090", "H200 141GB"


def hub(kind, name, **fields):
    return dict(fields, model_type=kind, architectures=[name])


def parts(name, **fields):
    return dict(fields, _class_name=name)


def timm(name, **fields):
    return dict(fields, architecture=name)


LLAMA = dict(vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32)
SDXL = parts(
    "UNet2DConditionModel", sample_size=128, cross_attention_dim=2048, block_out_channels=[320, 640, 1280],
    attention_head_dim=[5, 10, 20], transformer_layers_per_block=[1, 2, 10], use_linear_projection=True,
    down_block_types=["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    up_block_types=["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
    addition_embed_type="text_time", addition_time_embed_dim=256, projection_class_embeddings_input_dim=2816,
)
SD15 = parts("UNet2DConditionModel", sample_size=64, cross_attention_dim=768)
VAE = parts(
    "AutoencoderKL", sample_size=512, block_out_channels=[128, 256, 512, 512], layers_per_block=2,
    down_block_types=["DownEncoderBlock2D"] * 4, up_block_types=["UpDecoderBlock2D"] * 4,
)
DDPM = parts(
    "UNet2DModel", sample_size=32, block_out_channels=[128, 256, 256, 256], attention_head_dim=None, freq_shift=1,
    flip_sin_to_cos=False, downsample_padding=0, norm_eps=1e-6,
    down_block_types=["DownBlock2D", "AttnDownBlock2D", "DownBlock2D", "DownBlock2D"],
    up_block_types=["UpBlock2D", "UpBlock2D", "AttnUpBlock2D", "UpBlock2D"],
)
SD3 = parts(
    "SD3Transformer2DModel", sample_size=128, num_layers=24, num_attention_heads=24, caption_projection_dim=1536,
    pos_embed_max_size=192,
)
FLUX = parts("FluxTransformer2DModel", guidance_embeds=True)
VIT = timm("vit_small_patch16_224", num_classes=1000)
BERT = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
# What the model is called here, its configuration, how it is trained or asked, on which GPU, and its published parameters.
MODELS = [
    ("Llama 2 7B", hub("llama", "LlamaForCausalLM", **LLAMA),
     "--precision bf16 --seq 2048 --batch 4 --lora 16 --checkpointing", A100, 6738415616),
    ("Llama 3 70B", hub("llama", "LlamaForCausalLM", vocab_size=128256, hidden_size=8192, intermediate_size=28672,
                        num_hidden_layers=80, num_attention_heads=64, num_key_value_heads=8),
     "--precision bf16 --seq 512 --inference", H200, 70553706496),
    ("Qwen2.5 7B", hub("qwen2", "Qwen2ForCausalLM", vocab_size=152064, hidden_size=3584, intermediate_size=18944,
                       num_hidden_layers=28, num_attention_heads=28, num_key_value_heads=4),
     "--precision bf16 --seq 2048 --batch 2 --checkpointing --optimizer adamw8bit", A100, 7615616512),
    ("Mistral 7B", hub("mistral", "MistralForCausalLM"),
     "--precision bf16 --seq 2048 --batch 1 --lora 16 --quantised 4 --checkpointing", A100, 7241732096),
    ("Gemma 2 9B", hub("gemma2", "Gemma2ForCausalLM", hidden_size=3584, intermediate_size=14336, num_hidden_layers=42,
                       num_attention_heads=16, num_key_value_heads=8),
     "--precision bf16 --seq 1024 --batch 1 --checkpointing --optimizer sgd", A100, 9241705984),
    ("Mixtral 8x7B", hub("mixtral", "MixtralForCausalLM"), "--precision bf16 --seq 512 --batch 1 --inference", A100, 46702792704),
    ("GPT-2", hub("gpt2", "GPT2LMHeadModel"), "--precision mixed --seq 1024 --batch 4", RTX, 124439808),
    ("GPT-2 XL", hub("gpt2", "GPT2LMHeadModel", n_embd=1600, n_layer=48, n_head=25),
     "--precision mixed --seq 1024 --batch 1", A100, 1557611200),
    ("BERT base", hub("bert", "BertForMaskedLM"), "--seq 512 --batch 8", RTX, 109514298),
    ("BERT large, classes", hub("bert", "BertForSequenceClassification", **BERT),
     "--precision mixed --seq 384 --batch 8", RTX, 335143938),
    ("RoBERTa base", hub("roberta", "RobertaForMaskedLM", vocab_size=50265, max_position_embeddings=514, type_vocab_size=1),
     "--seq 512 --batch 8", RTX, 124697433),
    ("DistilBERT", hub("distilbert", "DistilBertForMaskedLM"), "--seq 512 --batch 8", RTX, 66985530),
    ("ALBERT", hub("albert", "AlbertForMaskedLM", embedding_size=128, hidden_size=768, num_attention_heads=12,
                   intermediate_size=3072), "--seq 512 --batch 8", RTX, None),
    ("ELECTRA", hub("electra", "ElectraForSequenceClassification"), "--seq 512 --batch 8", RTX, None),
    ("DeBERTa v3 base", hub("deberta-v2", "DebertaV2ForMaskedLM", hidden_size=768, num_hidden_layers=12,
                            num_attention_heads=12, intermediate_size=3072, relative_attention=True, position_buckets=256,
                            norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"], type_vocab_size=0),
     "--seq 512 --batch 4", RTX, None),
    ("T5 base", hub("t5", "T5ForConditionalGeneration", d_model=768, d_ff=3072, num_layers=12, num_heads=12),
     "--seq 512 --target-seq 128 --batch 4", RTX, 222903552),
    ("FLAN-T5 XL", hub("t5", "T5ForConditionalGeneration", d_model=2048, d_ff=5120, num_layers=24, num_heads=32,
                       feed_forward_proj="gated-gelu", tie_word_embeddings=False),
     "--precision bf16 --seq 512 --target-seq 128 --batch 2", A100, 2849757184),
    ("BART large", hub("bart", "BartForConditionalGeneration"), "--seq 512 --target-seq 128 --batch 2", RTX, None),
    ("Whisper small", hub("whisper", "WhisperForConditionalGeneration", d_model=768, encoder_layers=12, decoder_layers=12,
                          encoder_attention_heads=12, decoder_attention_heads=12, encoder_ffn_dim=3072,
                          decoder_ffn_dim=3072),
     "--precision mixed --target-seq 128 --batch 4", RTX, 241734912),
    ("OPT 1.3B", hub("opt", "OPTForCausalLM", hidden_size=2048, num_hidden_layers=24, num_attention_heads=32, ffn_dim=8192,
                     word_embed_proj_dim=2048), "--precision mixed --seq 1024 --batch 1", A100, 1315758080),
    ("BLOOM 560M", hub("bloom", "BloomForCausalLM", hidden_size=1024, n_layer=24, n_head=16, vocab_size=250880),
     "--precision bf16 --seq 512 --batch 1", RTX, 559214592),
    ("Pythia 1B", hub("gpt_neox", "GPTNeoXForCausalLM", hidden_size=2048, num_hidden_layers=16, num_attention_heads=8,
                      intermediate_size=8192, vocab_size=50304), "--precision bf16 --seq 512 --batch 1", RTX, 1011781632),
    ("GPT-J 6B", hub("gptj", "GPTJForCausalLM"), "--precision bf16 --seq 512 --batch 1 --checkpointing", A100, 6050882784),
    ("Falcon 7B", hub("falcon", "FalconForCausalLM", hidden_size=4544, num_hidden_layers=32, num_attention_heads=71,
                      vocab_size=65024), "--precision bf16 --seq 512 --batch 1 --checkpointing", A100, 6921720704),
    ("Phi-2", hub("phi", "PhiForCausalLM", hidden_size=2560, num_hidden_layers=32, num_attention_heads=32,
                  intermediate_size=10240, partial_rotary_factor=0.4), "--precision bf16 --seq 512 --batch 1", A100, 2779683840),
    ("Phi-3 mini", hub("phi3", "Phi3ForCausalLM"), "--precision bf16 --seq 512 --batch 1", A100, 3821079552),
    ("Qwen1.5 MoE A2.7B", hub("qwen2_moe", "Qwen2MoeForCausalLM"),
     "--precision bf16 --seq 512 --batch 1 --inference", A100, 14315784192),
    ("OLMo 1B", hub("olmo", "OlmoForCausalLM", hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
                    num_attention_heads=16, tie_word_embeddings=True), "--precision bf16 --seq 512 --batch 1", RTX, None),
    ("StableLM 3B", hub("stablelm", "StableLmForCausalLM"), "--precision bf16 --seq 512 --batch 1", A100, 2795443200),
    ("Mamba 130M", hub("mamba", "MambaForCausalLM", num_hidden_layers=24, vocab_size=50280), "--seq 64 --batch 1", RTX, 129135360),
    ("XLM-RoBERTa large", hub("xlm-roberta", "XLMRobertaForTokenClassification", vocab_size=250002,
                              max_position_embeddings=514, type_vocab_size=1, **BERT), "--seq 256 --batch 2", RTX, None),
    ("wav2vec 2.0 base", hub("wav2vec2", "Wav2Vec2ForSequenceClassification"), "--batch 2 --seq 80000", RTX, None),
    ("ViT base", hub("vit", "ViTForImageClassification", num_labels=1000), "--batch 32 --precision mixed", RTX, 86567656),
    ("DeiT base", hub("deit", "DeiTForImageClassification"), "--batch 32", RTX, None),
    ("Swin tiny", hub("swin", "SwinForImageClassification"), "--batch 16", RTX, None),
    ("ConvNeXt tiny", hub("convnext", "ConvNextForImageClassification"), "--batch 16", RTX, None),
    ("BEiT base", hub("beit", "BeitForImageClassification"), "--batch 16", RTX, None),
    ("CLIP ViT-B/32", hub("clip", "CLIPModel"), "--batch 32", RTX, 151277313),
    ("SigLIP base", hub("siglip", "SiglipModel", text_config={}, vision_config={}), "--batch 16", A100, 203155970),
    ("ResNet-50", hub("resnet", "ResNetForImageClassification", num_labels=1000), "--batch 32", A100, 25557032),
    ("EfficientNet", hub("efficientnet", "EfficientNetForImageClassification"), "--batch 8", A100, None),
    ("DINOv2 base", hub("dinov2", "Dinov2ForImageClassification", image_size=518, patch_size=14),
     "--batch 16 --precision mixed", A100, None),
    ("SegFormer B0", hub("segformer", "SegformerForSemanticSegmentation", num_labels=150), "--batch 8", A100, 3752694),
    ("ViT-MAE base", hub("vit_mae", "ViTMAEForPreTraining"), "--batch 16", A100, 111907840),
    ("LLaVA, small", hub("llava", "LlavaForConditionalGeneration", vision_config={"model_type": "clip_vision_model"},
                         text_config={"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4}), "", A100, None),
    ("timm ViT small", VIT, "--batch 32 --precision mixed", A100, 22050664),
    ("timm ViT small", VIT, "--batch 32 --precision mixed --lora 16", A100, 22050664),
    ("timm ViT small", VIT, "--batch 32 --inference", A100, 22050664),
    ("timm ViT small, 384 × 384", VIT, "--batch 32 --precision mixed --image-size 384", A100, None),
    ("timm ResNet-50", timm("resnet50", num_classes=1000), "--batch 32", A100, 25557032),
    ("timm ConvNeXt tiny", timm("convnext_tiny", num_classes=1000), "--batch 16 --checkpointing", A100, 28589128),
    ("timm ConvNeXt tiny", timm("convnext_tiny", num_classes=1000), "--batch 16 --lora 8", A100, 28589128),
    ("timm ViT small", VIT, "--generate 8", A100, None),
    ("Stable Diffusion 1.5", SD15, "--batch 4 --precision mixed", A100, 859520964),
    ("Stable Diffusion 1.5", SD15, "--batch 4 --precision bf16 --lora 16 --checkpointing", A100, 859520964),
    ("SDXL", SDXL, "--batch 1 --precision mixed --checkpointing", A100, 2567463684),
    ("SDXL", SDXL, "--batch 1 --precision bf16 --lora 16 --checkpointing", RTX, 2567463684),
    ("SDXL", SDXL, "--batch 1 --precision bf16 --inference", RTX, 2567463684),
    ("Stable Diffusion's autoencoder", VAE, "--batch 1 --precision mixed", A100, 83653863),
    ("DDPM, CIFAR-10", DDPM, "--batch 16", A100, 35746307),
    ("Stable Diffusion 3 medium", SD3, "--batch 1 --precision bf16 --checkpointing", A100, None),
    ("Stable Diffusion 3 medium", SD3, "--batch 1 --precision bf16 --lora 16 --checkpointing", RTX, None),
    ("FLUX.1", FLUX, "--batch 1 --precision bf16 --lora 16 --checkpointing", A100, 11901408320),
    ("FLUX.1", FLUX, "--batch 1 --precision bf16 --inference", A100, 11901408320),
]


def versions(python, path):
    names = "torch transformers peft bitsandbytes timm diffusers"
    code = "import importlib.metadata as m, json; print(json.dumps({n: m.version(n) for n in %r.split()}))" % names
    environment = {"PYTHONPATH": path} if path else None
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return json.loads(ran.stdout)


def run(options):
    build, found = build_of(options.oomdoc), versions(options.python, options.pythonpath)
    done = {(line["model"], line["options"]) for line in lines(options.results) if line["build"] == build}
    for name, fields, asked, gpu, _ in MODELS:
        if (name, asked) in done or options.only and not any(word in name for word in options.only):
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(fields, file)
            file.flush()
            command = [options.oomdoc, "rehearse", "--like", gpu, "--addresses", "up", "--json", "--model", file.name]
            command += ["--python", options.python] + asked.split()
            if options.pythonpath:
                command += ["--env", "PYTHONPATH=" + options.pythonpath]
            ran = subprocess.run(command, capture_output=True, text=True)
        line = {"model": name, "options": asked, "build": build, "versions": found}
        if ran.returncode == 2:
            line.update(verdict="refused", message=ran.stderr.strip().splitlines()[0], seconds=0)
        else:
            report = json.loads(ran.stdout)
            first = report["runs"][0]["takes"][0]
            line.update(verdict=report["verdict"], message=report["message"], seconds=round(report["seconds"]))
            line.update(built=report.get("model"), allocated=first["allocated_bytes"], reserved=first["reserved_bytes"])
        with open(options.results, "a") as file:
            file.write(json.dumps(line) + "\n")
        print("%-28s %-50s %4d s  %-13s %s" % (name, asked, line["seconds"], line["verdict"], line["message"]), flush=True)


def row(model, line):
    """A row, and whether the published number of parameters was met; None where there is none or nothing was built."""
    name, _, asked, gpu, published = model
    if line["verdict"] == "refused":
        return "| %s | `%s` | %s | – | – | refused | – | – |" % (name, asked, gpu), None
    built = line["built"] or {}
    parameters, trained = built.get("parameters"), built.get("trainable_parameters")
    met = parameters == published if parameters and published else None
    number = "{:,}".format(parameters) if parameters else "–"
    number += "" if met is None else " = published" if met else " (published: {:,})".format(published)
    share = "–" if trained is None else "all" if trained == parameters else "{:,}".format(trained)
    peak = "%d / %d" % (line["allocated"] >> 20, line["reserved"] >> 20)
    cells = (name, asked, gpu, number, share, line["verdict"], peak, line["seconds"])
    return "| %s | `%s` | %s | %s | %s | %s | %s | %d |" % cells, met


def table(options):
    said = {(line["model"], line["options"]): line for line in lines(options.results)}
    builds = {line["build"] for line in said.values()}
    if len(builds) != 1 or any((name, asked) not in said for name, _, asked, _, _ in MODELS):
        sys.exit("the results are of %d builds and %d of %d models" % (len(builds), len(said), len(MODELS)))
    found = dict(next(iter(said.values()))["versions"])
    rows = [row(model, said[model[0], model[2]]) for model in MODELS]
    verdicts = [said[model[0], model[2]]["verdict"] for model in MODELS]
    met = [met for _, met in rows if met is not None]
    print(HEAD.format(
        torch=found.pop("torch"), libraries=", ".join("%s %s" % pair for pair in found.items()), total=len(rows),
        fits=verdicts.count("fits"), over=verdicts.count("does-not-fit"), refused=verdicts.count("refused"),
        unknown=verdicts.count("unknown"), same=sum(met), known=len(met),
    ))
    print("\n".join(text for text, _ in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("run")
    one.add_argument("results")
    one.add_argument("--oomdoc", required=True)
    one.add_argument("--python", default=sys.executable)
    one.add_argument("--pythonpath", help="where further libraries lie")
    one.add_argument("--only", nargs="*", help="models whose name holds one of these words")
    verbs.add_parser("table").add_argument("results")
    options = parser.parse_args()
    {"run": run, "table": table}[options.verb](options)


if __name__ == "__main__":
    main()
