//! A stand-in for libcuda: one device of simulated memory, steered by the environment variable `FAKE_CUDA`.
//!
//! The tests compile this file by itself (`rustc --crate-type cdylib`, no crates) to `libcuda.so.1` and let the real
//! binary find it through LD_LIBRARY_PATH. Kernels are not pretended: `cuLaunchKernel` interprets the PTX that was
//! loaded.
//!
//! `FAKE_CUDA` holds words separated by blanks:
//!
//! | word | meaning |
//! | --- | --- |
//! | `total=MIB` | device memory, 8192 unless said |
//! | `others=MIB` | held by other processes |
//! | `context=MIB` | cost of the context, 400 unless said |
//! | `arrive=N:MIB` | with the Nth call, another process takes this much |
//! | `uuid=DIGITS` | the first four digits of the UUID, 1011 unless said |
//! | `single=MIB` | physical fragmentation: no single allocation above this |
//! | `fail=SYMBOL:CODE` | this call returns this code |
//! | `fail=SYMBOL:CODE:N` | ... from its Nth time on |
//! | `hang=SYMBOL` | this call never returns |
//! | `crash=SYMBOL` | this call kills the process by a signal |
//! | `flip=WORD:BITS` | a faulty cell: this word of the first buffer reads back with these bits (hexadecimal) wrong |
//! | `integrated` `coherent` `novmm` | attributes |
//! | `noise` | the library prints to standard output, as some do |
//! | `lowest=FILE` | the least that was ever free, in bytes, written when the context goes |
//! | `log=FILE` | every call's name, one a line |
//!
//! Missing symbols cannot be steered at run time: the test compiles with `--cfg missing`, which leaves out virtual
//! memory.

#![allow(non_snake_case, clippy::missing_safety_doc, clippy::not_unsafe_ptr_arg_deref)]

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 2 * MIB;
/// Bytes per second that the simulated device moves.
const RATE: f64 = 1.6e12;

struct Device {
    total: u64,
    used: u64,
    most_used: u64,
    context: u64,
    single: u64,
    next: u64,
    /// Plain allocations by address.
    blocks: BTreeMap<u64, u64>,
    /// Small allocations share pages: bytes used of the page being filled.
    handles: HashMap<u64, u64>,
    ranges: BTreeMap<u64, u64>,
    /// Mapped pieces: address → (bytes, handle, accessible).
    mapped: BTreeMap<u64, (u64, u64, bool)>,
    /// Contents, by 64 KiB piece of the address space; created at the first store.
    memory: HashMap<u64, Box<[u64; 8192]>>,
    modules: HashMap<u64, Vec<Program>>,
    /// Simulated seconds.
    clock: f64,
    events: HashMap<u64, f64>,
    calls: HashMap<String, u64>,
    all_calls: u64,
    flip: Option<(u64, u64)>,
    retained: bool,
}

fn setting(name: &str) -> Option<String> {
    let all = std::env::var("FAKE_CUDA").unwrap_or_default();
    all.split_whitespace().find_map(|word| match word.split_once('=') {
        Some((key, value)) if key == name => Some(value.to_string()),
        None if word == name => Some(String::new()),
        _ => None,
    })
}

fn settings(name: &str) -> Vec<String> {
    let all = std::env::var("FAKE_CUDA").unwrap_or_default();
    all.split_whitespace().filter_map(|word| word.strip_prefix(&format!("{name}=")).map(str::to_string)).collect()
}

fn mebibytes(name: &str, default: u64) -> u64 {
    setting(name).and_then(|text| text.parse().ok()).unwrap_or(default) * MIB
}

