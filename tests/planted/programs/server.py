"""A generation server's loop: requests from a queue, transformers' generate()."""
import logging
import random
import torch
from transformers import LlamaConfig, LlamaForCausalLM
#@imports

logging.basicConfig(level=logging.INFO, format="%(levelname)s:     %(asctime)s - %(message)s")
log = logging.getLogger("serving")
BATCH, PROMPT, NEW, STEPS = $BATCH, $SEQ, $NEW, $STEPS
device = torch.device("cuda:0")
#@memory


def build():
    config = LlamaConfig(vocab_size=32000, hidden_size=$WIDTH, intermediate_size=4 * $WIDTH, num_hidden_layers=$LAYERS,
                         num_attention_heads=16, num_key_value_heads=16, max_position_embeddings=131072,
                         eos_token_id=None, pad_token_id=0)
    log.info("Loading model weights (%d layers, hidden size %d, float16)", config.num_hidden_layers, config.hidden_size)
    torch.set_default_dtype(torch.float16)
    with torch.device(device):
        model = LlamaForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)
    log.info("Model loaded: %.2f GiB of weights", sum(p.nbytes for p in model.parameters()) / 2**30)
    return model


def sample(n=BATCH, t=PROMPT):
    return torch.ones(n, t, dtype=torch.long, device=device)


#@before_model
model = build()
#@after_model
log.info("Application startup complete.")
#@after_optimizer
random.seed(3)
for step in range(STEPS):
    x = sample()
    #@batch
    with torch.inference_mode():
        cache, token = None, x
        for _ in range(NEW):
            result = model(token, past_key_values=cache, use_cache=True)
            cache, out = result.past_key_values, result.logits
            token = out[:, -1:].argmax(-1)
        #@after_out
    if step % $EVERY == 0:
        log.info("POST /generate 200 OK id=req-%05d prompt_tokens=%d%s", step, x.numel(), memory())
    #@after_step
log.info("Shutting down")
