//! What programs print at their start of the device that they run on: how much memory it has, and the share of it that
//! an engine takes for itself.

use super::settings::sized;
use crate::account::Board;
use crate::dialect::Fact;
use crate::evidence::Span;
use crate::gpu::products;
use crate::units::Figure;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Devices kept at most, and bytes of a line that are read.
const DEVICES_AT_MOST: usize = 256;
const READ: usize = 512;

/// The memory of a device, with its number where the line has it; each behind a word of its own, since a loop may print
/// memory on every line. In their order: ggml's list of devices, and its sum
/// of one; what Ultralytics prints of torch's devices; vLLM's profile of a run (0.5 to 0.7); TensorFlow's two forms
/// (1.x, 2.x); `deviceQuery` and what copies it; the Comfy family; other programs' banners with a card's name.
static FORMS: [Form; 11] = [
    Form::new("compute capability", || {
        Regex::new(r"Device (?P<index>[0-9]+): .{2,80}, compute capability [0-9].*, VRAM: (?P<size>[0-9]+ MiB)(?-u:\b)")
            .ok()
    }),
    Form::new("Total VRAM", || Regex::new(r"found 1 (?:CUDA|ROCm) devices? \(Total VRAM: (?P<size>[0-9]+ MiB)\)").ok()),
    Form::new("MiB)", || Regex::new(r"CUDA:(?P<index>[0-9]+) \([^()]{3,60}, (?P<size>[0-9]+(?:\.[0-9]+)?MiB)\)").ok()),
    Form::new("total_gpu_memory", || {
        Regex::new(r"total_gpu_memory \((?P<size>[0-9]+\.[0-9]+GiB)\) x gpu_memory_utilization").ok()
    }),
    Form::new("totalMemory:", || Regex::new(r"totalMemory: (?P<size>[0-9]+\.[0-9]+GiB) freeMemory:").ok()),
    Form::new("deviceMemorySize", || {
        Regex::new(r"deviceMemorySize: (?P<size>[0-9]+\.[0-9]+GiB) deviceMemoryBandwidth").ok()
    }),
    Form::new("global memory", || {
        Regex::new(r"Total amount of global memory: +[0-9]+ MBytes \((?P<size>[0-9]+ bytes)\)").ok()
    }),
    Form::new("Total VRAM", || Regex::new(r"^(?:INFO:? *)?Total VRAM (?P<size>[0-9]+ MB), total RAM").ok()),
    Form::new("ompute ", || {
        Regex::new(r"\((?:compute capability|Compute) [0-9]\.[0-9];? ?memory (?P<size>[0-9]+(?:\.[0-9]+)? ?[MG]i?B)\)")
            .ok()
    }),
    // OpenCL's own of a device, as clinfo and programs that list devices print it.
    Form::new("GLOBAL_MEM_SIZE", || Regex::new(r"CL_DEVICE_GLOBAL_MEM_SIZE:? +(?P<size>[0-9]+)$").ok()),
    Form::new("ompute ", || {
        Regex::new(r"\(Compute [0-9]\.[0-9]\) Memory ?: (?P<size>[0-9]+(?:\.[0-9]+)? [MG]i?B)(?-u:\b)").ok()
    }),
];

/// A form in which a device is told, and a word of it.
struct Form {
    word: &'static str,
    /// Compiled when the word is first seen: all of them took six of a hundred instructions that a paste is read with.
    compiled: LazyLock<Option<Regex>>,
}

impl Form {
    const fn new(word: &'static str, compile: fn() -> Option<Regex>) -> Form {
        Form { word, compiled: LazyLock::new(compile) }
    }

    fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        if !text.contains(self.word) {
            return None;
        }
        self.compiled.as_ref()?.captures(text)
    }
}

/// `total_gpu_memory (22.17GiB) x gpu_memory_utilization (0.90) = 19.95GiB` (vllm/worker/worker.py, 0.5 to 0.7).
static SHARE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"gpu_memory_utilization \([0-9]?\.[0-9]+\) = (?P<size>[0-9]+\.[0-9]+GiB)").ok());