fn device() -> MutexGuard<'static, Device> {
    static DEVICE: OnceLock<Mutex<Device>> = OnceLock::new();
    DEVICE
        .get_or_init(|| {
            let flip = setting("flip").map(|text| {
                let (word, bits) = text.split_once(':').expect("flip=WORD:BITS");
                (word.parse().expect("a number"), u64::from_str_radix(bits, 16).expect("hexadecimal"))
            });
            Mutex::new(Device {
                total: mebibytes("total", 8192),
                used: mebibytes("others", 0),
                most_used: 0,
                context: mebibytes("context", 400),
                single: mebibytes("single", 1 << 30),
                next: 0x7f00_0000_0000,
                blocks: BTreeMap::new(),
                handles: HashMap::new(),
                ranges: BTreeMap::new(),
                mapped: BTreeMap::new(),
                memory: HashMap::new(),
                modules: HashMap::new(),
                clock: 0.0,
                events: HashMap::new(),
                calls: HashMap::new(),
                all_calls: 0,
                flip,
                retained: false,
            })
        })
        .lock()
        .expect("one thread")
}

/// Counts a call and does what the settings want of it.
fn enter(name: &str) -> Result<MutexGuard<'static, Device>, c_int> {
    if let Some(file) = setting("log") {
        use std::io::Write;
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        writeln!(file.expect("the log"), "{name}").expect("the log");
    }
    if settings("hang").iter().any(|symbol| symbol == name) {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(3600));
        }
    }
    if settings("crash").iter().any(|symbol| symbol == name) {
        std::process::abort();
    }
    let mut device = device();
    device.all_calls += 1;
    for arrival in settings("arrive") {
        let (call, mib) = arrival.split_once(':').expect("arrive=N:MIB");
        if call.parse() == Ok(device.all_calls) {
            device.used += mib.parse::<u64>().expect("a number") * MIB;
        }
    }
    let count = device.calls.entry(name.to_string()).or_insert(0);
    *count += 1;
    let count = *count;
    for fault in settings("fail") {
        let parts: Vec<&str> = fault.split(':').collect();
        let from = parts.get(2).map_or(1, |text| text.parse().expect("a number"));
        if parts[0] == name && count >= from {
            return Err(parts[1].parse().expect("a code"));
        }
    }
    if name != "cuInit" && !name.starts_with("cuDevice") && name != "cuDriverGetVersion" && !device.retained {
        return Err(201);
    }
    Ok(device)
}

macro_rules! entry {
    ($name:ident($($argument:ident: $type:ty),*) $device:ident => $body:block) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            #[allow(unused_mut, unused_variables)]
            let mut $device = match enter(stringify!($name)) {
                Ok(device) => device,
                Err(code) => return code,
            };
            #[allow(unused_unsafe)]
            let outcome: Result<(), c_int> = (|| unsafe { $body; #[allow(unreachable_code)] Ok(()) })();
            match outcome { Ok(()) => 0, Err(code) => code }
        }
    };
}

entry!(cuInit(_flags: c_uint) device => {
    if setting("noise").is_some() { println!("{{\"noise\": true}} of a library\nmore of it"); }
});
entry!(cuDriverGetVersion(version: *mut c_int) device => { *version = 12080; });
entry!(cuDeviceGetCount(count: *mut c_int) device => { *count = 1; });
entry!(cuDeviceGet(handle: *mut c_int, ordinal: c_int) device => {
    if ordinal != 0 { return Err(101); }
    *handle = 0;
});
entry!(cuDeviceGetName(name: *mut c_char, length: c_int, _handle: c_int) device => {
    let text = b"Simulated GPU\0";
    if (length as usize) < text.len() { return Err(1); }
    std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
});
entry!(cuDeviceGetUuid_v2(uuid: *mut [u8; 16], _handle: c_int) device => {
    *uuid = std::array::from_fn(|i| 0x10 + i as u8);
    if let Some(digits) = setting("uuid") {
        let first = u16::from_str_radix(&digits, 16).expect("hexadecimal");
        (&mut (*uuid))[..2].copy_from_slice(&first.to_be_bytes());
    }
});
entry!(cuDeviceTotalMem_v2(bytes: *mut usize, _handle: c_int) device => { *bytes = device.total as usize; });
entry!(cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _handle: c_int) device => {
    *value = match attribute {
        16 => 4,
        18 => c_int::from(setting("integrated").is_some()),
        36 => 1_000_000,
        37 => 8192,
        38 => 4 << 20,
        75 => 9,
        76 => 0,
        100 => c_int::from(setting("coherent").is_some()),
        102 => c_int::from(setting("novmm").is_none()),
        115 => 1,
        _ => return Err(1),
    };
});
entry!(cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _handle: c_int) device => {
    if device.used + device.context > device.total { return Err(2); }
    device.used += device.context;
    device.retained = true;
    *context = 0x1000 as *mut c_void;
});
entry!(cuDevicePrimaryCtxRelease_v2(_handle: c_int) device => {
    if let Some(file) = setting("lowest") {
        std::fs::write(file, (device.total - device.most_used).to_string()).expect("the file");
    }
    device.used -= device.context;
    device.retained = false;
});
entry!(cuCtxSetCurrent(_context: *mut c_void) device => {});
entry!(cuCtxSynchronize() device => {});
entry!(cuMemGetInfo_v2(free: *mut usize, total: *mut usize) device => {
    *free = device.total.saturating_sub(device.used) as usize;
    *total = device.total as usize;
});

