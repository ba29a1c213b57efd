"""An LSTM language model."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10000, 512)
        self.lstm = nn.LSTM(512, 512, num_layers=2, batch_first=True, dropout=0.2)
        self.head = nn.Linear(512, 10000)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(20):
    tokens = torch.randint(0, 10000, (32, 128), device="cuda")
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(step, loss.item())
