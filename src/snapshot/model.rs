//! A memory snapshot: per device the segments with their blocks at its end, and the trace that led there.

use super::SnapshotError;
use super::store::{self, Action, Dict, Event, KeysSeen, NONE, Stacks, Store, Strings, Value, name};
use crate::text;
use crate::text::Text;
use std::collections::BTreeMap;

/// How the file was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// With the pickle protocol; 0 where the file does not say.
    Pickle(u8),
    Json,
}

/// The PyTorch versions that write such a file, told from its keys: the format has no version field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    pub from: (u16, u16),
    /// The last version that writes it; `None` for the newest format.
    pub to: Option<(u16, u16)>,
}

/// What a block of memory is at the end of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    Allocated,
    /// Freed by the program, waiting for another stream.
    PendingFree,
    Inactive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub address: u64,
    /// Bytes that it takes.
    pub size: u64,
    /// Bytes that the program asked for; of free blocks meaningless.
    pub requested: u64,
    pub state: BlockState,
    /// Where it was allocated; `NONE` without.
    pub stack: u32,
}

/// Memory that the allocator got from the driver in one piece, or one mapped range of an expandable segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub address: u64,
    pub size: u64,
    /// Bytes of its allocated blocks, by the segment's own word.
    pub allocated: u64,
    pub stream: u64,
    /// Of the pool for requests up to 1 MiB.
    pub small: bool,
    /// (0, 0) is the default pool.
    pub pool: (u32, u32),
    pub expandable: bool,
    pub stack: u32,
    /// In the order of addresses.
    pub blocks: Vec<Block>,
}

/// One GPU.
#[derive(Debug, Clone, Default)]
pub struct Device {
    pub ordinal: u32,
    /// In the order of addresses.
    pub segments: Vec<Segment>,
    /// Oldest first.
    pub trace: Vec<Event>,
    /// Things about the record that make it worth less.
    pub notes: Vec<Text>,
}

impl Device {
    /// Bytes that the allocator held of the driver when the snapshot was taken.
    pub fn reserved(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).fold(0, u64::saturating_add)
    }

    /// `memory_allocated` when the snapshot was taken.
    pub fn allocated(&self) -> u64 {
        self.segments.iter().map(|segment| segment.allocated).fold(0, u64::saturating_add)
    }
}

/// Settings of the allocator, as far as the snapshot records them (2.3+).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The last settings text.
    pub conf: String,
    pub expandable_segments: bool,
}

/// A scope that the program marked with `record_function`, such as `Optimizer.step#AdamW.step`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    pub name: String,
    pub starts: bool,
    pub device: u32,
    pub time_us: u64,
}

/// A snapshot in compact form.
pub struct Snapshot {
    pub encoding: Encoding,
    pub generation: Generation,
    /// Those with segments or a trace, by ordinal.
    pub devices: Vec<Device>,
    pub settings: Option<Settings>,
    pub annotations: Vec<Annotation>,
    pub strings: Strings,
    pub frames: Vec<store::Frame>,
    pub stacks: Stacks,
}

impl Snapshot {
    /// File, line and function of each frame of a stack, innermost first.
    pub fn frames_of(&self, stack: u32) -> impl Iterator<Item = (&str, u32, &str)> {
        let frames = self.stacks.get(stack).iter().filter_map(|frame| self.frames.get(*frame as usize));
        frames.map(|frame| (self.strings.get(frame.file), frame.line, self.strings.get(frame.name)))
    }
}

fn no_snapshot(en: &str, zh: &str) -> SnapshotError {
    SnapshotError { offset: None, text: Text::new(en, zh) }
}

