state = {"current": 0, "peak": 0, "total": 1000, "ooms": 0, "recording": None}
observers = []


def _cuda_attach_out_of_memory_observer(observer):
    observers.append(observer)


def _cuda_memoryStats(device):
    both = {"all": {"current": state["current"], "peak": state["peak"]}}
    return {
        "allocated_bytes": both,
        "reserved_bytes": {"all": dict(both["all"])},
        "num_ooms": state["ooms"],
        "num_alloc_retries": 0,
    }


def _cuda_resetPeakMemoryStats(device):
    state["peak"] = state["current"]
