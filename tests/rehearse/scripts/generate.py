"""Text generation: sampling and greedy, to the maximal number of new tokens."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(n_layer=4)).cuda().eval()
prompt = torch.randint(0, 50257, (8, 64)).cuda()
for sample in (True, False):
    out = model.generate(prompt, max_new_tokens=64, do_sample=sample, pad_token_id=50256)
    print(tuple(out.shape))
