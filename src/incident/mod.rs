//! Events to incidents: what belongs to one failure, and the context in which it happened.

pub mod context;
mod group;
pub mod job;
pub mod observed;
pub mod recording;
pub(crate) mod release;
pub mod survival;
pub mod timeline;

use crate::account::proof::{self, Proof};
use crate::account::{self, Ledger};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::program::{Meter, PROCESS_METER};
use crate::domain::{Accelerator, Number, Program, System};
use crate::text;
use crate::text::Text;
use crate::units::Figure;
pub use context::Context;
use context::{Clue, Platform};
pub use group::assemble;
pub use recording::Recording;
use std::sync::Arc;
pub use survival::Survival;
pub use timeline::Timeline;

/// One failure with all that the log tells about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    /// The failure that the job died of: one incident of a report, or none where the program outlived all.
    pub primary: bool,
    /// What shows that the program outlived it; such an incident is never primary.
    pub survived: Option<Survival>,
    pub event: Event,
    /// Events that only followed from it or say it again: other ranks, watchdogs, launchers.
    pub followers: Vec<Event>,
    /// The ranks that died of the same failure, in the order in which they fell; empty where a single process failed.
    pub ranks: Vec<RankFall>,
    /// Time of day of its message in seconds since midnight, where the line carries one.
    pub clock: Option<f64>,
    pub context: Context,
    pub ledger: Ledger,
    /// What a memory snapshot says about it, where the user gave one.
    pub recording: Option<Recording>,
    /// What `oomdoc run` saw of the job, where it ran under it.
    pub observed: Option<Arc<Timeline>>,
}

impl Incident {
    /// The failure of one process, with nothing that followed it.
    pub fn alone(event: Event, context: Context) -> Incident {
        Incident {
            primary: true,
            survived: None,
            ledger: account::settle(&event),
            event,
            followers: Vec::new(),
            ranks: Vec::new(),
            clock: None,
            context,
            recording: None,
            observed: None,
        }
    }

    /// What logic alone decides of it.
    pub fn proofs(&self) -> Vec<Proof> {
        proof::all(&self.event, &self.ledger, self.context.model_states(&self.event).as_ref())
    }

    /// Where its use of memory is read. What the log's release does not have yet, the device's own tool tells.
    pub fn meter(&self) -> Meter {
        let (meter, of_the_driver) = (self.event.meter(), self.event.accelerator().driver_meter());
        let native = self.context.has(Clue::NativeProgram) && self.context.frames.is_empty();
        let known = !native && release::knows(self, meter.now) && release::knows(self, meter.peak);
        let meter = if known { meter } else { of_the_driver };
        let jetson = self.context.platform.value() == Some(Platform::Jetson);
        match self.system() {
            system if meter == PROCESS_METER => system.process(),
            system if meter == Accelerator::Any.driver_meter() => system.devices().unwrap_or(meter),
            // Neither ROCm's nor Intel's tool comes with a driver for Windows.
            System::Windows
                if [Accelerator::Hip, Accelerator::Xpu].iter().any(|family| meter == family.driver_meter()) =>
            {
                System::Windows.devices().unwrap_or(meter)
            }
            // JetPack's own tool; its driver has no nvidia-smi before JetPack 6.
            _ if jetson && meter == of_the_driver => Meter { now: "tegrastats", peak: "tegrastats" },
            _ => meter,
        }
    }

    /// True where a script of the user's own calls into an engine: its settings are arguments, and no options of a
    /// command.
    pub fn calls_an_engine(&self) -> bool {
        let frames = &self.context.frames;
        let within = |folder: &str| frames.iter().any(|frame| frame.path().contains(folder));
        // An engine that is built from its sources is nobody's script either.
        let own = frames.first().is_some_and(|frame| {
            frame.is_user_code() && !["/bin/", "/vllm/"].iter().any(|part| frame.path().contains(part))
        });
        own && within("/vllm/") && !within("vllm/entrypoints/")
    }

    /// What this very process holds where the message counts it among others, under a pid of the host's.
    pub fn listed_as_another(&self) -> Option<Figure> {
        let own = self.ledger.self_listed_as?;
        self.event.facts.other_processes.iter().find(|process| process.pid == own).map(|process| process.figure)
    }

    /// The number of the batch job, where a message tells it.
    pub fn job(&self) -> Option<u64> {
        let mut events = std::iter::once(&self.event).chain(&self.followers);
        events.find_map(|event| event.facts.number(Number::JobId)).map(|job| job as u64)
    }

    /// True where the log shows Windows.
    pub fn on_windows(&self) -> bool {
        match self.context.platform.value() {
            Some(platform) => platform == Platform::Windows,
            None => self.event.has(Sign::Windows),
        }
    }

    /// The system that it ran on.
    pub fn system(&self) -> System {
        let mac = self.event.program == Program::MacOs || self.context.platform.value() == Some(Platform::MacOs);
        match self.on_windows() {
            true => System::Windows,
            false if mac => System::MacOs,
            false if self.context.platform.value() == Some(Platform::Bsd) => System::Bsd,
            false => System::Linux,
        }
    }

    /// What shows how much of the device is in use, on its system.
    pub fn device_tool(&self) -> Text {
        let accelerator = self.event.accelerator();
        match (self.system(), accelerator) {
            (System::Windows, Accelerator::Hip | Accelerator::Xpu | Accelerator::Any) => {
                text!(en: "Task Manager → Performance → GPU", zh: "任务管理器 → 性能 → GPU")
            }
            // No driver for a Mac comes with nvidia-smi.
            (System::MacOs, Accelerator::Any | Accelerator::Cuda) => {
                text!(en: "Activity Monitor → Window → GPU History", zh: "活动监视器 → 窗口 → GPU 历史记录")
            }
            _ => Text::same(accelerator.tool()),
        }
    }

    /// True where a process was ended from outside, rather than refused a request.
    fn was_killed(&self) -> bool {
        self.event.killed() || self.event.has(Sign::CompilerKilled)
    }

    /// True where a microcontroller's heap refused a request of its size: no machine's memory, nobody's to watch.
    pub fn on_a_board(&self) -> bool {
        const MOST: u64 = 8 << 20;
        // Paths of a computer are those of a program that runs there.
        self.context.has(Clue::Microcontroller)
            && self.context.platform.value().is_none()
            && self.event.resource.on_host()
            && !self.was_killed()
            && self.event.facts.get(Fact::Requested).is_none_or(|asked| asked.bytes <= MOST)
    }

    /// True where a process whose addresses have 32 bits was refused a request: RAM beyond 4 GiB is none of its.
    pub fn of_32_bits(&self) -> bool {
        self.context.has(Clue::ThirtyTwoBit)
            && self.event.resource == Resource::Host
            && !self.was_killed()
            && !self.on_a_board()
    }

    /// The recording, where it is of this very failure.
    pub fn proof(&self) -> Option<&Recording> {
        self.recording.as_ref().filter(|recording| recording.proves())
    }
}

/// One rank's failure within an incident of several ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankFall {
    /// The rank, where the log names it.
    pub rank: Option<u32>,
    /// The device index that its message names.
    pub device: Option<u32>,
    /// Which of several inputs it stands in, counted from 0.
    pub file: usize,
    /// Line of its message.
    pub line: u64,
    /// Time of day of its message in seconds since midnight, where the line carries one.
    pub clock: Option<f64>,
    /// Bytes that it asked for.
    pub asked: Option<u64>,
}
