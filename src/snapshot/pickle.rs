//! A reader of the pickles that memory snapshots are: numbers, strings, lists and dictionaries, nothing that runs.
//!
//! Protocols 2 to 5 as Python's `pickle.dump` and PyTorch's own C++ pickler write them. Whatever could call or build an
//! object is refused. There is no recursion, input is read in pieces, and memory grows with what was read, never with
//! what a length claims.

use super::SnapshotError;
use super::store::{NumberMap, Store, Value};
use crate::text;
use std::io::Read;

/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// Values that may wait on the stack however little was read, and for how many bytes of input there may be one more.
/// Python hands lists over by the thousand; PyTorch's own pickler puts a whole trace on the stack, of which an entry
/// takes fifty bytes and more. A file that does nothing but open lists took forty times its size.
const STACK_UNASKED: u64 = 1 << 20;
const BYTES_OF_VALUE: u64 = 8;

/// The input with a position that errors can name.
struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    position: usize,
    end: usize,
    /// Offset of the buffer's start in the input.
    base: u64,
}

impl<R: Read> Input<R> {
    fn new(reader: R) -> Input<R> {
        Input { reader, buffer: vec![0; BUFFER], position: 0, end: 0, base: 0 }
    }

    fn offset(&self) -> u64 {
        self.base + self.position as u64
    }

