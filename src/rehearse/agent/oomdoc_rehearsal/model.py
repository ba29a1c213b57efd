"""A model built from its configuration and trained, or asked, for a few steps: what `oomdoc rehearse --model` runs.

Nothing is downloaded and no weights are read. Parameters are described first and get memory on the GPU one after another, as
loaders of checkpoints do; the tokens are random. What the model is and how large stands in the result file. What can't be done
is told in one line of JSON on standard error, with the exit code PROBLEM.
"""
import argparse
import contextlib
import importlib
import inspect
import json
import os
import sys

from . import families
from .record import run

PROBLEM = 215
TASKS = {
    "causal-lm": "AutoModelForCausalLM",
    "masked-lm": "AutoModelForMaskedLM",
    "seq2seq-lm": "AutoModelForSeq2SeqLM",
    "sequence-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
    "image-classification": "AutoModelForImageClassification",
    "semantic-segmentation": "AutoModelForSemanticSegmentation",
    "speech-seq2seq": "AutoModelForSpeechSeq2Seq",
    "audio-classification": "AutoModelForAudioClassification",
    "contrastive": "AutoModel",
}
# What the name of an architecture ends with, where the configuration names one.
ENDINGS = {
    "ForCausalLM": "causal-lm",
    "LMHeadModel": "causal-lm",
    "ForMaskedLM": "masked-lm",
    "ForPreTraining": "masked-lm",
    "ForSequenceClassification": "sequence-classification",
    "ForTokenClassification": "token-classification",
    "ForQuestionAnswering": "question-answering",
    "ForImageClassification": "image-classification",
    "ForSemanticSegmentation": "semantic-segmentation",
    "ForSpeechSeq2Seq": "speech-seq2seq",
    "ForConditionalGeneration": "seq2seq-lm",
}
OPTIMIZERS = {
    "adamw": "AdamW",
    "amsgrad": "AdamW",
    "adamw8bit": "AdamW8bit",
    "sgd": "SGD",
    "sgd-momentum": "SGD",
    "adagrad": "Adagrad",
    "rmsprop": "RMSprop",
    "lion": "Lion",
}
LONGEST = 2048  # tokens of a sample where nobody says how many
# Linear layers of attention, by the names that models give them.
ATTENTION = (
    "q_proj k_proj v_proj o_proj out_proj qkv_proj query_key_value c_attn query key value q k v o Wqkv q_lin k_lin v_lin"
    " attn.qkv attn.proj to_q to_k to_v to_out.0"
).split()


class Problem(Exception):
    """Why there is nothing to rehearse; the launcher has words for each kind."""

    def __init__(self, kind, name="", detail=""):
        super().__init__(kind)
        self.row = {"problem": kind, "name": str(name), "detail": " ".join(str(detail).split())[:400]}


def need(package):
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise Problem("package", package, error if error.name != package else "")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--task", choices=sorted(TASKS))
    parser.add_argument("--batch", type=int, default=1)
    for name in ("seq", "target-seq", "image-size", "generate", "lora", "quantised"):
        parser.add_argument("--" + name, type=int)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--zero", type=int, default=0)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--padding", type=float, default=0.0)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--optimizer", default="adamw")
    parser.add_argument("--attention")
    parser.add_argument("--lora-targets", default="all")
    for name in ("fused", "checkpointing", "inference", "not-prepared"):
        parser.add_argument("--" + name, action="store_true")
    return parser.parse_args()


# ---- the model ----


@contextlib.contextmanager
def described(torch):
    """Parameters that are made inside have a shape and no memory; buffers are real, as their values are known."""
    register = torch.nn.Module.register_parameter

    def registered(module, name, parameter):
        register(module, name, parameter)
        if parameter is not None and parameter.device.type != "meta":
            made = torch.nn.Parameter(parameter.detach().to("meta"), requires_grad=parameter.requires_grad)
            module._parameters[name] = made

    torch.nn.Module.register_parameter = registered
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register


def placed(torch, module, device, known=None):
    """Give memory to every parameter that has none and take the buffers along, children first, what is shared once."""
    known = {} if known is None else known
    for child in module.children():
        placed(torch, child, device, known)
    for name, parameter in module._parameters.items():
        if parameter is None or parameter.device.type != "meta":
            continue
        if id(parameter) not in known:
            made = torch.nn.Parameter(torch.empty_like(parameter, device=device), requires_grad=parameter.requires_grad)
            known[id(parameter)] = (made, parameter)
        module._parameters[name] = known[id(parameter)][0]
    for name, buffer in module._buffers.items():
        if buffer is not None and buffer.device.type in ("meta", "cpu"):
            meta = buffer.device.type == "meta"
            module._buffers[name] = torch.empty_like(buffer, device=device) if meta else buffer.to(device)
    return module


