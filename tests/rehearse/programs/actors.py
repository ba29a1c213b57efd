# A learner of 4 GiB and three actors with 3 GiB each.
# Right: does-not-fit (11 GiB and four contexts)
import torch, torch.multiprocessing as mp
def actor(rank, ready, stop):
    table = torch.empty(3 << 28, device="cuda"); ready.put(rank); stop.wait()
if __name__ == "__main__":
    mp.set_start_method("spawn"); ready, stop = mp.Queue(), mp.Event()
    actors = [mp.Process(target=actor, args=(i, ready, stop)) for i in range(3)]
    [a.start() for a in actors]; [ready.get() for _ in actors]
    w = torch.zeros(1 << 28, device="cuda", requires_grad=True); opt = torch.optim.SGD([w], 0.1, momentum=0.9)
    for step in range(5):
        w.square().mean().backward(); opt.step(); opt.zero_grad()
    stop.set(); [a.join() for a in actors]