impl Device {
    fn place(&mut self, bytes: u64) -> u64 {
        let address = self.next;
        self.next += bytes.next_multiple_of(PAGE) + PAGE;
        address
    }

    fn take(&mut self, bytes: u64) -> Result<(), c_int> {
        let pages = bytes.next_multiple_of(PAGE);
        if bytes == 0 {
            return Err(1);
        }
        if self.used + pages > self.total {
            return Err(2);
        }
        self.used += pages;
        self.most_used = self.most_used.max(self.used);
        Ok(())
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, c_int> {
        if bytes > self.single {
            return Err(2);
        }
        self.take(bytes)?;
        let address = self.place(bytes);
        self.blocks.insert(address, bytes);
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Result<(), c_int> {
        let bytes = self.blocks.remove(&address).ok_or(1)?;
        self.used -= bytes.next_multiple_of(PAGE);
        Ok(())
    }

    /// Where the bytes at an address really are: a handle's own space for mapped addresses. `None` is an illegal
    /// address.
    fn resolve(&self, address: u64, bytes: u64) -> Option<u64> {
        if let Some((start, length)) = self.blocks.range(..=address).next_back()
            && address + bytes <= start + length
        {
            return Some(address);
        }
        let (start, (length, handle, accessible)) = self.mapped.range(..=address).next_back()?;
        (*accessible && address + bytes <= start + length).then(|| (handle << 44) + (address - start))
    }

    fn load(&self, address: u64) -> Result<u64, c_int> {
        if address % 8 != 0 {
            return Err(716);
        }
        let at = self.resolve(address, 8).ok_or(700)?;
        let word = self.memory.get(&(at >> 16)).map_or(0, |piece| piece[(at >> 3) as usize & 8191]);
        match self.flip {
            Some((index, bits)) if address == 0x7f00_0000_0000 + self.first_offset() + index * 8 => Ok(word ^ bits),
            _ => Ok(word),
        }
    }

    /// Offset of the largest plain allocation: the buffer under test, whatever was allocated before it.
    fn first_offset(&self) -> u64 {
        let largest = self.blocks.iter().max_by_key(|(_, bytes)| **bytes).map_or(0, |(address, _)| *address);
        largest.saturating_sub(0x7f00_0000_0000)
    }

    fn store(&mut self, address: u64, word: u64) -> Result<(), c_int> {
        if address % 8 != 0 {
            return Err(716);
        }
        let at = self.resolve(address, 8).ok_or(700)?;
        self.memory.entry(at >> 16).or_insert_with(|| Box::new([0; 8192]))[(at >> 3) as usize & 8191] = word;
        Ok(())
    }
}

entry!(cuMemAlloc_v2(address: *mut u64, bytes: usize) device => { *address = device.alloc(bytes as u64)?; });
entry!(cuMemFree_v2(address: u64) device => { device.free(address)?; });
entry!(cuMemAllocAsync(address: *mut u64, bytes: usize, _stream: *mut c_void) device => { *address = device.alloc(bytes as u64)?; });
entry!(cuMemFreeAsync(address: u64, _stream: *mut c_void) device => { device.free(address)?; });
entry!(cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) device => {
    for i in 0..bytes / 8 { *to.cast::<u64>().add(i) = device.load(from + 8 * i as u64)?; }
});
entry!(cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) device => {
    for i in 0..bytes / 8 { let word = *from.cast::<u64>().add(i); device.store(to + 8 * i as u64, word)?; }
});
entry!(cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) device => {
    let text = CStr::from_ptr(image.cast()).to_str().map_err(|_| 200)?;
    let programs = assemble(text).map_err(|why| { eprintln!("{why}"); 218 })?;
    let id = 0x2000 + 0x100 * device.modules.len() as u64;
    device.modules.insert(id, programs);
    *module = id as *mut c_void;
});
entry!(cuModuleUnload(_module: *mut c_void) device => {});
entry!(cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) device => {
    let name = CStr::from_ptr(name).to_str().map_err(|_| 1)?;
    let programs = device.modules.get(&(module as u64)).ok_or(400)?;
    let index = programs.iter().position(|program| program.name == name).ok_or(500)?;
    *function = (module as u64 + index as u64) as *mut c_void;
});
entry!(cuLaunchKernel(
    function: *mut c_void, blocks: c_uint, _y: c_uint, _z: c_uint, threads: c_uint, _ty: c_uint, _tz: c_uint, _shared: c_uint,
    _stream: *mut c_void, parameters: *mut *mut c_void, _extra: *mut *mut c_void
) device => {
    let function = function as u64;
    let mut programs = device.modules.remove(&(function & !0xff)).ok_or(400)?;
    let program = &programs[(function & 0xff) as usize];
    let arguments: Vec<u64> = (0..program.parameters.len()).map(|i| *(*parameters.add(i)).cast::<u64>()).collect();
    let outcome = launch(program, &mut device, u64::from(blocks), u64::from(threads), &arguments);
    device.modules.insert(function & !0xff, std::mem::take(&mut programs));
    let moved = outcome?;
    device.clock += moved as f64 / RATE + 5e-6;
});
entry!(cuEventCreate(event: *mut *mut c_void, _flags: c_uint) device => {
    let id = 0x9000 + device.events.len() as u64;
    device.events.insert(id, 0.0);
    *event = id as *mut c_void;
});
entry!(cuEventRecord(event: *mut c_void, _stream: *mut c_void) device => {
    let now = device.clock;
    device.events.insert(event as u64, now);
});
entry!(cuEventSynchronize(_event: *mut c_void) device => {});
entry!(cuEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) device => {
    *milliseconds = ((device.events[&(end as u64)] - device.events[&(start as u64)]) * 1000.0) as f32;
});
entry!(cuEventDestroy_v2(_event: *mut c_void) device => {});