/// Makes a snapshot of the objects of a file.
pub(super) fn assemble(mut store: Store, root: Value, encoding: Encoding) -> Result<Snapshot, SnapshotError> {
    let is_list = matches!(root, Value::List(_));
    let segments = if is_list { Some(root) } else { store.lookup(root, name::SEGMENTS) };
    let traces = store.lookup(root, name::DEVICE_TRACES);
    if segments.is_none() && traces.is_none() {
        return Err(no_snapshot(
            "holds no memory snapshot: neither segments nor device_traces in it. Snapshots come from \
             torch.cuda.memory._dump_snapshot() or torch.cuda.memory_snapshot()",
            "不含显存快照：没有 segments 也没有 device_traces。快照由 torch.cuda.memory._dump_snapshot() 或 \
             torch.cuda.memory_snapshot() 生成",
        ));
    }
    let settings = store.lookup(root, name::ALLOCATOR_SETTINGS);
    let annotated = store.lookup(root, name::EXTERNAL_ANNOTATIONS);
    let host = store.lookup(root, name::HOST_SEGMENTS).or(store.lookup(root, name::HOST_TRACES)).is_some();
    let mut devices: BTreeMap<u32, Device> = BTreeMap::new();
    if let Some(list) = segments {
        take_segments(&mut store, list, &mut devices)?;
    }
    let recorded = !store.events.is_empty();
    if let Some(list) = traces {
        take_traces(&mut store, list, &mut devices)?;
    }
    let generation = generation(store.seen, !is_list, recorded, settings.is_some(), annotated.is_some(), host);
    let settings = settings.map(|dict| Settings {
        conf: match store.lookup(dict, name::CONF) {
            Some(Value::Str(conf)) => store.strings.get(conf).to_string(),
            _ => String::new(),
        },
        expandable_segments: store.lookup(dict, name::EXPANDABLE_SEGMENTS) == Some(Value::Bool(true)),
    });
    let annotations = store
        .annotations
        .iter()
        .map(|raw| Annotation {
            name: store.strings.get(raw.name).to_string(),
            starts: raw.stage == name::START,
            device: raw.device,
            time_us: raw.time_us,
        })
        .collect();
    Ok(Snapshot {
        encoding,
        generation,
        devices: devices.into_values().filter(|d| !d.segments.is_empty() || !d.trace.is_empty()).collect(),
        settings,
        annotations,
        strings: store.strings,
        frames: store.frames,
        stacks: store.stacks,
    })
}

fn take_segments(store: &mut Store, list: Value, devices: &mut BTreeMap<u32, Device>) -> Result<(), SnapshotError> {
    let mut used = std::collections::HashSet::new();
    for item in store.items(list).to_vec() {
        let Some(Dict::Segment(index)) = store.settle(item)? else {
            return Err(no_snapshot("an entry of `segments` is no segment", "`segments` 中有非 segment 的条目"));
        };
        let Some(raw) = store.segments.get(index as usize).copied() else { continue };
        // One list of blocks behind many segments is no snapshot; it would multiply.
        if raw.blocks != NONE && !store.items(Value::List(raw.blocks)).is_empty() && !used.insert(raw.blocks) {
            return Err(no_snapshot("two segments share their blocks", "两个 segment 共用同一组 block"));
        }
        let mut segment = Segment {
            address: raw.address,
            size: raw.size,
            allocated: 0,
            stream: raw.stream,
            small: raw.kind == name::SMALL,
            pool: raw.pool,
            expandable: raw.expandable,
            stack: store.stack(raw.frames)?,
            blocks: Vec::new(),
        };
        let mut address = raw.address;
        for item in store.items(Value::List(raw.blocks)).to_vec() {
            let Some(Dict::Block(index)) = store.settle(item)? else {
                return Err(no_snapshot("an entry of `blocks` is no block", "`blocks` 中有非 block 的条目"));
            };
            let Some(raw) = store.blocks.get(index as usize).copied() else { continue };
            // 1.13 and 2.0 kept the stack in a history, newest first, and no address.
            let newest = store.items(Value::List(raw.history)).first().copied();
            let past = |key| newest.and_then(|entry| store.lookup(entry, key));
            let real_size = past(name::REAL_SIZE).and_then(Value::unsigned);
            let past_frames = past(name::FRAMES);
            let state = match raw.state {
                name::ACTIVE_ALLOCATED => BlockState::Allocated,
                name::INACTIVE => BlockState::Inactive,
                _ => BlockState::PendingFree,
            };
            let frames = match past_frames {
                Some(Value::List(list)) if raw.frames == NONE && state != BlockState::Inactive => list,
                _ => raw.frames,
            };
            let at = raw.address.unwrap_or(address);
            segment.blocks.push(Block {
                address: at,
                size: raw.size,
                requested: raw.requested.or(real_size).unwrap_or(raw.size).min(raw.size.max(1)),
                state,
                stack: store.stack(frames)?,
            });
            address = at.wrapping_add(raw.size);
        }
        let allocated = segment.blocks.iter().filter(|block| block.state == BlockState::Allocated);
        segment.allocated =
            raw.allocated.unwrap_or_else(|| allocated.map(|block| block.size).fold(0, u64::saturating_add));
        devices
            .entry(raw.device)
            .or_insert_with(|| Device { ordinal: raw.device, ..Device::default() })
            .segments
            .push(segment);
    }
    for device in devices.values_mut() {
        device.segments.sort_by_key(|segment| segment.address);
        let untiled = device.segments.iter().filter(|segment| !tiles(segment)).count();
        if untiled > 0 {
            device.notes.push(text!(
                en: "the blocks of {untiled} segments do not add up to their segment: figures on fragmentation are \
                     rough",
                zh: "有 {untiled} 个 segment 的 block 与其大小不符：碎片化数字仅供参考"
            ));
        }
    }
    Ok(())
}