def fields_of(args):
    """What the configuration says; None where it is to be found by its name."""
    where = args.model
    path = os.path.join(where, "config.json") if os.path.isdir(where) else where
    if os.path.isfile(path):
        try:
            with open(path, encoding="utf-8") as file:
                fields = json.load(file)
        except ValueError as error:
            raise Problem("unreadable", where, error)
        if not isinstance(fields, dict):
            raise Problem("unreadable", where)
        return fields
    if os.path.exists(where) or where.endswith(".json") or where.startswith((".", "/")):
        raise Problem("missing", where)
    return None


def configuration(transformers, fields, args):
    where = args.model
    if fields is not None and not fields.get("model_type"):
        raise Problem("no-type", where)
    if fields is not None and fields["model_type"] not in transformers.models.auto.configuration_auto.CONFIG_MAPPING:
        raise Problem("type", fields["model_type"], transformers.__version__)
    try:
        if fields is None:
            return transformers.AutoConfig.from_pretrained(where)
        # a name in the configuration would be looked for on the network
        left_out = ("_name_or_path", "auto_map", "quantization_config")
        fields = {name: value for name, value in fields.items() if name not in left_out}
        kind = transformers.models.auto.configuration_auto.CONFIG_MAPPING[fields["model_type"]]
        return kind.from_dict(fields)
    except Exception as error:
        raise Problem("configuration", where, error)


def task_of(config, args):
    if args.task is not None:
        return args.task
    names = list(config.architectures or ())
    for name in names:
        if config.model_type == "whisper":
            return "speech-seq2seq"
        for ending, task in ENDINGS.items():
            if name.endswith(ending):
                return task
        if hasattr(config, "text_config") and hasattr(config, "vision_config"):
            return "contrastive"
    raise Problem("no-task", names[0] if names else config.model_type)


def build(torch, transformers, config, task, args, dtype):
    maker = getattr(transformers, TASKS[task])
    named = [name for name in config.architectures or () if hasattr(transformers, name)]
    options = {"attn_implementation": "eager"} if args.attention == "eager" else {}
    if args.task is None and named:
        make = getattr(transformers, named[0])._from_config
    else:
        make = maker.from_config
    no_init = getattr(transformers.modeling_utils, "no_init_weights", contextlib.nullcontext)
    try:
        with described(torch), no_init():
            model = make(config, torch_dtype=dtype, **options)
            model.tie_weights()  # what initialises no weights shares none
        return model
    except Problem:
        raise
    except ValueError as error:
        if "Unrecognized configuration class" in str(error):
            raise Problem("task-of-model", task, type(config).__name__)
        raise Problem("configuration", args.model, error)
    except ImportError as error:
        raise Problem("package", getattr(error, "name", None) or "", error)


def quantise(torch, model, args, dtype):
    """Linear layers of frozen weights in 4 or 8 bit, as transformers' loader makes them with bitsandbytes."""
    bnb = need("bitsandbytes")
    from transformers import BitsAndBytesConfig
    from transformers.integrations.bitsandbytes import get_keys_to_not_convert, replace_with_bnb_linear

    four = args.quantised == 4
    if four:
        config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype)
    else:
        config = BitsAndBytesConfig(load_in_8bit=True)
    kept = get_keys_to_not_convert(model)
    with described(torch):
        model = replace_with_bnb_linear(model, modules_to_not_convert=kept, quantization_config=config)
    kinds = (bnb.nn.Linear4bit, bnb.nn.Linear8bitLt)
    for module in model.modules():
        if isinstance(module, kinds):
            weight = torch.empty(module.weight.shape, dtype=dtype)
            if four:
                made = bnb.nn.Params4bit(weight, requires_grad=False, quant_type="nf4", module=module)
            else:
                made = bnb.nn.Int8Params(weight, requires_grad=False, has_fp16_weights=False)
            module._parameters["weight"] = made.to("cuda")
    model.is_loaded_in_4bit, model.is_loaded_in_8bit = four, not four
    model.is_quantized = True
    return model


