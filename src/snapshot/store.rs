//! The objects of a snapshot while it is read, kept small: the dictionaries that come by the million (trace entries,
//! blocks, stack frames) become records as soon as they are complete, equal stacks and strings are kept once.
//!
//! Nothing here follows references deeper than one level, so that shared and self-containing objects cost nothing.

use super::SnapshotError;
use crate::text::Text;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A value as it lies on the stack of the reader. Containers are indices into the [`Store`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// An integer from 2^63 to 2^64 - 1.
    Wide(u64),
    Float(f64),
    Str(u32),
    List(u32),
    Dict(u32),
    /// A tuple of two small integers: the id of a memory pool.
    Pair(u32, u32),
}

impl Value {
    /// The value as a count or size. `None` for anything that is no whole number from 0.
    pub fn unsigned(self) -> Option<u64> {
        match self {
            Value::Int(n) => u64::try_from(n).ok(),
            Value::Wide(n) => Some(n),
            // JSON writers turn integers into floats; 2^53 bytes are far beyond any device.
            Value::Float(x) if x >= 0.0 && x <= (1u64 << 53) as f64 && x.fract() == 0.0 => Some(x as u64),
            _ => None,
        }
    }

    /// The value as a pointer or handle: writers that know only signed numbers let those above 2^63 turn negative.
    pub fn pointer(self) -> Option<u64> {
        match self {
            Value::Int(n) => Some(n as u64),
            other => other.unsigned(),
        }
    }
}

macro_rules! names {
    ($($constant:ident $text:literal)+) => {
        /// Strings that mean something here, by the index that they have in every [`Store`].
        pub mod name {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "only its discriminants are used")]
            enum Index { $($constant),+ }
            $(pub const $constant: u32 = Index::$constant as u32;)+
            pub const ALL: &[&str] = &[$($text),+];
        }
    };
}

names! {
    ACTION "action" ADDR "addr" SIZE "size" STREAM "stream" FRAMES "frames" TIME_US "time_us" DEVICE_FREE "device_free"
    COMPILE_CONTEXT "compile_context" USER_METADATA "user_metadata" POOL_ID "pool_id"
    ADDRESS "address" STATE "state" REQUESTED_SIZE "requested_size" HISTORY "history" REAL_SIZE "real_size"
    TOTAL_SIZE "total_size" ALLOCATED_SIZE "allocated_size" DEVICE "device" SEGMENT_TYPE "segment_type"
    SEGMENT_POOL_ID "segment_pool_id"
    IS_EXPANDABLE "is_expandable" BLOCKS "blocks"
    FILENAME "filename" LINE "line" NAME "name"
    STAGE "stage" START "START"
    SEGMENTS "segments" DEVICE_TRACES "device_traces" ALLOCATOR_SETTINGS "allocator_settings"
    EXTERNAL_ANNOTATIONS "external_annotations" HOST_SEGMENTS "host_segments" HOST_TRACES "host_traces"
    CONF "PYTORCH_CUDA_ALLOC_CONF" EXPANDABLE_SEGMENTS "expandable_segments"
    SMALL "small" INACTIVE "inactive" ACTIVE_ALLOCATED "active_allocated"
    ALLOC "alloc" FREE "free" FREE_REQUESTED "free_requested" FREE_COMPLETED "free_completed"
    SEGMENT_ALLOC "segment_alloc" SEGMENT_FREE "segment_free" SEGMENT_MAP "segment_map" SEGMENT_UNMAP "segment_unmap"
    OOM "oom" SNAPSHOT "snapshot" ANNOTATE "annotate"
}

/// Stands for "none" where an index is kept in 32 bits.
pub const NONE: u32 = u32::MAX;

/// Hashes keys that are numbers already. Seeded per process, so that no file can be made to collide.
#[derive(Clone)]
pub struct NumberHash(u64);

impl Default for NumberHash {
    fn default() -> NumberHash {
        NumberHash(RandomState::new().hash_one(0u8) | 1)
    }
}

impl BuildHasher for NumberHash {
    type Hasher = NumberHasher;
    fn build_hasher(&self) -> NumberHasher {
        NumberHasher { seed: self.0, state: 0 }
    }
}

pub struct NumberHasher {
    seed: u64,
    state: u64,
}

