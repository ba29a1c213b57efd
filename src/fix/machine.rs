//! The machine that a job runs on, as far as it decides how a change is written: how many devices there are, how many
//! of them the job has, whose memory they use, which shell sets a variable, who may change the system.

use super::case::Case;
use crate::domain::{Accelerator, Fact, Number, Program, Resource};
use crate::estimate::serving::Budget;
use crate::incident::context::{Clue, Frame};
use crate::text;
use crate::text::Text;
use crate::units::GIB;

/// What GB10 and the largest boards of Strix Halo show of the 128 GiB that host and device share; no board with memory
/// of its own has as much (94 and 96 GiB, then 141).
const SHARED_BY_128: std::ops::RangeInclusive<i128> = 117 * GIB as i128..=126 * GIB as i128;

impl Case<'_> {
    /// True where host and device have one memory: Apple's, Jetson, GB10, Strix Halo.
    pub(super) fn one_memory(&self) -> bool {
        let by_size = || {
            let vendor = matches!(self.accelerator(), Accelerator::Cuda | Accelerator::Hip);
            vendor && self.capacity().is_some_and(|all| SHARED_BY_128.contains(&all.middle()))
        };
        self.on_device() && (self.apple() || self.context.origin.one_memory || by_size())
    }

    /// True where the machine has one device by what the log counts or lists: there is no other to use.
    pub(super) fn only_device(&self) -> bool {
        let counted = match &self.context.gpus[..] {
            // A table of them that has one row.
            [row] => row.index == 0,
            _ => self.context.origin.devices == Some(1),
        };
        self.one_memory() || (counted || self.in_colab()) && self.devices_in_use() <= 1
    }

    /// True in Colab, whose machines have one GPU.
    fn in_colab(&self) -> bool {
        self.clue(Clue::Colab) && self.context.gpus.len() < 2
    }

    /// Devices over which the job is spread, as far as anything tells: its ranks, an option, buffers by device.
    pub(super) fn devices_in_use(&self) -> u64 {
        let (context, event) = (self.context, &self.incident.event);
        let ranks = event.rank.map_or(0, |rank| u64::from(rank) + 1);
        let told = [
            context.world_size.value().unwrap_or(1),
            context.local_processes.value().unwrap_or(1),
            context.origin.spread,
            ranks,
            self.incident.ranks.len() as u64,
            Budget::of(&event.facts).ranks,
        ];
        told.into_iter().max().unwrap_or(1).max(1)
    }

    /// What stands for the devices in the list of those that are visible: as many as the job has.
    pub(super) fn indices(&self) -> Text {
        let divided = self.clue(Clue::DataParallel);
        if self.several_devices() && !divided {
            return text!(en: "<an index for each rank>", zh: "<每个 rank 一个编号>");
        }
        // One process that spreads its batch or its layers has no ranks.
        match divided || self.devices_in_use() > 1 || self.over_a_mesh() {
            true => text!(en: "<an index for each device it uses>", zh: "<所用的每块设备一个编号>"),
            false => text!(en: "<index>", zh: "<编号>"),
        }
    }

    /// True where one index would leave ranks, or parts of the job, without a device.
    pub(super) fn needs_several(&self) -> bool {
        self.several_devices() || self.devices_in_use() > 1 || self.over_a_mesh() || self.failed_on_several()
    }

    /// True where messages of the same failure are of different devices.
    fn failed_on_several(&self) -> bool {
        let events = std::iter::once(&self.incident.event).chain(&self.incident.followers);
        let mut devices = events.filter_map(|event| event.facts.device.value());
        devices.next().is_some_and(|first| devices.any(|other| other != first))
    }

    /// True where JAX lays arrays out over the devices of a mesh, or maps over them, by the lines of the traceback.
    fn over_a_mesh(&self) -> bool {
        const CALLS: [&str; 7] = ["xmap(", "pmap(", "pjit(", "mp_per_host", "Mesh(", "NamedSharding(", "shard_map("];
        let calls =
            |frame: &Frame| frame.code.as_deref().is_some_and(|code| CALLS.iter().any(|call| code.contains(call)));
        self.context.frames.iter().any(calls)
    }

    /// How a command is run with a variable set, in the words of a remark. Windows sets it on a line of its own.
    pub(super) fn run_with(&self, name: &str, value: &Text) -> Text {
        match self.windows() {
            true if self.context.origin.powershell => Text::new(
                format!("$env:{name} = \"{}\" on a line of its own, then <your command>", value.en),
                format!("先单独一行 $env:{name} = \"{}\"，再运行 <你的命令>", value.zh),
            ),
            true => Text::new(
                format!("set {name}={} on a line of its own, then <your command>", value.en),
                format!("先单独一行 set {name}={}，再运行 <你的命令>", value.zh),
            ),
            false => {
                Text::new(format!("{name}={} <your command>", value.en), format!("{name}={} <你的命令>", value.zh))
            }
        }
    }

    /// How the job is put on another device: by the option of its command that names one, by docker's, in a notebook's
    /// first cell, else by the variable. What the command says within comes after the variable: `--gpus="0"` of a
    /// launcher refuses an index that is not visible, `--device 0` of a script may set the variable itself.
    pub(super) fn on_another_device(&self, visible: &str, index: &Text) -> Text {
        let command = self.context.command.get().map_or("", String::as_str);
        let words: Vec<&str> = command.split_whitespace().collect();
        let by_docker = ["docker", "podman", "nvidia-docker"].iter().any(|name| words.contains(name));
        // What is looked at from outside is started there.
        if self.context.origin.composed && (by_docker || command.is_empty()) {
            return Text::new(
                format!("device_ids: [\"{}\"]   # of the service's devices in its compose file", index.en),
                format!("device_ids: [\"{}\"]   # compose 文件中该服务的 devices 下", index.zh),
            );
        }
        if by_docker && !words.contains(&"exec") {
            return Text::new(
                format!("docker run --gpus '\"device={}\"' ...", index.en),
                format!("docker run --gpus '\"device={}\"' ...", index.zh),
            );
        }
        if let Some(option) = words.iter().enumerate().find_map(|(at, word)| names_a_device(word, words.get(at + 1))) {
            return Text::new(format!("{option}{}", index.en), format!("{option}{}", index.zh));
        }
        let cell = |frame: &Frame| frame.file.contains("<ipython-input") || frame.file.contains("ipykernel");
        if self.context.frames.iter().any(cell) {
            return Text::new(
                format!("os.environ[\"{visible}\"] = \"{}\" in the first cell, the kernel restarted", index.en),
                format!("重启内核，并在第一个单元格写 os.environ[\"{visible}\"] = \"{}\"", index.zh),
            );
        }
        self.run_with(visible, index)
    }

    /// True where the kernel's own objects, which nothing can reclaim or swap out, fill the machine: more than three
    /// tenths of it, or ten times what the victim held where its size is not told.
    pub(super) fn filled_by_the_kernel(&self) -> bool {
        let event = &self.incident.event;
        let Some(slab) = event.facts.number(Number::SlabUnreclaimable) else { return false };
        let least = match self.incident.ledger.bound {
            Some(all) => 0.3 * all.middle() as f64,
            None => event.facts.get(Fact::AnonRss).map_or(f64::MAX, |held| 10.0 * held.bytes as f64).max(1e9),
        };
        event.resource == Resource::Host && slab >= least
    }

    /// True where Vulkan gave the memory, as it does to ncnn: it reads none of the variables that choose the devices of
    /// CUDA.
    pub(super) fn by_vulkan(&self) -> bool {
        matches!(self.program(), Program::Vulkan | Program::Ncnn) || self.incident.event.of_vulkan()
    }

    /// True where the system is not the user's to change: a container, a cluster, a notebook service.
    pub(super) fn is_a_guest(&self) -> bool {
        self.context.container.value() == Some(true) || self.context.origin.shared
    }
}

