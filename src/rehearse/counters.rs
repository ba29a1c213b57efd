//! The file in which the simulated device keeps its figures, one per process that used it.
//!
//! The simulated runtime maps the file and counts in it, so that it is right up to the last call even where the process
//! is killed; the launcher reads it afterwards. Both include this file. The format is a table of little-endian 64-bit
//! words, followed by the names of entry points that were asked for and are not simulated, one a line.

/// The first word: says what the file is and which layout it has.
pub const MAGIC: u64 = u64::from_le_bytes(*b"OOMSIM\x01\0");
/// Devices that the table has room for.
pub const DEVICES: usize = 16;
/// Where the words of the process are.
pub const PID: usize = 1;
/// Kernels launched, those of replayed graphs not counted.
pub const LAUNCHES: usize = 2;
/// Copies to the host of device memory of which at least a part was never written by the host.
pub const UNKNOWN_READS: usize = 3;
/// Page-locked host bytes now, and the most there ever were.
pub const PINNED: usize = 4;
pub const PINNED_PEAK: usize = 5;
/// Managed (unified) bytes now; they are in host memory here and not in a device's account.
pub const MANAGED: usize = 6;
/// The device address at which the program itself read or wrote, which no real host could do either; 0: none.
pub const HOST_TOUCH: usize = 7;
/// The length of the names in bytes.
pub const NAMES: usize = 8;
/// The first word of a device's row.
pub const ROWS: usize = 16;
/// The words of a row: bytes in use and their peak, requests refused, requests served.
pub const USED: usize = 0;
pub const PEAK: usize = 1;
pub const REFUSED: usize = 2;
pub const SERVED: usize = 3;
/// Words a row takes.
pub const ROW: usize = 8;
/// Words of the table.
pub const WORDS: usize = ROWS + DEVICES * ROW;
/// Bytes kept for the names.
pub const NAMES_ROOM: usize = 4096;
/// Length of the file in bytes.
pub const LENGTH: usize = WORDS * 8 + NAMES_ROOM;