impl NumberHasher {
    fn mix(&mut self, n: u64) {
        let product = u128::from(n ^ self.state ^ self.seed) * u128::from(self.seed.rotate_left(32) | 1);
        self.state = (product as u64) ^ (product >> 64) as u64;
    }
}

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word) ^ ((chunk.len() as u64) << 56));
        }
    }
    fn write_u32(&mut self, n: u32) {
        self.mix(n.into());
    }
    fn write_u64(&mut self, n: u64) {
        self.mix(n);
    }
    fn finish(&self) -> u64 {
        self.state
    }
}

/// A map whose keys are numbers or short strings.
pub type NumberMap<K, V> = HashMap<K, V, NumberHash>;

/// Every distinct string once.
pub struct Strings {
    texts: Vec<Box<str>>,
    index: NumberMap<Box<[u8]>, u32>,
}

impl Strings {
    fn new() -> Strings {
        let mut strings = Strings { texts: Vec::new(), index: NumberMap::default() };
        for name in name::ALL {
            strings.intern(name.as_bytes());
        }
        strings
    }

    pub fn intern(&mut self, bytes: &[u8]) -> u32 {
        if let Some(&id) = self.index.get(bytes) {
            return id;
        }
        let id = self.texts.len().min(NONE as usize - 1) as u32;
        self.texts.push(String::from_utf8_lossy(bytes).into());
        self.index.insert(bytes.into(), id);
        id
    }

    pub fn get(&self, id: u32) -> &str {
        self.texts.get(id as usize).map_or("", |text| text)
    }
}

/// One line of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Index of the file's name in the strings; `NONE` where absent.
    pub file: u32,
    pub name: u32,
    pub line: u32,
}

/// Every distinct stack once, its frames innermost first.
#[derive(Default)]
pub struct Stacks {
    frames: Vec<u32>,
    ends: Vec<usize>,
    index: NumberMap<u64, u32>,
    /// The next stack of the same hash.
    next: Vec<u32>,
}

impl Stacks {
    fn intern(&mut self, frames: &[u32]) -> u32 {
        let mut hasher = self.index.hasher().build_hasher();
        let pairs = frames.chunks_exact(2);
        hasher.write_u64(pairs.remainder().first().copied().unwrap_or(NONE).into());
        pairs.for_each(|pair| hasher.write_u64(u64::from(pair[0]) | u64::from(pair[1]) << 32));
        let hash = hasher.finish();
        let first = self.index.get(&hash).copied().unwrap_or(NONE);
        let mut candidate = first;
        while candidate != NONE {
            if self.get(candidate) == frames {
                return candidate;
            }
            candidate = self.next.get(candidate as usize).copied().unwrap_or(NONE);
        }
        let id = self.ends.len().min(NONE as usize - 1) as u32;
        self.frames.extend_from_slice(frames);
        self.ends.push(self.frames.len());
        self.next.push(first);
        self.index.insert(hash, id);
        id
    }

    /// The frames of a stack, innermost first; none for `NONE`.
    pub fn get(&self, id: u32) -> &[u32] {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else { return &[] };
        let start = if id == 0 { 0 } else { self.ends.get(id - 1).copied().unwrap_or(end) };
        self.frames.get(start..end).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// What a trace entry records (`TraceEntry` in PyTorch's `CUDACachingAllocator.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Action {
    Alloc,
    FreeRequested,
    FreeCompleted,
    /// Tools older than 2.0 knew one event for both.
    Free,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Oom,
    Snapshot,
    Annotate,
    /// Something that this version does not know; passed over and counted.
    Other,
}

impl Action {
    fn of(name: u32) -> Action {
        match name {
            name::ALLOC => Action::Alloc,
            name::FREE_REQUESTED => Action::FreeRequested,
            name::FREE_COMPLETED => Action::FreeCompleted,
            name::FREE => Action::Free,
            name::SEGMENT_ALLOC => Action::SegmentAlloc,
            name::SEGMENT_FREE => Action::SegmentFree,
            name::SEGMENT_MAP => Action::SegmentMap,
            name::SEGMENT_UNMAP => Action::SegmentUnmap,
            name::OOM => Action::Oom,
            name::SNAPSHOT => Action::Snapshot,
            name::ANNOTATE => Action::Annotate,
            _ => Action::Other,
        }
    }
}

/// A trace entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    pub action: Action,
    /// While reading, the list of its frames; in a [`super::Snapshot`], its stack. `NONE` without.
    pub stack: u32,
    /// The address, or the driver's free bytes of an `oom`.
    pub addr: u64,
    /// Bytes: requested, of the segment, or rounded for an `oom`.
    pub size: u64,
    /// The stream's handle, 0 the default stream.
    pub stream: u64,
    /// Unix time in microseconds, 0 where absent.
    pub time_us: u64,
    /// The memory pool, (0, 0) the default one; recorded from 2.12 on.
    pub pool: (u32, u32),
}