#[cfg(not(missing))]
mod virtual_memory {
    use super::*;

    entry!(cuMemGetAllocationGranularity(bytes: *mut usize, _properties: *const c_void, _option: c_int) device => {
        *bytes = PAGE as usize;
    });
    entry!(cuMemCreate(handle: *mut u64, bytes: usize, _properties: *const c_void, _flags: u64) device => {
        if bytes as u64 % PAGE != 0 { return Err(1); }
        device.take(bytes as u64)?;
        let id = 1 + device.calls["cuMemCreate"];
        device.handles.insert(id, bytes as u64);
        *handle = id;
    });
    entry!(cuMemRelease(handle: u64) device => {
        if device.mapped.values().any(|(_, mapped, _)| *mapped == handle) { return Err(401); }
        let bytes = device.handles.remove(&handle).ok_or(400)?;
        device.used -= bytes;
    });
    entry!(cuMemAddressReserve(address: *mut u64, bytes: usize, _alignment: usize, _hint: u64, _flags: u64) device => {
        if bytes as u64 % PAGE != 0 || bytes == 0 { return Err(1); }
        *address = device.place(bytes as u64);
        let at = *address;
        device.ranges.insert(at, bytes as u64);
    });
    entry!(cuMemAddressFree(address: u64, bytes: usize) device => {
        if device.mapped.range(address..address + bytes as u64).next().is_some() { return Err(1); }
        if device.ranges.remove(&address) != Some(bytes as u64) { return Err(1); }
    });
    entry!(cuMemMap(address: u64, bytes: usize, _offset: usize, handle: u64, _flags: u64) device => {
        let bytes = bytes as u64;
        if device.handles.get(&handle) != Some(&bytes) { return Err(400); }
        let inside = device.ranges.range(..=address).next_back().is_some_and(|(start, length)| address + bytes <= start + length);
        let before = device.mapped.range(..address).next_back().is_some_and(|(start, (length, ..))| start + length > address);
        if !inside || before || device.mapped.range(address..address + bytes).next().is_some() { return Err(1); }
        device.mapped.insert(address, (bytes, handle, false));
    });
    entry!(cuMemUnmap(address: u64, bytes: usize) device => {
        match device.mapped.remove(&address) {
            Some((length, ..)) if length == bytes as u64 => {}
            _ => return Err(1),
        }
    });
    entry!(cuMemSetAccess(address: u64, bytes: usize, _access: *const c_void, _count: usize) device => {
        let mut covered = address;
        for (start, (length, _, accessible)) in device.mapped.range_mut(address..address + bytes as u64) {
            if *start != covered { return Err(1); }
            *accessible = true;
            covered = start + *length;
        }
        if covered != address + bytes as u64 { return Err(1); }
    });
}