def adapted(model, args):
    """Low-rank adapters on frozen weights, by PEFT."""
    peft = need("peft")
    linear = [name for name, module in model.named_modules() if type(module).__name__ == "Linear"]
    targets = "all-linear" if hasattr(model, "get_output_embeddings") else linear
    if args.lora_targets == "attention":
        names = ["." + name for name, _ in model.named_modules()]
        targets = sorted(target for target in ATTENTION if any(name.endswith("." + target) for name in names))
        if not targets:
            raise Problem("no-attention", type(model).__name__)
    if args.quantised and not args.not_prepared:
        model = peft.prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=args.checkpointing, gradient_checkpointing_kwargs={"use_reentrant": False}
        )
    elif args.checkpointing:
        model.enable_input_require_grads()
    try:
        return peft.get_peft_model(model, peft.LoraConfig(r=args.lora, lora_alpha=2 * args.lora, target_modules=targets))
    except ValueError as error:
        raise Problem("lora", type(model).__name__, error)


def optimizer_of(torch, name, parameters, fused):
    parameters = list(parameters)
    library = torch.optim
    options = {"fused": True} if fused else {}
    if name in ("adamw8bit", "lion"):
        library, options = need("bitsandbytes").optim, {}
    if name == "adafactor":
        from transformers.optimization import Adafactor

        return Adafactor(parameters, scale_parameter=True, relative_step=True)
    if name == "sgd-momentum":
        options["momentum"] = 0.9
    if name == "amsgrad":
        options["amsgrad"] = True
    try:
        return getattr(library, OPTIMIZERS[name])(parameters, lr=1e-4, **options)
    except (TypeError, RuntimeError) as error:
        raise Problem("optimizer", name, error)


class MasterWeights:
    """32-bit copies of 16-bit parameters, which the optimizer changes; gradients are copied before each step."""

    def __init__(self, torch, name, parameters, fused):
        self.torch, self.parameters = torch, [parameter for parameter in parameters if parameter.requires_grad]
        self.copies = [parameter.detach().float().requires_grad_() for parameter in self.parameters]
        self.optimizer = optimizer_of(torch, name, self.copies, fused)

    def step(self):
        for copy, parameter in zip(self.copies, self.parameters):
            copy.grad, parameter.grad = parameter.grad.float(), None
        self.optimizer.step()
        with self.torch.no_grad():
            for copy, parameter in zip(self.copies, self.parameters):
                parameter.copy_(copy)

    def zero_grad(self):
        self.optimizer.zero_grad(set_to_none=True)


# ---- what it is fed with ----


def longest(config):
    """Positions that the model was made for; None where it does not say."""
    config = getattr(config, "text_config", None) or config
    for name in ("max_position_embeddings", "n_positions", "max_target_positions"):
        value = getattr(config, name, None)
        if isinstance(value, int) and value > 0:
            return value
    return None


def sequence(torch, model, config, wanted):
    known = longest(config)
    if wanted is None:
        return min(LONGEST, known) if known else LONGEST // 4
    if known and wanted > known:
        # a learned table of positions ends there; rotary positions don't
        tables = [module.num_embeddings for module in model.modules() if isinstance(module, torch.nn.Embedding)]
        if any(size in (known, known + 1, known + 2) for size in tables):
            raise Problem("too-long", wanted, known)
    return wanted


