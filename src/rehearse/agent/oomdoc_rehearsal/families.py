"""Models of timm and diffusers from their configurations, in the form in which those of transformers are rehearsed.

Their modules return a picture's classes or noise, not a loss: [`Judged`] adds the one that they are trained with.
"""
import importlib

# What a module of diffusers is given besides the noisy sample, where its class alone decides.
PROMPT = 77  # tokens of a prompt, as CLIP gives them
PROMPT_T5 = 512  # as T5 gives them to Flux
LATENT = 8  # pixels a side for each one of what the autoencoder makes of a picture


def library_of(fields):
    """The library that made a configuration; None where transformers is to say."""
    if "model_type" in fields:
        return None
    if isinstance(fields.get("_class_name"), str):
        return "diffusers"
    return "timm" if isinstance(fields.get("architecture"), str) else None


def build(library, fields, args, problem):
    """A model without a loss. `problem(kind, name, detail)` is raised where there is none."""
    try:
        module = importlib.import_module(library)
    except ImportError as error:
        raise problem("package", library, error if error.name != library else "")
    name = fields["_class_name" if library == "diffusers" else "architecture"]
    try:
        if library == "timm":
            return _of_timm(module, name, fields, args)
        kind = getattr(module, name, None)
        if name not in _DIFFUSERS or kind is None:
            raise problem("inputs", name)
        return kind.from_config({key: value for key, value in fields.items() if key != "_name_or_path"})
    except (RuntimeError, ValueError, TypeError, KeyError) as error:
        raise problem("configuration", name, error)


def _of_timm(timm, name, fields, args):
    options = dict(fields.get("model_args") or {})
    if fields.get("num_classes"):
        options["num_classes"] = fields["num_classes"]
    if args.image_size:
        try:  # models with a table of positions are made for one size
            return timm.create_model(name, pretrained=False, img_size=args.image_size, **options)
        except TypeError:
            pass
    return timm.create_model(name, pretrained=False, **options)


def judged(torch, library, model, problem):
    """The model with its loss, and the names under which the rehearsal calls what all libraries have."""

    class Judged(torch.nn.Module):
        main_input_name = "pixel_values"
        supports_gradient_checkpointing = True

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, wanted=None, **given):
            made = model(given.pop("pixel_values")) if library == "timm" else _first(model(**given))
            if wanted is None:
                return {"logits": made}
            if library == "timm":
                return {"loss": torch.nn.functional.cross_entropy(made.float(), wanted)}
            return {"loss": torch.nn.functional.mse_loss(made.float(), wanted.float())}

        def enable_input_require_grads(self):
            pass  # what is recomputed here needs no gradients of its inputs

        def gradient_checkpointing_enable(self, **_):
            try:
                (model.set_grad_checkpointing if library == "timm" else model.enable_gradient_checkpointing)()
            except (AttributeError, AssertionError, ValueError):
                raise problem("checkpointing", type(model).__name__)

    return Judged()


def _first(made):
    return made[0] if isinstance(made, tuple) else made.sample


def inputs(torch, library, model, args):
    """A function that makes the next batch on the host."""
    if library == "timm":
        size = (getattr(model, "pretrained_cfg", None) or {}).get("input_size") or (3, 224, 224)
        sides = (args.image_size, args.image_size) if args.image_size else tuple(size[1:])
        classes = max(1, getattr(model, "num_classes", 0) or 1)
        return lambda: {
            "pixel_values": torch.rand((args.batch, size[0]) + sides),
            "wanted": torch.randint(0, classes, (args.batch,)),
        }
    return lambda: _DIFFUSERS[type(model).__name__](torch, model.config, args)


def _side(config, args, latent):
    if args.image_size:
        return args.image_size // LATENT if latent else args.image_size
    size = getattr(config, "sample_size", None) or 64
    return size[0] if isinstance(size, (list, tuple)) else size


def _noisy(torch, config, args, latent):
    side = _side(config, args, latent)
    sample = torch.rand(args.batch, config.in_channels, side, side)
    wanted = torch.rand(args.batch, getattr(config, "out_channels", None) or config.in_channels, side, side)
    return {"sample": sample, "wanted": wanted}


def _unet(torch, config, args):
    made = _noisy(torch, config, args, latent=False)
    made["timestep"] = torch.randint(0, 1000, (args.batch,))
    if config.class_embed_type is not None or config.num_class_embeds:
        made["class_labels"] = torch.zeros(args.batch, dtype=torch.long)
    return made


def _conditional_unet(torch, config, args):
    made = _noisy(torch, config, args, latent=True)
    made["timestep"] = torch.randint(0, 1000, (args.batch,))
    width = config.cross_attention_dim
    width = width[0] if isinstance(width, (list, tuple)) else width
    made["encoder_hidden_states"] = torch.rand(args.batch, args.seq or PROMPT, config.encoder_hid_dim or width)
    if config.addition_embed_type == "text_time":
        text = config.projection_class_embeddings_input_dim - 6 * config.addition_time_embed_dim
        made["added_cond_kwargs"] = {
            "text_embeds": torch.rand(args.batch, text),
            "time_ids": torch.rand(args.batch, 6),
        }
    return made


def _autoencoder(torch, config, args):
    side = _side(config, args, latent=False)
    sample = torch.rand(args.batch, config.in_channels, side, side)
    return {"sample": sample, "wanted": sample, "sample_posterior": True}


def _sd3(torch, config, args):
    made = _noisy(torch, config, args, latent=True)
    made["hidden_states"] = made.pop("sample")
    made["encoder_hidden_states"] = torch.rand(args.batch, args.seq or 2 * PROMPT, config.joint_attention_dim)
    made["pooled_projections"] = torch.rand(args.batch, config.pooled_projection_dim)
    made["timestep"] = torch.randint(0, 1000, (args.batch,))
    return made


def _flux(torch, config, args):
    side = (args.image_size or 1024) // (2 * LATENT)
    text = args.seq or PROMPT_T5
    made = {
        "hidden_states": torch.rand(args.batch, side * side, config.in_channels),
        "wanted": torch.rand(args.batch, side * side, config.in_channels),
        "encoder_hidden_states": torch.rand(args.batch, text, config.joint_attention_dim),
        "pooled_projections": torch.rand(args.batch, config.pooled_projection_dim),
        "timestep": torch.rand(args.batch),
        "img_ids": torch.rand(side * side, 3),
        "txt_ids": torch.rand(text, 3),
    }
    if config.guidance_embeds:
        made["guidance"] = torch.rand(args.batch)
    return made


_DIFFUSERS = {
    "UNet2DModel": _unet,
    "UNet2DConditionModel": _conditional_unet,
    "AutoencoderKL": _autoencoder,
    "SD3Transformer2DModel": _sd3,
    "FluxTransformer2DModel": _flux,
}