// ---- The interpreter -------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, Copy)]
enum Source {
    Register(usize),
    Value(u64),
    Block,
    Threads,
    Thread,
    Blocks,
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Move(usize, Source),
    Parameter(usize, usize),
    Add(usize, Source, Source),
    Multiply(usize, Source, Source),
    Xor(usize, Source, Source),
    ShiftRight(usize, Source, Source),
    ShiftLeft(usize, Source, Source),
    AtLeast(usize, Source, Source),
    Equal(usize, Source, Source),
    Jump(usize),
    JumpIf(usize, usize),
    Load(usize, Source, u64),
    LoadPair(usize, usize, Source),
    Store(Source, u64, Source),
    StorePair(Source, Source, Source),
    AtomicAdd(usize, Source, u64, Source),
    Return,
}

#[derive(Debug)]
struct Program {
    name: String,
    parameters: Vec<String>,
    registers: usize,
    operations: Vec<Operation>,
}

/// Assembles the few instructions that the shipped kernels use; anything else is an error, as it is for a driver.
fn assemble(text: &str) -> Result<Vec<Program>, String> {
    let text: String = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    for directive in [".version 6.0", ".target sm_50", ".address_size 64"] {
        if !text.contains(directive) {
            return Err(format!("no {directive}"));
        }
    }
    text.split(".visible .entry ").skip(1).map(program).collect()
}

fn program(text: &str) -> Result<Program, String> {
    let (name, rest) = text.split_once('(').ok_or("no parameters")?;
    let (parameters, body) = rest.split_once(')').ok_or("no end of parameters")?;
    let parameters: Vec<String> =
        parameters.split(',').map(|one| one.trim().trim_start_matches(".param .u64 ").to_string()).collect();
    let body = body.trim().trim_start_matches('{');
    let body = &body[..body.rfind('}').ok_or("no end of body")?];
    let mut labels = HashMap::new();
    let mut instructions = Vec::new();
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(".reg")) {
        match line.strip_suffix(':') {
            Some(label) => drop(labels.insert(label.to_string(), instructions.len())),
            None => instructions.push(line.strip_suffix(';').ok_or(format!("no ; after {line}"))?),
        }
    }
    let mut registers: HashMap<String, usize> = HashMap::new();
    let mut operations = Vec::new();
    for instruction in instructions {
        operations.push(operation(instruction, &parameters, &labels, &mut registers)?);
    }
    Ok(Program { name: name.trim().to_string(), parameters, registers: registers.len(), operations })
}