/// A block as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RawBlock {
    pub address: Option<u64>,
    pub size: u64,
    pub requested: Option<u64>,
    pub state: u32,
    pub frames: u32,
    pub history: u32,
}

/// A segment as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RawSegment {
    pub device: u32,
    pub address: u64,
    pub size: u64,
    pub allocated: Option<u64>,
    pub stream: u64,
    pub kind: u32,
    pub pool: (u32, u32),
    pub expandable: bool,
    pub frames: u32,
    pub blocks: u32,
}

/// A mark of `record_function` as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RawAnnotation {
    pub name: u32,
    pub stage: u32,
    pub device: u32,
    pub time_us: u64,
}

/// What a dictionary has turned out to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dict {
    Empty,
    Event(u32),
    Frame(u32),
    Block(u32),
    Segment(u32),
    Annotation(u32),
    Generic(u32),
}

/// What a list has turned out to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum List {
    Empty,
    Stack(u32),
    Generic(u32),
}

/// Which optional keys were seen: the format has no version field, they tell its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeysSeen {
    pub time: bool,
    pub compile_context: bool,
    pub user_metadata: bool,
    pub trace_pool: bool,
    pub block_frames: bool,
    pub requested_size: bool,
}

/// Everything read so far.
pub struct Store {
    pub strings: Strings,
    pub frames: Vec<Frame>,
    frame_index: NumberMap<Frame, u32>,
    pub stacks: Stacks,
    pub events: Vec<Event>,
    pub blocks: Vec<RawBlock>,
    pub segments: Vec<RawSegment>,
    pub annotations: Vec<RawAnnotation>,
    pub seen: KeysSeen,
    dicts: Vec<Dict>,
    lists: Vec<List>,
    generic_dicts: Vec<Vec<(Value, Value)>>,
    generic_lists: Vec<Vec<Value>>,
    /// The frames of the list at hand.
    scratch: Vec<u32>,
}

impl Default for Store {
    fn default() -> Store {
        Store::new()
    }
}

/// Why a dictionary cannot be taken in.
fn invalid(en: impl Into<String>, zh: impl Into<String>) -> SnapshotError {
    SnapshotError { offset: None, text: Text::new(en, zh) }
}

fn next_index(length: usize) -> Result<u32, SnapshotError> {
    u32::try_from(length)
        .ok()
        .filter(|id| *id < NONE)
        .ok_or_else(|| invalid("more than 2^32 objects", "对象超过 2^32 个"))
}