/// The option of a command that names devices by their index, up to where the index stands: `--gpu ` of `--gpu 0`.
/// `--gpus 4` is a number of devices for many trainers and is none; quoted or 0 it is an index.
fn names_a_device(word: &str, next: Option<&&str>) -> Option<String> {
    const NAMES: [&str; 10] = [
        "--gpu",
        "--gpu_id",
        "--gpu-id",
        "--gpu_ids",
        "--gpu-ids",
        "--device",
        "--device_id",
        "--cuda",
        "--gpus",
        "-gpu",
    ];
    let (name, between, value) = match word.split_once('=') {
        Some((name, value)) => (name, "=", value),
        None => (word, " ", *next?),
    };
    let bare = value.trim_matches(['"', '\'']);
    let of_cuda = bare.strip_prefix("cuda:").unwrap_or(bare);
    let indices = !of_cuda.is_empty() && of_cuda.split(',').all(|part| part.parse::<u16>().is_ok());
    let number = name == "--gpus" && bare == value && value != "0" && !value.contains(',');
    let kind = if of_cuda == bare { "" } else { "cuda:" };
    (NAMES.contains(&name) && indices && !number).then(|| format!("{name}{between}{kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_names_a_device_is_found_and_a_number_of_devices_is_none() {
        for (word, next, told) in [
            ("--gpus=\"0\"", "train.py", Some("--gpus=")),
            ("--device", "0", Some("--device ")),
            ("--device=cuda:1", "x", Some("--device=cuda:")),
            ("--gpu_ids", "0,1", Some("--gpu_ids ")),
            ("--gpus", "4", None),
            ("--device", "cuda", None),
            ("--gpus=4", "x", None),
        ] {
            assert_eq!(names_a_device(word, Some(&next)), told.map(str::to_string), "{word} {next}");
        }
    }
}
