"""Allocator statistics per phase, out-of-memory errors, the memory history.

The peaks of a phase need the allocator's peak counters to be reset at its beginning. The script may use the same counters
(`max_memory_allocated`), so both ends are kept apart: the statistics the script asks for are the maximum of what we saw
since ITS last reset and what the allocator says now.
"""
import os
import pickle
import sys
import time

from . import ending, record
from .record import guarded, on_fork, run

MAX_HISTORY = 250000  # events of the allocator kept; a training step of a large model is some 10 000


class Peaks:
    """The peak counters of all devices, split by phase."""

    def __init__(self, torch):
        binding = torch._C
        self.torch = torch
        self._stats = binding._cuda_memoryStats
        self._reset = binding._cuda_resetPeakMemoryStats
        self._seen_by_script = {}  # device -> highest peaks since the script's own last reset
        self.devices = {}  # device -> highest peaks and last values of the run
        self.rows = {}  # (step, device, phase) -> peaks
        self.step_peaks = {}  # device -> peak of the step in progress
        self.growth = {}  # device -> peaks of the last steps
        self.survived = False  # an out-of-memory error was caught: what was seen until then is no need

    def end_step(self, step):
        """Note how high each device went in this step."""
        for device, peak in self.step_peaks.items():
            rows = self.growth.setdefault(device, [])
            rows.append((step, peak))
            del rows[:-64]
        self.step_peaks = {}

    def failed(self):
        """An out-of-memory error: if the script goes on, its need is what comes after."""
        self.survived = True

    def forget(self):
        self._seen_by_script.clear()
        self.devices.clear()
        self.rows.clear()
        self.growth.clear()

    def script_stats(self, device):
        """What the script gets from `torch._C._cuda_memoryStats`."""
        stats = self._stats(device)
        with guarded("memory_stats"):
            _raise_peaks(stats, self._seen_by_script.get(device))
        return stats

    def script_reset(self, device):
        """What `torch._C._cuda_resetPeakMemoryStats` does for the script: our own figures are taken first."""
        with guarded("reset_peak_memory_stats"):
            self.close("reset")
            self._seen_by_script.pop(device, None)
        return self._reset(device)

    def close(self, phase, step=None):
        """End a phase: book its peaks under this name and begin a new one."""
        if not run.uses_cuda or run.pid != os.getpid():
            return
        if phase == "reset":
            phase = position.phase
        step = position.step if step is None else step
        if phase == "setup":
            step = 0
        if self.survived and not run.finished:
            # what the failed attempt left in the counters goes with it
            self.survived = False
            self.devices.clear()
            self.rows.clear()
            self.growth.clear()
            self.step_peaks.clear()
            for device in range(self.torch.cuda.device_count()):
                self._reset(device)
        for device in range(self.torch.cuda.device_count()):
            stats = self._stats(device)
            allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
            if not reserved["peak"] and device not in self.devices:
                continue
            seen = self.devices.setdefault(device, {"peak_allocated": 0, "peak_reserved": 0, "at": (0, phase)})
            if allocated["peak"] > seen["peak_allocated"]:
                seen["peak_allocated"], seen["at"] = allocated["peak"], (step, phase)
            seen["peak_reserved"] = max(seen["peak_reserved"], reserved["peak"])
            self.step_peaks[device] = max(self.step_peaks.get(device, 0), allocated["peak"])
            seen["allocated"], seen["reserved"] = allocated["current"], reserved["current"]
            seen["ooms"], seen["retries"] = stats.get("num_ooms", 0), stats.get("num_alloc_retries", 0)
            key = (step, device, phase)
            row = self.rows.get(key)
            if row is not None:
                self.rows[key] = (max(row[0], allocated["peak"]), max(row[1], reserved["peak"]))
            elif len(self.rows) < record.MAX_STEP_ROWS:
                self.rows[key] = (allocated["peak"], reserved["peak"])
            known = self._seen_by_script.get(device)
            _raise_peaks(stats, known)
            self._seen_by_script[device] = stats
            self._reset(device)

    def result(self):
        """The fields "devices", "steps_peak" and "peak" of the result."""
        if not self.devices:
            return {"devices": []}
        total = _totals(self.torch)
        devices = []
        for device, seen in sorted(self.devices.items()):
            devices.append({
                "device": device,
                "total_bytes": total.get(device),
                "peak_allocated_bytes": seen["peak_allocated"],
                "peak_reserved_bytes": seen["peak_reserved"],
                "allocated_bytes": seen.get("allocated", 0),
                "reserved_bytes": seen.get("reserved", 0),
                "ooms": seen.get("ooms", 0),
                "retries": seen.get("retries", 0),
                "last_steps": self.growth.get(device, []),
            })
        rows = [
            {"step": step, "device": device, "peak_allocated_bytes": row[0], "peak_reserved_bytes": row[1], "phase": phase}
            for (step, device, phase), row in self.rows.items()
        ]
        highest = max(self.devices, key=lambda device: self.devices[device]["peak_allocated"])
        step, phase = self.devices[highest]["at"]
        return {"devices": devices, "steps_peak": rows, "peak": {"step": step, "phase": phase, "device": highest}}


class Position:
    """Where the script is: the step in progress (1 is the first, 0 before it) and the phase."""

    def __init__(self):
        self.step = 1
        self.phase = "setup"


position = Position()
peaks = None