/// The devices that lines told of, in their order.
#[derive(Debug, Default)]
pub(super) struct Devices {
    told: Vec<(Fact, Option<u32>, Figure)>,
    /// Boards by their names alone.
    boards: Vec<(Option<u32>, Board)>,
    /// Lines that were looked through for one.
    looked_at: usize,
}

/// What stands before the name of a board where a program prints it, the longer first.
const VENDORS: [&str; 5] = ["NVIDIA ", "GeForce ", "Tesla ", "Quadro ", "TITAN "];

/// The name of a board in a line, and the number before it: `Device 0: NVIDIA GeForce GTX 1080 Ti, compute capability`.
fn board(text: &str) -> Option<(Option<u32>, &str)> {
    let at = VENDORS.iter().filter_map(|vendor| text.find(vendor)).min()?;
    let (lead, rest) = (&text[..at], &text[at..]);
    // `on my NVIDIA GeForce RTX 4090 all is well` is somebody's sentence, and of another machine.
    let before = lead.trim_end().rsplit(' ').next().unwrap_or_default();
    let in_a_sentence = before.ends_with(char::is_alphabetic)
        && !["gpu", "device", "card", "using"].contains(&before.to_ascii_lowercase().as_str());
    if in_a_sentence {
        return None;
    }
    let end = rest.find([',', '(', ')', '|', '"', '\'', ';', '/', '[']).unwrap_or(rest.len());
    let name = rest[..end].split("  ").next().unwrap_or_default().split(" UUID").next().unwrap_or_default().trim();
    let number = lead.trim_end_matches([' ', ':', ']', '=', '>', '-', '"', '(']).rsplit([' ', ':', '#', '[']).next();
    (name.len() < 96).then_some((number.and_then(|number| number.parse().ok()), name))
}

impl Devices {
    /// Takes a line of the document.
    pub(super) fn take(&mut self, text: &str, line: u64) {
        if self.told.len() >= DEVICES_AT_MOST {
            return;
        }
        let text = text.get(..READ).unwrap_or(text);
        let at = Span::line(line);
        let found = FORMS.iter().find_map(|form| form.captures(text));
        if let Some(found) = found
            && let Some(figure) = sized(&found["size"], Some("B"), at).filter(|figure| figure.bytes > 0)
        {
            let index = found.name("index").and_then(|index| index.as_str().parse().ok());
            self.told.push((Fact::Capacity, index, figure));
        }
        if text.contains("gpu_memory_utilization (")
            && let Some(share) = SHARE.as_ref().and_then(|share| share.captures(text))
            && let Some(figure) = sized(&share["size"], None, at)
        {
            self.told.push((Fact::FractionLimit, None, figure));
        }
    }

    /// Takes the board that a line names.
    pub(super) fn take_board(&mut self, text: &str, line: u64) {
        let text = text.get(..READ).unwrap_or(text);
        let Some((number, name)) = board(text).filter(|_| self.looked_at < DEVICES_AT_MOST) else { return };
        // Each is compared with some hundred names.
        self.looked_at += 1;
        if let Some(total) = products::total_of(name) {
            // `GeForce GTX 1080 Ti major: 6 minor: 1`
            let words = name.split(' ').take_while(|word| !word.starts_with(|c: char| c.is_ascii_lowercase()));
            let name = words.collect::<Vec<_>>().join(" ");
            self.boards.push((number, Board { name, total, line }));
        }
    }

    /// The board that all lines up to one name, for this device; none where they name several.
    pub(super) fn board(&self, device: Option<u32>, last: u64) -> Option<&Board> {
        let mut of = self.boards.iter().filter(|(number, board)| {
            board.line <= last && number.is_none_or(|number| device.is_none_or(|device| device == number))
        });
        let (_, one) = of.next()?;
        of.all(|(_, other)| other.total == one.total).then_some(one)
    }