def inputs(torch, model, config, task, args):
    """A function that makes the next batch on the host."""
    names = inspect.signature(model.forward).parameters
    text = getattr(config, "text_config", None) or config
    vision = getattr(config, "vision_config", None) or config
    vocabulary = getattr(text, "vocab_size", None) or 2
    batch, main = args.batch, model.main_input_name
    tokens = lambda length: torch.randint(0, vocabulary, (batch, length))
    # Pictures and sounds that stand among the tokens: how many tokens each is differs from model to model.
    for name in ("pixel_values", "input_features", "input_values"):
        if main == "input_ids" and name in names and task != "contrastive":
            raise Problem("inputs", name)
    number = getattr(config, "num_labels", 2) or 2
    classes = lambda *shape: torch.randint(0, number, (batch,) + shape)
    length = sequence(torch, model, config, args.seq) if main != "pixel_values" else 1
    target = args.target_seq or min(length, getattr(text, "max_target_positions", None) or length)

    def image():
        size = args.image_size or getattr(vision, "image_size", None) or 224
        sides = tuple(size) if isinstance(size, (list, tuple)) else (size, size)
        return torch.rand((batch, getattr(vision, "num_channels", None) or 3) + sides)

    def make():
        made = {}
        if main == "input_ids" or task == "contrastive":
            made["input_ids"] = tokens(length)
            if args.padding > 0:
                # rows from full length downwards, the share of padding on average
                shares = torch.linspace(0, 2 * args.padding, batch) if batch > 1 else torch.tensor([args.padding])
                kept = (length * (1 - shares)).round().clamp(min=1)
                made["attention_mask"] = (torch.arange(length)[None] < kept[:, None]).long()
        if main == "pixel_values" or task == "contrastive":
            made["pixel_values"] = image()
        if main == "input_features":
            frames = 2 * getattr(config, "max_source_positions", 1500)
            made["input_features"] = torch.rand(batch, getattr(config, "num_mel_bins", 80), frames)
        if main == "input_values":
            made["input_values"] = torch.rand(batch, args.seq or 160000)
        if main not in ("input_ids", "pixel_values", "input_features", "input_values"):
            raise Problem("inputs", main)
        if task in ("causal-lm", "masked-lm") and "input_ids" in made:
            made["labels"] = made["input_ids"]
        elif task in ("seq2seq-lm", "speech-seq2seq"):
            made["labels"] = tokens(target)
        elif task in ("sequence-classification", "image-classification", "audio-classification"):
            made["labels"] = classes()
        elif task == "semantic-segmentation":
            made["labels"] = classes(*made["pixel_values"].shape[2:])
        elif task == "token-classification":
            made["labels"] = classes(length)
        elif task == "question-answering":
            made["start_positions"] = made["end_positions"] = torch.zeros(batch, dtype=torch.long)
        elif task == "contrastive":
            made["return_loss"] = True
        return {name: value for name, value in made.items() if name in names}

    return make


def on_device(torch, batch, dtype):
    def moved(value):
        if isinstance(value, dict):
            return on_device(torch, value, dtype)
        if not isinstance(value, torch.Tensor):
            return value
        return value.to("cuda", dtype) if value.is_floating_point() else value.to("cuda")

    return {name: moved(value) for name, value in batch.items()}


# ---- the work ----


def balance_experts(torch, model):
    """Tokens are taken to go to all experts alike: which they go to is computed on the GPU. All together they are as many."""
    inside = []

    def enter(module, given):
        inside.append(len(module.experts))

    def leave(module, given, result):
        inside.pop()

    found = False
    for module in model.modules():
        experts = getattr(module, "experts", None)
        if isinstance(experts, torch.nn.ModuleList) and len(experts) > 1:
            found = True
            module.register_forward_pre_hook(enter)
            module.register_forward_hook(leave, always_call=True)
    if not found:
        return
    run.trap("routing", type(model).__name__, "tokens are taken to go to all experts alike")
    where = torch.where

    def chosen(condition, *others):
        if not inside or others:
            return where(condition, *others)
        # the mask has a row for each choice and a column for each token
        rows = -(-condition.numel() // inside[-1])
        return tuple(torch.zeros(rows, dtype=torch.long, device=condition.device) for _ in range(condition.dim()))

    torch.where = chosen


def distributed(torch, model, args, dtype):
    """The model among the ranks, by PyTorch's own means: DDP, or FSDP from stage 2 on."""
    import torch.distributed as dist

    dist.init_process_group("nccl")
    torch.cuda.set_device(0)
    if args.zero < 2:
        placed(torch, model, "cuda")
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
        return model
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    wanted = set(getattr(model, "_no_split_modules", None) or ())
    blocks = {type(module) for module in model.modules() if type(module).__name__ in wanted}
    strategy = ShardingStrategy.FULL_SHARD if args.zero == 3 else ShardingStrategy.SHARD_GRAD_OP
    mixed = None
    if args.precision == "mixed":
        mixed = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
    return FullyShardedDataParallel(
        model,
        sharding_strategy=strategy,
        auto_wrap_policy=ModuleWrapPolicy(blocks) if blocks else None,
        mixed_precision=mixed,
        device_id=torch.device("cuda", 0),
        use_orig_params=True,
        param_init_fn=lambda module: placed(torch, module, "cuda"),
    )


def tell(model, args):
    """What was built, for the result file: before it gets any memory, of which there may be too little."""
    parameters = count(model)
    run.settings["model"] = {
        "class": type(model).__name__,
        "parameters": parameters,
        "trainable_parameters": 0 if args.inference else parameters,
    }
    run.batch = {"observed": args.batch, "from": "--batch"}


def count(model, trained=False):
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad or not trained)