fn tiles(segment: &Segment) -> bool {
    let mut at = segment.address;
    for block in &segment.blocks {
        if block.address != at {
            return false;
        }
        at = at.wrapping_add(block.size);
    }
    at == segment.address.wrapping_add(segment.size)
}

fn take_traces(store: &mut Store, list: Value, devices: &mut BTreeMap<u32, Device>) -> Result<(), SnapshotError> {
    let traces = store.items(list).to_vec();
    let mut used = std::collections::HashSet::new();
    let filled = traces.iter().filter(|trace| !store.items(**trace).is_empty()).count();
    for (ordinal, trace) in traces.into_iter().enumerate() {
        let count = store.items(trace).len();
        if count == 0 {
            continue;
        }
        if let Value::List(id) = trace
            && !used.insert(id)
        {
            return Err(no_snapshot("two devices share their trace", "两个设备共用同一 trace"));
        }
        let mut in_order = true;
        let mut indices = Vec::with_capacity(count);
        for i in 0..count {
            let Some(&item) = store.items(trace).get(i) else { break };
            let Some(Dict::Event(index)) = store.settle(item)? else {
                return Err(no_snapshot("an entry of `device_traces` is no event", "`device_traces` 中有非事件条目"));
            };
            in_order &= index as usize == i;
            indices.push(index);
        }
        // The usual file has one device whose events were read in their order: they need not be copied.
        let mut events = if filled == 1 && in_order && indices.len() == store.events.len() {
            std::mem::take(&mut store.events)
        } else {
            indices.iter().filter_map(|index| store.events.get(*index as usize)).copied().collect()
        };
        drop(indices);
        for event in &mut events {
            if event.stack != NONE {
                event.stack = store.stack(event.stack)?;
            }
        }
        let ordinal = u32::try_from(ordinal).unwrap_or(NONE);
        let device = devices.entry(ordinal).or_insert_with(|| Device { ordinal, ..Device::default() });
        let unknown = events.iter().filter(|event| event.action == Action::Other).count();
        if unknown > 0 {
            device.notes.push(text!(
                en: "{unknown} trace entries of a kind that this version does not know were passed over",
                zh: "跳过了 {unknown} 条本版本不认识的 trace 记录"
            ));
        }
        put_in_order(&mut events, &mut device.notes);
        device.trace = events;
    }
    Ok(())
}

/// A recording that was restarted with a smaller ring keeps the old, longer one and overwrites it from its start
/// (2.3+): the newest entries then come first.
fn put_in_order(events: &mut [Event], notes: &mut Vec<Text>) {
    /// Ties and jitter of the calibrated tick counter stay far below this.
    const STEP_US: u64 = 1_000_000;
    let mut breaks = events
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[1].time_us != 0 && pair[0].time_us > pair[1].time_us.saturating_add(STEP_US));
    let (first, more) = (breaks.next().map(|(i, _)| i), breaks.next().is_some());
    match first {
        Some(i) if !more => {
            events.rotate_left(i + 1);
            notes.push(Text::new(
                "recording was restarted with a smaller ring: the entries were put back in order of time, some between \
                 are lost",
                "记录曾以更小的缓冲区重新开始：已按时间恢复顺序，中间有记录丢失",
            ));
        }
        Some(_) => notes.push(Text::new(
            "the times of the trace jump backwards more than once: its order cannot be trusted",
            "trace 的时间多次倒退：其顺序不可信",
        )),
        None => {}
    }
}

/// The versions that write these keys.
fn generation(
    seen: KeysSeen,
    is_dict: bool,
    recorded: bool,
    settings: bool,
    annotations: bool,
    host: bool,
) -> Generation {
    // Whether the key is there, whether it could be in a file like this one, and the first version that writes it.
    let marks = [
        (host, false, (2, 14)),
        (seen.trace_pool, recorded, (2, 12)),
        (seen.user_metadata, recorded, (2, 10)),
        (seen.compile_context, recorded, (2, 8)),
        (annotations, is_dict, (2, 5)),
        (settings, is_dict, (2, 3)),
        (seen.time, recorded, (2, 2)),
        (seen.block_frames, true, (2, 1)),
        (is_dict || seen.requested_size, true, (2, 0)),
    ];
    let newest = marks.iter().position(|(present, _, _)| *present).unwrap_or(marks.len());
    let from = marks.get(newest).map_or((1, 13), |mark| mark.2);
    let missing = marks.iter().take(newest).rev().find(|(_, possible, _)| *possible);
    let to = missing.map(|(_, _, (major, minor))| if *minor == 0 { (1, 13) } else { (*major, minor - 1) });
    Generation { from, to }
}