    /// What is told from one line on, up to another, of this device: what all lines that may be of it agree on.
    pub(super) fn within(&self, fact: Fact, device: Option<u32>, first: u64, last: u64) -> Option<Figure> {
        let mut of = self.told.iter().filter(|(of, index, figure)| {
            let here = index.is_none_or(|index| device.is_none_or(|device| device == index));
            *of == fact && here && (first..=last).contains(&figure.at.first)
        });
        let (.., one) = of.next_back()?;
        of.all(|(.., other)| other.bytes == one.bytes).then_some(*one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, device: Option<u32>) -> Option<u64> {
        let mut devices = Devices::default();
        text.lines().zip(1..).for_each(|(line, number)| devices.take(line, number));
        Some(devices.within(Fact::Capacity, device, 0, 99)?.bytes >> 20)
    }

    #[test]
    fn a_banner_says_what_the_device_has() {
        let cases = [
            ("  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24244 MiB", 24244),
            ("ggml_cuda_init: found 1 CUDA devices (Total VRAM: 24244 MiB):", 24244),
            ("YOLOv8.0.20 Python-3.8.10 torch-1.13.1 CUDA:0 (Tesla T4, 15110MiB)", 15110),
            ("can use total_gpu_memory (8.00GiB) x gpu_memory_utilization (0.70) = 5.60GiB", 8192),
            ("totalMemory: 10.50GiB freeMemory: 10.25GiB", 10752),
            ("coreCount: 82 deviceMemorySize: 23.50GiB deviceMemoryBandwidth: 871.81GiB/s", 24064),
            ("Total VRAM 12282 MB, total RAM 32691 MB", 12282),
            ("CUDA device 0 initialized: Tesla T4 (compute capability 7.5; memory 14.75GB)", 15104),
            ("Using Pci 01:00.0: GeForce GTX 1060 6GB (Compute 6.1) Memory : 5.50 GB", 5632),
        ];
        for (line, mib) in cases {
            assert_eq!(told(line, None), Some(mib), "{line}");
        }
    }

    #[test]
    fn a_board_is_told_by_its_name() {
        let of = |text: &str, device: Option<u32>| {
            let mut devices = Devices::default();
            text.lines().zip(1..).for_each(|(line, number)| devices.take_board(line, number));
            devices.board(device, 99).map(|board| board.name.clone())
        };
        for (line, name) in [
            ("  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes", "NVIDIA GeForce RTX 3090"),
            ("name: GeForce GTX 1080 Ti major: 6 minor: 1 memoryClockRate(GHz): 1.582", "GeForce GTX 1080 Ti"),
            ("GPU 0: Tesla V100-SXM2-32GB (UUID: GPU-1)", "Tesla V100-SXM2-32GB"),
            ("     \"cuda:0\"   : \"Tesla T4\" (15 GiB, sm_75, mempool enabled)", "Tesla T4"),
        ] {
            assert_eq!(of(line, None).as_deref(), Some(name), "{line}");
        }
        let two = "GPU 0: Tesla T4 (UUID: a)\nGPU 1: NVIDIA L40S (UUID: b)";
        assert_eq!(of(two, None), None);
        assert_eq!(of(two, Some(1)).as_deref(), Some("NVIDIA L40S"));
        for none in ["NVIDIA driver 550.54", "On my NVIDIA GeForce RTX 4090 all is well"] {
            assert_eq!(of(none, None), None);
        }
    }

    #[test]
    fn unlike_devices_tell_of_none_but_the_one_that_is_numbered() {
        let log = "CUDA:0 (Tesla T4, 15110MiB)\nCUDA:1 (Tesla P4, 7611MiB)";
        assert_eq!(told(log, None), None);
        assert_eq!(told(log, Some(1)), Some(7611));
        assert_eq!(told("ggml_cuda_init: found 2 CUDA devices (Total VRAM: 48488 MiB):", None), None);
        assert_eq!(told("GPU memory in use: 12 MiB", None), None);
    }
}
