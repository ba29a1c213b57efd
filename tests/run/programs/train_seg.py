import time

import torch
from torch import nn


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


net = nn.Sequential(block(3, 48), block(48, 48), block(48, 48), nn.Conv2d(48, 6, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(3):
    for it in range(20):
        image = torch.rand(8, 3, 192, 192, device="cuda")
        mask = torch.randint(0, 6, (8, 192, 192), device="cuda")
        loss = criterion(net(image), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.08)
        if it % 10 == 0:
            print(f"Epoch [{epoch}/3] iter [{it}/20] loss: {loss.item():.3f}", flush=True)

print("Evaluating", flush=True)
net.eval()
correct = total = 0
for it in range(10):
    image = torch.rand(96, 3, 192, 192, device="cuda")
    mask = torch.randint(0, 6, (96, 192, 192), device="cuda")
    prediction = net(image).argmax(1)
    correct += (prediction == mask).sum().item()
    total += mask.numel()
print(f"pixel accuracy {correct / total:.3f}")