fn operation(
    text: &str,
    parameters: &[String],
    labels: &HashMap<String, usize>,
    registers: &mut HashMap<String, usize>,
) -> Result<Operation, String> {
    let unknown = || format!("no such instruction here: {text}");
    let mut register = |name: &str| {
        let next = registers.len();
        *registers.entry(name.trim().to_string()).or_insert(next)
    };
    if let Some(guarded) = text.strip_prefix('@') {
        let (predicate, jump) = guarded.split_once(' ').ok_or_else(unknown)?;
        let label = jump.strip_prefix("bra ").ok_or_else(unknown)?;
        return Ok(Operation::JumpIf(register(predicate), *labels.get(label.trim()).ok_or_else(unknown)?));
    }
    let (code, operands) = text.split_once(' ').unwrap_or((text, ""));
    let operands: Vec<&str> = operands.split(',').map(|one| one.trim().trim_matches(['{', '}'])).collect();
    let mut source = |text: &str| -> Result<Source, String> {
        Ok(match text {
            "%ctaid.x" => Source::Block,
            "%ntid.x" => Source::Threads,
            "%tid.x" => Source::Thread,
            "%nctaid.x" => Source::Blocks,
            name if name.starts_with('%') => Source::Register(register(name)),
            number => Source::Value(match number.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).map_err(|error| error.to_string())?,
                None => number.parse().map_err(|_| format!("no operand: {number}"))?,
            }),
        })
    };
    let inside = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_string();
    let mut place = |text: &str| -> Result<(Source, u64), String> {
        let text = inside(text);
        let (base, offset) = text.split_once('+').unwrap_or((&text, "0"));
        Ok((source(base)?, offset.parse().map_err(|_| format!("no offset: {offset}"))?))
    };
    let all = |n: usize| if operands.len() == n { Ok(()) } else { Err(unknown()) };
    match code {
        "ret" => return Ok(Operation::Return),
        "bra" => return Ok(Operation::Jump(*labels.get(operands[0]).ok_or_else(unknown)?)),
        "ld.global.u64" => {
            all(2)?;
            let (base, offset) = place(operands[1])?;
            return Ok(Operation::Load(register(operands[0]), base, offset));
        }
        "ld.global.v2.u64" => {
            all(3)?;
            let (base, _) = place(operands[2])?;
            return Ok(Operation::LoadPair(register(operands[0]), register(operands[1]), base));
        }
        "st.global.u64" => {
            all(2)?;
            let (base, offset) = place(operands[0])?;
            return Ok(Operation::Store(base, offset, source(operands[1])?));
        }
        "st.global.v2.u64" => {
            all(3)?;
            let (base, _) = place(operands[0])?;
            return Ok(Operation::StorePair(base, source(operands[1])?, source(operands[2])?));
        }
        "atom.global.add.u64" => {
            all(3)?;
            let (base, offset) = place(operands[1])?;
            let value = source(operands[2])?;
            return Ok(Operation::AtomicAdd(register(operands[0]), base, offset, value));
        }
        "ld.param.u64" => {
            all(2)?;
            let wanted = inside(operands[1]);
            let index = parameters.iter().position(|name| *name == wanted).ok_or_else(unknown)?;
            return Ok(Operation::Parameter(register(operands[0]), index));
        }
        _ => {}
    }
    if operands.len() == 2 {
        let from = source(operands[1])?;
        return match code {
            "mov.u32" | "mov.u64" | "cvt.u64.u32" | "cvta.to.global.u64" => Ok(Operation::Move(register(operands[0]), from)),
            _ => Err(unknown()),
        };
    }
    all(3)?;
    let (a, b) = (source(operands[1])?, source(operands[2])?);
    let to = register(operands[0]);
    Ok(match code {
        "add.u64" => Operation::Add(to, a, b),
        "mul.lo.u64" | "mul.wide.u32" => Operation::Multiply(to, a, b),
        "xor.b64" => Operation::Xor(to, a, b),
        "shr.u64" => Operation::ShiftRight(to, a, b),
        "shl.b64" => Operation::ShiftLeft(to, a, b),
        "setp.ge.u64" => Operation::AtLeast(to, a, b),
        "setp.eq.u64" => Operation::Equal(to, a, b),
        _ => return Err(unknown()),
    })
}

