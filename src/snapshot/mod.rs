//! Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`, `torch.cuda.memory_snapshot`): reading them without
//! running what they hold, and what they say.
//!
//! * `pickle` and `json` read the bytes into `store`, [`model`] is the snapshot that comes of it.
//! * [`history`] walks the trace back to the state before it and finds the peaks, [`space`] plays it forward again over
//!   the memory map, [`holders`] says who held the bytes; [`trace`] makes the requests one that can be changed and run.

pub mod analysis;
pub mod diff;
pub mod history;
pub mod holders;
pub mod join;
mod json;
pub mod model;
mod outcome;
pub(crate) mod pack;
mod pickle;
pub mod pools;
pub mod predict;
pub mod space;
mod store;
pub mod trace;
pub mod what_if;

use crate::text::Text;
pub use model::{Device, Generation, Snapshot};
use std::io::Read;
pub use store::NONE;

/// Why a file is no snapshot that can be read, and where it stopped being one.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotError {
    /// Byte offset in the (unpacked) file.
    pub offset: Option<u64>,
    pub text: Text,
}

impl SnapshotError {
    /// The message with the place.
    pub fn located(&self) -> Text {
        match self.offset {
            Some(offset) => Text::new(
                format!("at byte {offset}: {}", self.text.en),
                format!("第 {offset} 字节处：{}", self.text.zh),
            ),
            None => self.text.clone(),
        }
    }
}

impl std::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.located().en)
    }
}

impl std::error::Error for SnapshotError {}

/// Reads a snapshot, whichever way it was saved: a pickle of protocol 2 to 5, or JSON.
///
/// # Errors
/// When the bytes are neither, are damaged or end early, or hold something that is no snapshot.
pub fn read(mut reader: impl Read) -> Result<Snapshot, SnapshotError> {
    let mut first = [0u8; 1];
    let mut filled = 0;
    while filled == 0 {
        match reader.read(&mut first) {
            Ok(0) => {
                let text = Text::new("the file is empty", "文件为空");
                return Err(SnapshotError { offset: None, text });
            }
            Ok(n) => filled = n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let text = crate::text!(en: "cannot be read: {error}", zh: "无法读取：{error}");
                return Err(SnapshotError { offset: None, text });
            }
        }
    }
    let whole = std::io::Cursor::new(first).chain(reader);
    match first {
        [0x80 | b'}' | b'(' | b')'] => {
            let pickle = pickle::read(whole)?;
            model::assemble(pickle.store, pickle.root, model::Encoding::Pickle(pickle.protocol))
        }
        [b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n'] => {
            let (store, root) = json::read(whole)?;
            model::assemble(store, root, model::Encoding::Json)
        }
        [b']'] => {
            let pickle = pickle::read(whole)?;
            model::assemble(pickle.store, pickle.root, model::Encoding::Pickle(pickle.protocol))
        }
        [other] => Err(SnapshotError {
            offset: Some(0),
            text: crate::text!(
                en: "no memory snapshot: it starts with byte 0x{other:02x}, neither a pickle nor JSON. Snapshots come \
                     from torch.cuda.memory._dump_snapshot()",
                zh: "不是显存快照：以字节 0x{other:02x} 开头，既非 pickle 也非 JSON。快照由 \
                     torch.cuda.memory._dump_snapshot() 生成"
            ),
        }),
    }
}

#[cfg(test)]
mod tests;