def _raise_peaks(stats, earlier):
    """Raise each "peak" of the nested statistics to the earlier one where that was higher."""
    if not earlier:
        return
    for name, value in stats.items():
        if isinstance(value, dict):
            _raise_peaks(value, earlier.get(name))
        elif name == "peak":
            stats[name] = max(value, earlier.get(name, 0))


def _totals(torch):
    totals = {}
    with guarded("total memory"):
        for device in range(torch.cuda.device_count()):
            totals[device] = int(torch.cuda.get_device_properties(device).total_memory)
    return totals


def _cuda_ready():
    """Runs when the process starts to use CUDA, before its first allocation."""
    with guarded("start of CUDA"):
        forked = not run.is_first and not _has_time_thread()
        run.uses_cuda = True
        run.began_cuda = time.time()
        if forked:
            ending.watch_time()
    if run.wants_snapshot:
        with guarded("memory history"):
            _record_history(run.torch)


def _has_time_thread():
    import threading

    return any(thread.name == "oomdoc-time" for thread in threading.enumerate())


def _record_history(torch):
    """Record allocations with their Python stacks.

    Frees are recorded without stacks. Taking one inside a free loses a Python exception in flight: with torch 2.11,
    checkpointing that stops early (use_reentrant=False) and dropout this ends in "SystemError: ... returned NULL without
    setting an exception".
    """
    recording = torch.cuda.memory._record_memory_history
    try:
        recording("all", context="alloc", stacks="python", max_entries=MAX_HISTORY)
    except TypeError:  # torch 2.0 has the older parameters
        recording(True, trace_alloc_max_entries=MAX_HISTORY, trace_alloc_record_context=True)


def _stop_recording():
    """What comes after the steps asked for is not recorded: the history would lose them."""
    rows = peaks.devices.values()
    run.complete = {
        "allocated_bytes": max((row["peak_allocated"] for row in rows), default=0),
        "reserved_bytes": max((row["peak_reserved"] for row in rows), default=0),
    }
    _dump_snapshot()
    if run.wants_snapshot and run.uses_cuda:
        run.wants_snapshot = False
        run.torch.cuda.memory._record_memory_history(enabled=None)


def _hide_own_frames(snapshot):
    """The agent's wrappers are on the way to many an allocation, and nobody's business."""
    events = [event for trace in snapshot["device_traces"] for event in trace]
    blocks = [block for segment in snapshot["segments"] for block in [segment] + segment["blocks"]]
    for entry in events + blocks:
        frames = entry.get("frames")
        if frames and any(record.is_own(frame["filename"]) for frame in frames):
            entry["frames"] = [frame for frame in frames if not record.is_own(frame["filename"])]


def _dump_snapshot():
    if not (run.wants_snapshot and run.uses_cuda):
        return
    name = "snapshot-%d.pickle" % run.pid
    path = os.path.join(run.folder, name)
    taken = getattr(run.torch.cuda.memory, "_snapshot", None)
    if taken is None:
        run.torch.cuda.memory._dump_snapshot(path + ".tmp")
    else:
        snapshot = taken()
        with guarded("stacks of the snapshot"):
            _hide_own_frames(snapshot)
        with open(path + ".tmp", "wb") as file:
            pickle.dump(snapshot, file)
    os.replace(path + ".tmp", path)
    run.snapshot = name


def _watch_out_of_memory(torch):
    """Note every out-of-memory error where it comes into being, also one that the script catches.

    The error class is a Python class made by torch; its initialiser runs once for each error, with the full message.
    """
    kind = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError
    initialise = kind.__init__

    def __init__(self, *values, **named):
        initialise(self, *values, **named)
        with guarded("out of memory"):
            _note_out_of_memory(str(values[0]) if values else "", sys._getframe(1))

    kind.__init__ = __init__


def _note_out_of_memory(message, frame):
    if run.pid != os.getpid():
        return
    if peaks is not None:
        peaks.failed()
        run.failed_batch, run.batch = run.batch or run.failed_batch, None  # the one that it settles on is of interest
    if run.oom is not None:  # the first is the one to explain; a script that goes on may meet many
        run.oom["count"] += 1
        return
    step = 0 if position.phase == "setup" else position.step
    run.oom = {"message": message, "step": step, "phase": position.phase, "stack": record.stack(frame), "count": 1, "caught": True}


def install(torch):
    """Place the hooks of this module."""
    global peaks
    peaks = Peaks(torch)
    run.parts.append(peaks.result)
    on_fork(peaks.forget)
    on_fork(position.__init__)
    torch._C._cuda_memoryStats = peaks.script_stats
    torch._C._cuda_resetPeakMemoryStats = peaks.script_reset
    _follow_accelerator(torch)
    ending.before_end(_last_phase)
    ending.before_end(_dump_snapshot)
    ending.when_complete(_stop_recording)
    with guarded("out of memory"):
        _watch_out_of_memory(torch)
    torch.cuda._lazy_call(_cuda_ready)


def _follow_accelerator(torch):
    """`torch.accelerator` (2.9 and later) has its own way to the same counters."""
    if hasattr(torch._C, "_accelerator_getDeviceStats") and hasattr(torch._C, "_accelerator_resetPeakStats"):
        torch._C._accelerator_getDeviceStats = peaks.script_stats
        torch._C._accelerator_resetPeakStats = peaks.script_reset


def _last_phase():
    if run.ended != "steps" or run.complete_at is not None:  # that end lies at the end of a step, whose peaks are booked
        peaks.close(position.phase)