/// Runs every thread of the grid, one after the other, and returns the bytes loaded and stored.
fn launch(program: &Program, device: &mut Device, blocks: u64, threads: u64, arguments: &[u64]) -> Result<u64, c_int> {
    let mut moved = 0;
    let mut registers = vec![0u64; program.registers];
    for block in 0..blocks {
        for thread in 0..threads {
            registers.fill(0xdead_beef_dead_beef);
            let mut at = 0;
            loop {
                let value = |source: Source, registers: &[u64]| match source {
                    Source::Register(register) => registers[register],
                    Source::Value(value) => value,
                    Source::Block => block,
                    Source::Threads => threads,
                    Source::Thread => thread,
                    Source::Blocks => blocks,
                };
                let operation = program.operations[at];
                at += 1;
                match operation {
                    Operation::Move(to, from) => registers[to] = value(from, &registers),
                    Operation::Parameter(to, index) => registers[to] = arguments[index],
                    Operation::Add(to, a, b) => registers[to] = value(a, &registers).wrapping_add(value(b, &registers)),
                    Operation::Multiply(to, a, b) => {
                        registers[to] = value(a, &registers).wrapping_mul(value(b, &registers))
                    }
                    Operation::Xor(to, a, b) => registers[to] = value(a, &registers) ^ value(b, &registers),
                    Operation::ShiftRight(to, a, b) => registers[to] = value(a, &registers) >> value(b, &registers),
                    Operation::ShiftLeft(to, a, b) => registers[to] = value(a, &registers) << value(b, &registers),
                    Operation::AtLeast(to, a, b) => registers[to] = u64::from(value(a, &registers) >= value(b, &registers)),
                    Operation::Equal(to, a, b) => registers[to] = u64::from(value(a, &registers) == value(b, &registers)),
                    Operation::Jump(target) => at = target,
                    Operation::JumpIf(predicate, target) => {
                        if registers[predicate] == 1 {
                            at = target;
                        }
                    }
                    Operation::Load(to, base, offset) => {
                        registers[to] = device.load(value(base, &registers) + offset)?;
                        moved += 8;
                    }
                    Operation::LoadPair(first, second, base) => {
                        let base = value(base, &registers);
                        if base % 16 != 0 {
                            return Err(716);
                        }
                        registers[first] = device.load(base)?;
                        registers[second] = device.load(base + 8)?;
                        moved += 16;
                    }
                    Operation::Store(base, offset, from) => {
                        device.store(value(base, &registers) + offset, value(from, &registers))?;
                        moved += 8;
                    }
                    Operation::StorePair(base, first, second) => {
                        let base = value(base, &registers);
                        if base % 16 != 0 {
                            return Err(716);
                        }
                        device.store(base, value(first, &registers))?;
                        device.store(base + 8, value(second, &registers))?;
                        moved += 16;
                    }
                    Operation::AtomicAdd(to, base, offset, from) => {
                        let address = value(base, &registers) + offset;
                        let old = device.load(address)?;
                        device.store(address, old.wrapping_add(value(from, &registers)))?;
                        registers[to] = old;
                    }
                    Operation::Return => break,
                }
            }
        }
    }
    Ok(moved)
}