impl Store {
    pub fn new() -> Store {
        Store {
            strings: Strings::new(),
            frames: Vec::new(),
            frame_index: NumberMap::default(),
            stacks: Stacks::default(),
            events: Vec::new(),
            blocks: Vec::new(),
            segments: Vec::new(),
            annotations: Vec::new(),
            seen: KeysSeen::default(),
            dicts: Vec::new(),
            lists: Vec::new(),
            generic_dicts: Vec::new(),
            generic_lists: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// A new empty dictionary.
    pub fn dict(&mut self) -> Result<Value, SnapshotError> {
        let id = next_index(self.dicts.len())?;
        self.dicts.push(Dict::Empty);
        Ok(Value::Dict(id))
    }

    /// A new empty list.
    pub fn list(&mut self) -> Result<Value, SnapshotError> {
        let id = next_index(self.lists.len())?;
        self.lists.push(List::Empty);
        Ok(Value::List(id))
    }

    /// A tuple: two small numbers are kept in place, everything else as a list.
    pub fn tuple(&mut self, items: &[Value]) -> Result<Value, SnapshotError> {
        if let [Value::Int(a), Value::Int(b)] = items
            && let (Ok(a), Ok(b)) = (u32::try_from(*a), u32::try_from(*b))
        {
            return Ok(Value::Pair(a, b));
        }
        let list = self.list()?;
        self.extend(list, items)?;
        Ok(list)
    }

    /// Appends to a list.
    pub fn extend(&mut self, list: Value, items: &[Value]) -> Result<(), SnapshotError> {
        let Value::List(id) = list else {
            return Err(invalid("appends to something that is no list", "向非列表对象追加元素"));
        };
        let Some(state) = self.lists.get(id as usize).copied() else { return Ok(()) };
        if items.is_empty() {
            return Ok(());
        }
        let generic = match state {
            List::Generic(generic) => generic,
            List::Empty => {
                if let Some(stack) = self.stack_of(items) {
                    self.lists[id as usize] = List::Stack(stack);
                    return Ok(());
                }
                self.generic_list(id, Vec::new())?
            }
            // A stack that grows after it was complete: keep it as a plain list from here on.
            List::Stack(stack) => {
                let frames = self.stacks.get(stack).to_vec();
                let mut values = Vec::with_capacity(frames.len() + items.len());
                for frame in frames {
                    let dict = next_index(self.dicts.len())?;
                    self.dicts.push(Dict::Frame(frame));
                    values.push(Value::Dict(dict));
                }
                self.generic_list(id, values)?
            }
        };
        if let Some(values) = self.generic_lists.get_mut(generic as usize) {
            values.extend_from_slice(items);
        }
        Ok(())
    }

    fn generic_list(&mut self, id: u32, values: Vec<Value>) -> Result<u32, SnapshotError> {
        let generic = next_index(self.generic_lists.len())?;
        self.generic_lists.push(values);
        self.lists[id as usize] = List::Generic(generic);
        Ok(generic)
    }

    /// The stack that a list of frames is, if all items are frames.
    fn stack_of(&mut self, items: &[Value]) -> Option<u32> {
        self.scratch.clear();
        for item in items {
            let Value::Dict(dict) = item else { return None };
            let Some(Dict::Frame(frame)) = self.dicts.get(*dict as usize) else { return None };
            self.scratch.push(*frame);
        }
        Some(self.stacks.intern(&self.scratch))
    }

    /// Sets items of a dictionary: keys and values in turn.
    pub fn set(&mut self, dict: Value, items: &[Value]) -> Result<(), SnapshotError> {
        let Value::Dict(id) = dict else {
            return Err(invalid("sets an item of something that is no dictionary", "向非字典对象写入键值"));
        };
        let state = match self.dicts.get(id as usize).copied() {
            Some(Dict::Empty) => {
                let fresh = self.classify(items)?;
                self.dicts[id as usize] = fresh;
                fresh
            }
            Some(state) => state,
            None => return Ok(()),
        };
        let pairs = || items.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        match state {
            Dict::Empty => {}
            Dict::Event(event) => {
                for (key, value) in pairs() {
                    self.set_event(event, key, value)?;
                }
            }
            Dict::Frame(_) => {
                let mut frame = Frame { file: NONE, name: NONE, line: 0 };
                for (key, value) in pairs() {
                    match (key, value) {
                        (Value::Str(name::FILENAME), Value::Str(file)) => frame.file = file,
                        (Value::Str(name::NAME), Value::Str(text)) => frame.name = text,
                        (Value::Str(name::LINE), value) => {
                            frame.line = value.unsigned().and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
                        }
                        _ => {}
                    }
                }
                let index = match self.frame_index.get(&frame) {
                    Some(&index) => index,
                    None => {
                        let index = next_index(self.frames.len())?;
                        self.frames.push(frame);
                        self.frame_index.insert(frame, index);
                        index
                    }
                };
                self.dicts[id as usize] = Dict::Frame(index);
            }
            Dict::Block(block) => {
                for (key, value) in pairs() {
                    self.set_block(block, key, value)?;
                }
            }
            Dict::Segment(segment) => {
                for (key, value) in pairs() {
                    self.set_segment(segment, key, value)?;
                }
            }
            Dict::Annotation(annotation) => {
                let Some(record) = self.annotations.get_mut(annotation as usize) else { return Ok(()) };
                for (key, value) in pairs() {
                    match (key, value) {
                        (Value::Str(name::NAME), Value::Str(text)) => record.name = text,
                        (Value::Str(name::STAGE), Value::Str(stage)) => record.stage = stage,
                        (Value::Str(name::DEVICE), value) => record.device = small(value),
                        (Value::Str(name::TIME_US), value) => record.time_us = value.unsigned().unwrap_or(0),
                        _ => {}
                    }
                }
            }
            Dict::Generic(generic) => {
                if let Some(list) = self.generic_dicts.get_mut(generic as usize) {
                    list.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
                }
            }
        }
        Ok(())
    }

    /// What the first keys of a dictionary make of it.
    fn classify(&mut self, items: &[Value]) -> Result<Dict, SnapshotError> {
        // A lone first item says little: writers that set one item at a time are read as plain dictionaries.
        if items.len() > 2 {
            for key in items.iter().step_by(2) {
                match key {
                    Value::Str(name::ACTION) => {
                        let id = next_index(self.events.len())?;
                        self.events.push(Event {
                            action: Action::Other,
                            stack: NONE,
                            addr: 0,
                            size: 0,
                            stream: 0,
                            time_us: 0,
                            pool: (0, 0),
                        });
                        return Ok(Dict::Event(id));
                    }
                    Value::Str(name::FILENAME) => return Ok(Dict::Frame(NONE)),
                    Value::Str(name::STATE) => {
                        let id = next_index(self.blocks.len())?;
                        self.blocks.push(RawBlock {
                            address: None,
                            size: 0,
                            requested: None,
                            state: NONE,
                            frames: NONE,
                            history: NONE,
                        });
                        return Ok(Dict::Block(id));
                    }
                    Value::Str(name::TOTAL_SIZE) => {
                        let id = next_index(self.segments.len())?;
                        self.segments.push(RawSegment {
                            device: 0,
                            address: 0,
                            size: 0,
                            allocated: None,
                            stream: 0,
                            kind: NONE,
                            pool: (0, 0),
                            expandable: false,
                            frames: NONE,
                            blocks: NONE,
                        });
                        return Ok(Dict::Segment(id));
                    }
                    Value::Str(name::STAGE) => {
                        let id = next_index(self.annotations.len())?;
                        self.annotations.push(RawAnnotation { name: NONE, stage: NONE, device: 0, time_us: 0 });
                        return Ok(Dict::Annotation(id));
                    }
                    _ => {}
                }
            }
        }
        let id = next_index(self.generic_dicts.len())?;
        self.generic_dicts.push(Vec::new());
        Ok(Dict::Generic(id))
    }

    fn set_event(&mut self, event: u32, key: Value, value: Value) -> Result<(), SnapshotError> {
        let pool = self.pair(value);
        let Some(record) = self.events.get_mut(event as usize) else { return Ok(()) };
        let Value::Str(key) = key else { return Ok(()) };
        match key {
            name::ACTION => record.action = Action::of(string(value)),
            name::ADDR => record.addr = value.pointer().unwrap_or(0),
            name::DEVICE_FREE => record.addr = size(value, "device_free")?,
            name::SIZE => record.size = size(value, "size")?,
            name::STREAM => record.stream = value.pointer().unwrap_or(0),
            name::FRAMES => record.stack = list(value),
            name::TIME_US => {
                record.time_us = value.unsigned().unwrap_or(0);
                self.seen.time = true;
            }
            name::COMPILE_CONTEXT => self.seen.compile_context = true,
            name::USER_METADATA => self.seen.user_metadata = true,
            name::POOL_ID => {
                record.pool = pool;
                self.seen.trace_pool = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn set_block(&mut self, block: u32, key: Value, value: Value) -> Result<(), SnapshotError> {
        let Some(record) = self.blocks.get_mut(block as usize) else { return Ok(()) };
        let Value::Str(key) = key else { return Ok(()) };
        match key {
            name::ADDRESS | name::ADDR => record.address = value.pointer(),
            name::SIZE => record.size = size(value, "size")?,
            name::REQUESTED_SIZE => {
                record.requested = Some(size(value, "requested_size")?);
                self.seen.requested_size = true;
            }
            name::STATE => record.state = string(value),
            name::FRAMES => {
                record.frames = list(value);
                self.seen.block_frames = true;
            }
            name::HISTORY => record.history = list(value),
            _ => {}
        }
        Ok(())
    }

    fn set_segment(&mut self, segment: u32, key: Value, value: Value) -> Result<(), SnapshotError> {
        let pool = self.pair(value);
        let Some(record) = self.segments.get_mut(segment as usize) else { return Ok(()) };
        let Value::Str(key) = key else { return Ok(()) };
        match key {
            name::DEVICE => record.device = small(value),
            name::ADDRESS => record.address = value.pointer().unwrap_or(0),
            name::TOTAL_SIZE => record.size = size(value, "total_size")?,
            name::ALLOCATED_SIZE => record.allocated = Some(size(value, "allocated_size")?),
            name::STREAM => record.stream = value.pointer().unwrap_or(0),
            name::SEGMENT_TYPE => record.kind = string(value),
            name::SEGMENT_POOL_ID => record.pool = pool,
            name::IS_EXPANDABLE => record.expandable = value == Value::Bool(true),
            name::FRAMES => record.frames = list(value),
            name::BLOCKS => record.blocks = list(value),
            _ => {}
        }
        Ok(())
    }

    /// The two numbers of a tuple or list, (0, 0) for anything else.
    fn pair(&self, value: Value) -> (u32, u32) {
        match value {
            Value::Pair(a, b) => (a, b),
            Value::List(_) => match self.items(value) {
                [a, b] => (small(*a), small(*b)),
                _ => (0, 0),
            },
            _ => (0, 0),
        }
    }

    /// The items of a list, none for anything else and for a list of frames.
    pub fn items(&self, value: Value) -> &[Value] {
        match value {
            Value::List(id) => match self.lists.get(id as usize) {
                Some(List::Generic(generic)) => self.generic_lists.get(*generic as usize).map_or(&[], |list| list),
                _ => &[],
            },
            _ => &[],
        }
    }

    /// What a dictionary has become.
    pub fn dict_kind(&self, value: Value) -> Option<Dict> {
        match value {
            Value::Dict(id) => self.dicts.get(id as usize).copied(),
            _ => None,
        }
    }

    /// The pairs of a plain dictionary, in the order written, later ones hiding earlier ones.
    pub fn pairs(&self, value: Value) -> &[(Value, Value)] {
        match self.dict_kind(value) {
            Some(Dict::Generic(generic)) => self.generic_dicts.get(generic as usize).map_or(&[], |pairs| pairs),
            _ => &[],
        }
    }

    /// One value of a plain dictionary.
    pub fn lookup(&self, value: Value, key: u32) -> Option<Value> {
        self.pairs(value).iter().rev().find(|(k, _)| *k == Value::Str(key)).map(|(_, v)| *v)
    }

    /// Turns a plain dictionary that was filled one item at a time into the record that it is.
    pub fn settle(&mut self, value: Value) -> Result<Option<Dict>, SnapshotError> {
        if let (Value::Dict(id), Some(Dict::Generic(_))) = (value, self.dict_kind(value)) {
            let items: Vec<Value> = self.pairs(value).iter().flat_map(|(key, value)| [*key, *value]).collect();
            if items.len() > 2 {
                let kind = self.classify(&items)?;
                if let Dict::Generic(_) = kind {
                    self.generic_dicts.pop();
                } else {
                    self.dicts[id as usize] = kind;
                    self.set(value, &items)?;
                }
            }
        }
        Ok(self.dict_kind(value))
    }

    /// The stack of a list of frames: `NONE` for an empty or absent list, or one of anything else. Remembered, so that
    /// a list shared by many entries is gone through once.
    pub fn stack(&mut self, list: u32) -> Result<u32, SnapshotError> {
        match self.lists.get(list as usize).copied() {
            Some(List::Stack(stack)) => Ok(stack),
            Some(List::Generic(generic)) => {
                let items = self.generic_lists.get_mut(generic as usize).map(std::mem::take).unwrap_or_default();
                for item in &items {
                    self.settle(*item)?;
                }
                Ok(match self.stack_of(&items) {
                    Some(stack) => {
                        self.lists[list as usize] = List::Stack(stack);
                        stack
                    }
                    // Nothing that could be shown; emptied, so that it is not gone through again.
                    None => NONE,
                })
            }
            _ => Ok(NONE),
        }
    }
}

fn string(value: Value) -> u32 {
    match value {
        Value::Str(id) => id,
        _ => NONE,
    }
}

fn list(value: Value) -> u32 {
    match value {
        Value::List(id) => id,
        _ => NONE,
    }
}

fn small(value: Value) -> u32 {
    value.unsigned().and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

fn size(value: Value, key: &str) -> Result<u64, SnapshotError> {
    // Beyond 2^62 sums would overflow, and no device is that large.
    value.unsigned().filter(|n| *n <= 1 << 62).ok_or_else(|| {
        invalid(format!("`{key}` is not a size in bytes: {value:?}"), format!("`{key}` 不是有效的字节数：{value:?}"))
    })
}
