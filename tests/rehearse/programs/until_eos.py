# Greedy decoding until every sequence has ended; the cache grows by a token each time.
# Right: unknown (from one token to all 40000: 0.3 GiB to more than there is)
import torch
from torch import nn
@torch.no_grad()
def main():
    embed = nn.Embedding(32000, 2048).cuda(); head = nn.Linear(2048, 32000, bias=False).cuda()
    token = torch.ones(64, dtype=torch.long, device="cuda")
    cache = embed(token)[:, None]
    ended = torch.zeros(64, dtype=torch.bool, device="cuda")
    while not ended.all() and cache.shape[1] < 40000:
        token = head(cache.mean(1)).argmax(-1)
        ended |= token == 2
        cache = torch.cat([cache, embed(token)[:, None]], 1)
    print(cache.shape[1])
main()