def of_transformers(torch, fields, args, dtype):
    """A model, what makes its batches, and the type of its weights."""
    transformers = need("transformers")
    transformers.logging.set_verbosity_error()
    config = configuration(transformers, fields, args)
    task = task_of(config, args)
    if args.quantised and not (args.lora or args.inference):
        raise Problem("quantised-training")
    if args.quantised and args.precision in ("mixed", "fp32"):
        dtype = torch.bfloat16 if args.precision == "mixed" else torch.float32
    for name in ("pad_token_id", "decoder_start_token_id"):
        if getattr(config, name, None) is None:
            setattr(config, name, 0)
    model = build(torch, transformers, config, task, args, dtype)
    tell(model, args)
    make = inputs(torch, model, config, task, args)
    balance_experts(torch, model)
    return model, make, dtype


def of_another(torch, library, fields, args, dtype):
    """A model of timm or diffusers with its loss, and what makes its batches."""
    for option in ("quantised", "generate", "task"):
        if getattr(args, option):
            raise Problem("library-option", "--" + option, library)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with described(torch):
            model = families.build(library, fields, args, Problem)
    finally:
        torch.set_default_dtype(usual)
    tell(model, args)
    return families.judged(torch, library, model, Problem), families.inputs(torch, library, model, args)


def rehearse(args):
    torch = need("torch")
    dtype = torch.bfloat16 if args.precision in ("bf16", "master") else torch.float32
    args.inference = args.inference or args.generate is not None
    fields = fields_of(args)
    library = families.library_of(fields) if fields is not None else None
    if library is None:
        model, make, dtype = of_transformers(torch, fields, args, dtype)
    else:
        model, make = of_another(torch, library, fields, args, dtype)
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if args.quantised:
        model = quantise(torch, model, args, dtype)
    if world == 1 or args.lora or args.quantised:
        placed(torch, model, "cuda")
    if args.inference:
        return ask(torch, model, make, args, dtype)
    model.train()
    if args.checkpointing and not (args.quantised and not args.not_prepared):
        if not model.supports_gradient_checkpointing:
            raise Problem("checkpointing", type(model).__name__)
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if args.lora:
        model = adapted(model, args)
        run.settings["model"]["trainable_parameters"] = count(model, trained=True)
    if world > 1:
        if args.zero >= 2 and args.quantised:
            raise Problem("sharded-quantised")
        model = distributed(torch, model, args, dtype)
    train(torch, model, make, args, world, dtype)


def train(torch, model, make, args, world, dtype):
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if args.zero == 1 and world > 1:
        from torch.distributed.optim import ZeroRedundancyOptimizer

        kind = type(optimizer_of(torch, args.optimizer, trained, args.fused))
        optimizer = ZeroRedundancyOptimizer(trained, optimizer_class=kind, lr=1e-4)
    elif args.precision == "master":
        optimizer = MasterWeights(torch, args.optimizer, trained, args.fused)
    else:
        optimizer = optimizer_of(torch, args.optimizer, trained, args.fused)
    mixed = args.precision == "mixed" and args.zero < 2
    for _ in range(max(1, args.steps)):
        for _ in range(max(1, args.accumulation)):
            batch = on_device(torch, make(), dtype)
            with torch.autocast("cuda", torch.bfloat16, enabled=mixed):
                loss = model(**batch)["loss"]
            loss.backward()
            del loss, batch
        optimizer.step()
        optimizer.zero_grad()


def ask(torch, model, make, args, dtype):
    """Generation, or one pass without gradients."""
    model.eval()
    batch = on_device(torch, make(), dtype)
    batch.pop("wanted", None)
    prompt = (model.main_input_name, "attention_mask")
    given = {name: value for name, value in batch.items() if name in prompt}
    with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=args.precision == "mixed"):
        if args.generate is None:
            model(**batch)
        elif not getattr(model, "can_generate", lambda: False)():
            raise Problem("generate", type(model).__name__)
        else:
            model.generate(**given, max_new_tokens=args.generate, min_new_tokens=args.generate, do_sample=False)


def main():
    try:
        rehearse(arguments())
    except Problem as problem:
        print(json.dumps(problem.row), file=sys.stderr, flush=True)
        sys.exit(PROBLEM)


if __name__ == "__main__":
    main()