    /// Makes `n` bytes (at most the buffer) available, or fails at the end of the input.
    #[cold]
    fn refill(&mut self, n: usize) -> Result<(), SnapshotError> {
        self.buffer.copy_within(self.position..self.end, 0);
        self.base += self.position as u64;
        self.end -= self.position;
        self.position = 0;
        while self.end < n {
            let free = &mut self.buffer[self.end..];
            match self.reader.read(free) {
                Ok(0) => {
                    let at = self.base + self.end as u64;
                    return Err(SnapshotError {
                        offset: Some(at),
                        text: text!(
                            en: "the file ends in the middle of the snapshot, after {at} bytes: fetch or copy it \
                                 again, or dump a new one",
                            zh: "文件在快照中途结束（共 {at} 字节）：请重新复制，或重新导出快照"
                        ),
                    });
                }
                Ok(read) => self.end += read.min(free.len()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(SnapshotError {
                        offset: Some(self.base + self.end as u64),
                        text: text!(en: "cannot be read on: {error}", zh: "读取中断：{error}"),
                    });
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        if self.end - self.position < N {
            self.refill(N)?;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.buffer[self.position..self.position + N]);
        self.position += N;
        Ok(bytes)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, SnapshotError> {
        Ok(self.take::<1>()?[0])
    }

    /// Reads `length` bytes and hands them over: from the buffer where they fit, else gathered as they arrive.
    fn bytes<T>(&mut self, length: u64, take: impl FnOnce(&[u8]) -> T) -> Result<T, SnapshotError> {
        if length <= BUFFER as u64 {
            let length = length as usize;
            if self.end - self.position < length {
                self.refill(length)?;
            }
            let slice = &self.buffer[self.position..self.position + length];
            let out = take(slice);
            self.position += length;
            return Ok(out);
        }
        let mut gathered = Vec::new();
        let mut left = length;
        while left > 0 {
            if self.position == self.end {
                self.refill(1)?;
            }
            let piece = (self.end - self.position).min(usize::try_from(left).unwrap_or(usize::MAX));
            gathered.extend_from_slice(&self.buffer[self.position..self.position + piece]);
            self.position += piece;
            left -= piece as u64;
        }
        Ok(take(&gathered))
    }
}

/// What was read: the objects and which of them is the whole.
pub struct Pickle {
    pub store: Store,
    pub root: Value,
    pub protocol: u8,
}

/// Reads one pickled object. Bytes after it are not looked at.
///
/// # Errors
/// With the byte offset: on opcodes that no snapshot has, on references to nothing, on sizes that are none, and where
/// the input ends early.
pub fn read(reader: impl Read) -> Result<Pickle, SnapshotError> {
    let mut machine = Machine {
        input: Input::new(reader),
        store: Store::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
        sparse: NumberMap::default(),
        protocol: 0,
    };
    let mut at = 0;
    match machine.run(&mut at) {
        Ok(root) => Ok(Pickle { store: machine.store, root, protocol: machine.protocol }),
        Err(mut error) => {
            error.offset.get_or_insert(at);
            Err(error)
        }
    }
}

struct Machine<R> {
    input: Input<R>,
    store: Store,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: Vec<Value>,
    /// Memo entries that were not numbered in order: an index says nothing about how many there are.
    sparse: NumberMap<u32, Value>,
    protocol: u8,
}

fn malformed() -> SnapshotError {
    SnapshotError {
        offset: None,
        text: text!(
            en: "the pickle is damaged here: fetch or copy the file again, or dump a new snapshot",
            zh: "pickle 数据在此处损坏：请重新复制文件，或重新导出快照"
        ),
    }
}

impl<R: Read> Machine<R> {
    fn run(&mut self, at: &mut u64) -> Result<Value, SnapshotError> {
        loop {
            *at = self.input.offset();
            if self.stack.len().max(self.marks.len()) as u64 > STACK_UNASKED + *at / BYTES_OF_VALUE {
                return Err(malformed());
            }
            let opcode = self.input.byte()?;
            match opcode {
                // BINGET, LONG_BINGET
                b'h' => {
                    let index = u32::from(self.input.byte()?);
                    self.get(index)?;
                }
                b'j' => {
                    let index = u32::from_le_bytes(self.input.take()?);
                    self.get(index)?;
                    self.get_run();
                }
                // MEMOIZE, BINPUT, LONG_BINPUT
                0x94 => {
                    let value = self.top()?;
                    self.memo.push(value);
                }
                b'q' => {
                    let index = u32::from(self.input.byte()?);
                    self.put(index)?;
                }
                b'r' => {
                    let index = u32::from_le_bytes(self.input.take()?);
                    self.put(index)?;
                }
                // BININT1, BININT2, BININT, LONG1, LONG4
                b'K' => {
                    let n = self.input.byte()?;
                    self.stack.push(Value::Int(n.into()));
                }
                b'M' => {
                    let n = u16::from_le_bytes(self.input.take()?);
                    self.stack.push(Value::Int(n.into()));
                }
                b'J' => {
                    let n = i32::from_le_bytes(self.input.take()?);
                    self.stack.push(Value::Int(n.into()));
                }
                0x8a => {
                    let length = self.input.byte()?;
                    let value = self.input.bytes(length.into(), long)?;
                    self.stack.push(value.ok_or_else(malformed)?);
                }
                0x8b => {
                    let length = u32::from_le_bytes(self.input.take()?);
                    let value = if length <= 16 { self.input.bytes(length.into(), long)? } else { None };
                    self.stack.push(value.ok_or_else(malformed)?);
                }
                // BINFLOAT
                b'G' => {
                    let x = f64::from_be_bytes(self.input.take()?);
                    self.stack.push(Value::Float(x));
                }
                // NONE, NEWTRUE, NEWFALSE
                b'N' => self.stack.push(Value::None),
                0x88 => self.stack.push(Value::Bool(true)),
                0x89 => self.stack.push(Value::Bool(false)),
                // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
                0x8c => {
                    let length = self.input.byte()?;
                    self.string(length.into())?;
                }
                b'X' => {
                    let length = u32::from_le_bytes(self.input.take()?);
                    self.string(length.into())?;
                }
                0x8d => {
                    let length = u64::from_le_bytes(self.input.take()?);
                    self.string(length)?;
                }
                // MARK
                b'(' => self.marks.push(self.stack.len()),
                // EMPTY_DICT, EMPTY_LIST, EMPTY_TUPLE
                b'}' => {
                    let dict = self.store.dict()?;
                    self.stack.push(dict);
                }
                b']' => {
                    let list = self.store.list()?;
                    self.stack.push(list);
                }
                b')' => {
                    let tuple = self.store.tuple(&[])?;
                    self.stack.push(tuple);
                }
                // APPENDS, APPEND
                b'e' => {
                    let mark = self.mark()?;
                    let list = self.before(mark)?;
                    self.store.extend(list, &self.stack[mark..])?;
                    self.stack.truncate(mark);
                }
                b'a' => {
                    let mark = self.stack.len().checked_sub(1).ok_or_else(malformed)?;
                    let list = self.before(mark)?;
                    self.store.extend(list, &self.stack[mark..])?;
                    self.stack.truncate(mark);
                }
                // SETITEMS, SETITEM
                b'u' => {
                    let mark = self.mark()?;
                    self.set(mark)?;
                }
                b's' => {
                    let mark = self.stack.len().checked_sub(2).ok_or_else(malformed)?;
                    self.set(mark)?;
                }
                // TUPLE1, TUPLE2, TUPLE3, TUPLE, LIST, DICT
                0x85..=0x87 => {
                    let count = usize::from(opcode - 0x84);
                    let mark = self.stack.len().checked_sub(count).ok_or_else(malformed)?;
                    self.tuple(mark)?;
                }
                b't' => {
                    let mark = self.mark()?;
                    self.tuple(mark)?;
                }
                b'l' => {
                    let mark = self.mark()?;
                    let list = self.store.list()?;
                    self.store.extend(list, &self.stack[mark..])?;
                    self.stack.truncate(mark);
                    self.stack.push(list);
                }
                b'd' => {
                    let mark = self.mark()?;
                    let dict = self.store.dict()?;
                    self.stack.insert(mark, dict);
                    self.set(mark + 1)?;
                }
                // POP, POP_MARK
                b'0' => {
                    let length = self.stack.len().checked_sub(1).ok_or_else(malformed)?;
                    if self.marks.last().is_some_and(|mark| *mark > length) {
                        return Err(malformed());
                    }
                    self.stack.truncate(length);
                }
                b'1' => {
                    let mark = self.mark()?;
                    self.stack.truncate(mark);
                }
                // PROTO
                0x80 => {
                    self.protocol = self.input.byte()?;
                    if !(2..=5).contains(&self.protocol) {
                        let protocol = self.protocol;
                        return Err(SnapshotError {
                            offset: None,
                            text: text!(
                                en: "pickle protocol {protocol}; memory snapshots are written in 2 to 5",
                                zh: "pickle 协议版本 {protocol}；显存快照使用 2 到 5"
                            ),
                        });
                    }
                }
                // FRAME: only says how much could be read ahead.
                0x95 => {
                    let _: [u8; 8] = self.input.take()?;
                }
                // STOP
                b'.' => return self.top(),
                other => return Err(refused(other)),
            }
        }
    }

    #[inline(always)]
    fn get(&mut self, index: u32) -> Result<(), SnapshotError> {
        let value = match self.memo.get(index as usize) {
            Some(value) => *value,
            None => *self.sparse.get(&index).ok_or_else(malformed)?,
        };
        self.stack.push(value);
        Ok(())
    }

    /// Takes the LONG_BINGETs that follow in the buffer. A stack is a list of dozens of them, and stacks are most of a
    /// snapshot.
    #[inline]
    fn get_run(&mut self) {
        let Some(rest) = self.input.buffer.get(self.input.position..self.input.end) else { return };
        let mut taken = 0;
        for instruction in rest.chunks_exact(5) {
            let [b'j', a, b, c, d] = *instruction else { break };
            let Some(value) = self.memo.get(u32::from_le_bytes([a, b, c, d]) as usize) else { break };
            self.stack.push(*value);
            taken += instruction.len();
        }
        self.input.position += taken;
    }

    fn put(&mut self, index: u32) -> Result<(), SnapshotError> {
        let value = self.top()?;
        let known = self.memo.len();
        match self.memo.get_mut(index as usize) {
            Some(slot) => *slot = value,
            None if index as usize == known => self.memo.push(value),
            None => {
                self.sparse.insert(index, value);
            }
        }
        Ok(())
    }

    fn top(&self) -> Result<Value, SnapshotError> {
        self.stack.last().copied().ok_or_else(malformed)
    }

    /// The latest mark, taken off.
    #[inline]
    fn mark(&mut self) -> Result<usize, SnapshotError> {
        self.marks.pop().filter(|mark| *mark <= self.stack.len()).ok_or_else(malformed)
    }

    /// The value below a position: what items are added to. Not beyond the next mark.
    #[inline]
    fn before(&self, position: usize) -> Result<Value, SnapshotError> {
        if self.marks.last().is_some_and(|mark| *mark >= position) {
            return Err(malformed());
        }
        position.checked_sub(1).and_then(|below| self.stack.get(below)).copied().ok_or_else(malformed)
    }

    fn set(&mut self, mark: usize) -> Result<(), SnapshotError> {
        let dict = self.before(mark)?;
        let items = self.stack.get(mark..).ok_or_else(malformed)?;
        if items.len() % 2 != 0 {
            return Err(malformed());
        }
        self.store.set(dict, items)?;
        self.stack.truncate(mark);
        Ok(())
    }

    fn tuple(&mut self, mark: usize) -> Result<(), SnapshotError> {
        if self.marks.last().is_some_and(|open| *open > mark) {
            return Err(malformed());
        }
        let tuple = self.store.tuple(self.stack.get(mark..).ok_or_else(malformed)?)?;
        self.stack.truncate(mark);
        self.stack.push(tuple);
        Ok(())
    }

    fn string(&mut self, length: u64) -> Result<(), SnapshotError> {
        let strings = &mut self.store.strings;
        let id = self.input.bytes(length, |bytes| strings.intern(bytes))?;
        self.stack.push(Value::Str(id));
        Ok(())
    }
}

/// A little-endian two's complement number. `None` where it fits neither a signed nor an unsigned 64 bit number.
fn long(bytes: &[u8]) -> Option<Value> {
    let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let n = i128::from_le_bytes(wide);
    i64::try_from(n).map(Value::Int).or_else(|_| u64::try_from(n).map(Value::Wide)).ok()
}

fn refused(opcode: u8) -> SnapshotError {
    let known = match opcode {
        b'c' | 0x93 => "GLOBAL",
        b'R' => "REDUCE",
        b'b' => "BUILD",
        0x81 | 0x92 => "NEWOBJ",
        b'i' | b'o' => "INST",
        0x82..=0x84 => "EXT",
        b'P' | b'Q' => "PERSID",
        _ => "",
    };
    let text = if known.is_empty() {
        text!(
            en: "byte 0x{opcode:02x} is no part of a pickled memory snapshot: is the file damaged, or something else?",
            zh: "字节 0x{opcode:02x} 不属于 pickle 格式的显存快照：文件可能损坏，或不是快照"
        )
    } else {
        text!(
            en: "the pickle wants to run code ({known}); no memory snapshot does, so it is refused. Is it a \
                 checkpoint? Snapshots come from torch.cuda.memory._dump_snapshot()",
            zh: "该 pickle 要求执行代码（{known}），显存快照不会这样，因此拒绝读取。它是模型检查点吗？快照由 \
                 torch.cuda.memory._dump_snapshot() 生成"
        )
    };
    SnapshotError { offset: None, text }
}
