"""Adapters on a frozen language model, bf16."""
import logging
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM
#@imports

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("finetune")
BATCH, SEQ, STEPS = $BATCH, $SEQ, $STEPS
device = torch.device("cuda", 0)
#@memory


def build():
    config = LlamaConfig(vocab_size=32000, hidden_size=$WIDTH, intermediate_size=4 * $WIDTH, num_hidden_layers=$LAYERS,
                         num_attention_heads=16, num_key_value_heads=16, max_position_embeddings=16384)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    log.info("loaded base model in bfloat16, %.2f B parameters", model.num_parameters() / 1e9)
    return model


def sample(n=BATCH, t=SEQ):
    return torch.zeros(n, t, dtype=torch.long, device=device)


#@before_model
model = get_peft_model(build(), LoraConfig(r=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
model.print_trainable_parameters()
#@after_model
optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=2e-4)
#@after_optimizer
for step in range(STEPS):
    x = sample()
    #@batch
    outputs = model(input_ids=x, labels=x)
    out, loss = outputs.logits, outputs.loss
    #@after_out
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % $EVERY == 0:
        log.info("step %d/%d loss %.4f%s", step, STEPS, loss.item(), memory())
    #@after_step
log.info("adapter saved to ./adapter")
