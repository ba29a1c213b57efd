//! What a message says in words beside its figures and signs. Causes and fixes judge by these: they read no text.

use super::{Event, Fact, Resource, Sign};
use crate::domain::program::Kind;
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::text;
use crate::text::Text;
use crate::units::{self, Base};

/// No machine has as much.
pub(super) const EXBIBYTE: u64 = 1 << 60;

/// Numbers of a message that are looked at.
const NUMBERS: usize = 64;

/// Types of twice the width that an array often needs, as messages name them.
const WIDE: [&str; 4] = ["float64", "complex128", "int64", "data type object"];

impl Event {
    fn says(&self, words: &str) -> bool {
        self.message.contains(words)
    }

    /// True where the message holds a part that only one program prints, as a table of programs names it.
    pub(crate) fn prints(&self, part: &str) -> bool {
        self.says(part)
    }

    /// True where iOS or macOS ended a process at the limit that it gives its kind, whatever the machine has.
    pub(crate) fn met_a_process_limit(&self) -> bool {
        self.program == Program::MacOs && self.has(Sign::RefusedByLimit)
    }

    /// True where TensorFlow's pool of page-locked memory ran out, by its name: `gpu_host_bfc`, `cuda_host_bfc`.
    pub(crate) fn of_the_pinned_pool(&self) -> bool {
        self.says("host_bfc")
    }

    /// True where a node that ran short evicted a pod: the limit it prints is its own threshold, not the pod's.
    pub(crate) fn evicted(&self) -> bool {
        self.resource == Resource::Host && self.facts.number(Number::MemoryRequest).is_some()
    }

    /// True where Java's own heap was full, which neither RAM nor swap makes larger.
    pub(crate) fn of_a_java_heap(&self) -> bool {
        self.says("Java heap space") || self.says("GC overhead limit exceeded")
    }

    /// The area of a JVM other than its heap that was full, by HotSpot's words (`share/memory/metaspace.cpp`,
    /// `java/nio/Bits.java`): its name in both languages, and the option that bounds it.
    pub(crate) fn java_area(&self) -> Option<(Text, &'static str)> {
        if self.program != Program::Java {
            return None;
        }
        let message = self.message.to_ascii_lowercase();
        let says = |words: &str| message.contains(words);
        if says("outofmemoryerror: metaspace") {
            Some((text!(en: "The JVM's metaspace", zh: "JVM 的元空间"), "-XX:MaxMetaspaceSize"))
        } else if says("compressed class space") {
            let space = text!(en: "The JVM's space of classes", zh: "JVM 的压缩类空间");
            Some((space, "-XX:CompressedClassSpaceSize"))
        } else if says("permgen space") {
            Some((text!(en: "The JVM's permanent generation", zh: "JVM 的永久代"), "-XX:MaxPermSize"))
        } else if says("direct buffer memory") || says("outofdirectmemoryerror") {
            Some((text!(en: "The JVM's direct memory", zh: "JVM 的直接内存"), "-XX:MaxDirectMemorySize"))
        } else {
            None
        }
    }

    /// True where make or a builder of images tells of the end of what it ran: `make: *** [all] Killed`, `exit code:
    /// 137`.
    pub(crate) fn passes_an_end_on(&self) -> bool {
        self.says("make: ***") || self.says("make[") || self.says("137")
    }

    /// True where Gradle says so, whose properties set the heap.
    pub(crate) fn of_gradle(&self) -> bool {
        // Its words, and a reason that stands by itself as the innermost of its causes, do not name the class.
        self.dialect == "jvm-heap" && !self.says("OutOfMemoryError")
    }

    /// True where Vulkan gave the memory.
    pub(crate) fn of_vulkan(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        message.contains("vulkan")
            || message.starts_with("vk")
            || message.contains("vk_error")
            || message.contains("vmaallocate")
    }

    /// True where the line of whoever killed for memory proves that the machine's ran short.
    pub(crate) fn proves_that_ram_ran_short(&self) -> bool {
        self.program.kind() == Kind::OomKiller && self.resource == Resource::Host && self.has(Sign::KilledWithProof)
    }

    /// True where the system refused what a JVM asked it for, before any object was made.
    pub(crate) fn of_a_jvms_start(&self) -> bool {
        ["os::commit_memory", "committing reserved memory", "Could not reserve enough space"]
            .iter()
            .any(|words| self.says(words))
    }

    /// True for an array by whose shape many samples lie one behind the other, `(515000, 84, 84)`: as many as somebody
    /// chose, and none of its sides a mistake.
    pub(crate) fn stacks_samples(&self) -> bool {
        const MANY: u64 = 10_000;
        const SIDE: u64 = 2_000;
        let Some((_, rest)) = self.message.split_once("shape (") else { return false };
        let Some((sides, _)) = rest.split_once(')') else { return false };
        let sides: Vec<u64> = sides.split(',').filter_map(|side| side.trim().parse().ok()).collect();
        matches!(sides.as_slice(), [samples, rest @ ..]
            if rest.len() >= 2 && *samples >= MANY && rest.iter().all(|side| *side <= SIDE))
    }

    /// True for Node before 7, by its words for a full heap: it knows no `NODE_OPTIONS` (8.0).
    pub(crate) fn of_an_old_node(&self) -> bool {
        self.says("Allocation failed - process out of memory")
    }

    /// True where a library's check of its own tells no more than CUDA's number for the error: `cuda execution failed
    /// with error 2`.
    pub(crate) fn tells_a_code(&self) -> bool {
        self.says("failed with error 2")
    }

    /// True where NumPy makes an array of texts, in which each takes the room of the longest, four bytes a letter:
    /// `data type <U1884285`.
    pub(crate) fn pads_texts(&self) -> bool {
        /// Letters from which on the longest is no name.
        const LONG: u32 = 1 << 12;
        let letters = self.message.split_once("data type <U").map(|(_, letters)| letters);
        let digits = letters.map(|letters| letters.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
        digits.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|letters| letters >= LONG)
    }

    /// True where a JVM was refused a few pages that it maps for a thread or its heap: where memory is left, the
    /// process has as many mappings as it may (openrouteservice's issue 1088: 16 KiB, with RAM and swap to spare).
    pub(crate) fn refuses_a_tiny_mapping(&self) -> bool {
        const TINY: u64 = 64 << 10;
        self.says("committing reserved memory")
            && self.says("mmap")
            && self.facts.get(Fact::Requested).is_some_and(|asked| asked.bytes <= TINY)
    }

    /// True where the message has PyTorch's name in it.
    pub(crate) fn speaks_of_torch(&self) -> bool {
        self.says("torch")
    }

    /// True where Intel's extension refused by a check of its own, before the driver was asked.
    pub(crate) fn refuses_large_blocks(&self) -> bool {
        self.says("can NOT allocate memory block with size larger than")
    }

    /// True where the message prints the call that failed, and that is one that allocates: it waits for its result.
    pub(crate) fn names_the_allocating_call(&self) -> bool {
        self.says("cudaMalloc(") || self.says("syncedmem.cpp")
    }

    /// True where a container's own start was killed: its program never ran.
    pub(crate) fn never_began(&self) -> bool {
        self.says("container init was OOM-killed")
    }

    /// True where the kernel found no process that it could end: nobody can type anything on such a machine.
    pub(crate) fn no_process_to_kill(&self) -> bool {
        self.says("no killable process") || self.says("deadlocked on memory")
    }

    /// True where XLA was to keep an array as a constant of the program.
    pub(crate) fn of_a_constant(&self) -> bool {
        self.says("new constant")
    }

    /// True where XLA's report shows outputs that lie over the arguments: `shares 2.0G with arguments`.
    pub(crate) fn of_donated_arguments(&self) -> bool {
        let shared = self.message.split_once("shares ").map(|(_, rest)| rest);
        shared.is_some_and(|rest| !rest.starts_with('0') && rest.contains("with arguments"))
    }

    /// True where an engine found too few tokens free for a batch that it was to prefill.
    pub(crate) fn of_a_prefill(&self) -> bool {
        self.message.to_ascii_lowercase().contains("prefill out of memory")
    }

    /// True where the message names a pool.
    pub(crate) fn of_a_pool(&self) -> bool {
        self.says("pool")
    }

    /// True where a library of vector search had no room for what it stores, rather than for a search.
    pub(crate) fn of_an_index(&self) -> bool {
        self.says("alloc fail type IVFLists") || self.says("alloc fail type FlatData")
    }

    /// True where a session of ONNX Runtime was being made: nothing has been run in it.
    pub(crate) fn of_a_session_start(&self) -> bool {
        self.says("Exception during initialization")
    }

    /// True where the message itself is of weights that are loaded: by a bar of loading, the call that a worker was
    /// asked for, or ExLlama's words for what did not fit.
    pub(crate) fn of_loading(&self) -> bool {
        ["Loading checkpoint shards", "Error executing method load_model", "VRAM for model"]
            .iter()
            .any(|words| self.says(words))
    }

    /// True where the message prints the shape of the array that it had no room for.
    pub(crate) fn prints_its_shape(&self) -> bool {
        ["with shape (", "shape[", "with shape["].iter().any(|words| self.says(words))
    }

    /// The shape of the array that was refused, where the message tells it with its sides: `(169600, 32001)`.
    pub(crate) fn shape(&self) -> Option<&str> {
        let (_, rest) = self.message.split_once("an array with shape (")?;
        let (sides, _) = rest.split_once(')')?;
        let told = sides.contains(',') && sides.bytes().all(|b| b.is_ascii_digit() || b == b',' || b == b' ');
        told.then_some(sides)
    }

    /// True where Dask's nanny or YARN ended a worker at the share that each is given: the machine's memory, and any
    /// limit of its own, is another matter.
    pub(crate) fn kept_to_a_budget(&self) -> bool {
        self.has(Sign::RefusedByLimit)
            && matches!(self.program, Program::Dask | Program::Spark | Program::Yarn)
            && !self.of_sparks_results()
    }

    /// True where whoever ended it says which setting makes its limit: that of Spark's executors on YARN is what their
    /// heap and `memoryOverhead` come to.
    pub(crate) fn says_which_setting_to_raise(&self) -> bool {
        self.says("Consider boosting") || self.says("consider boosting")
    }

    /// True where a process was killed, whether or not the log proves that memory was why.
    pub(crate) fn killed(&self) -> bool {
        self.has(Sign::KilledWithProof) || self.has(Sign::KilledWithoutProof)
    }

    /// True where an engine makes its cache layer by layer, as the weights come, and room for both was missing.
    pub(crate) fn makes_its_cache_with_the_weights(&self) -> bool {
        self.says("for model and cache")
    }

    /// True where Spark's driver refused the results of its tasks, by a setting of its own.
    pub(crate) fn of_sparks_results(&self) -> bool {
        self.says("spark.driver.maxResultSize")
    }

    /// How many times as large as its data the device's layout makes the largest buffer, where the padding is what has
    /// no room. A TPU pads the last two sides of an array to multiples of 8 and 128, which leaves most arrays below
    /// twice their size.
    pub(crate) fn padded(&self) -> Option<(f64, Span)> {
        const LEAST: f64 = 4.0;
        self.facts.numbers.get(&Number::PaddingFactor).copied().filter(|(factor, _)| *factor >= LEAST)
    }

    /// True for an app's heap on Android, which the system bounds and no option of a command line sets.
    pub(crate) fn on_android(&self) -> bool {
        self.message.contains(" until OOM")
    }

    /// True where a thread was refused: their number, or the room for its stack among the addresses, is what ended, and
    /// seldom the memory.
    pub(crate) fn refuses_a_thread(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        self.has(Sign::ThreadRefused)
            || self.resource == Resource::Host
                && ["create native thread", "create new native thread", "pthread_create", "start new thread"]
                    .iter()
                    .any(|words| message.contains(words))
    }

    /// True where pages were to be locked into RAM: of these the system lets each user have so many (`ulimit -l`),
    /// however much is free.
    pub(crate) fn refuses_to_lock(&self) -> bool {
        const LOCKS: &[&str] =
            &["mlock", "memlock", "lock memory", "locked memory", "lock page", "locking page", "lock into memory"];
        let message = self.message.to_ascii_lowercase();
        // Not `block memory` or `SemLock`.
        let begins = |at: usize| !message[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let said = |words: &&str| message.match_indices(*words).any(|(at, _)| begins(at));
        self.resource == Resource::Host && (self.has(Sign::RingRefused) || LOCKS.iter().any(said))
    }

    /// True where what was killed links a program: `collect2: fatal error: ld terminated with signal 9`.
    pub(crate) fn killed_a_linker(&self) -> bool {
        ["ld terminated", "ld: killed", "lld terminated", "mold terminated"]
            .iter()
            .any(|words| self.message.contains(words))
    }

    /// True where a thread was refused because whoever asks may not make one, and not for want of anything.
    pub(crate) fn forbids_a_thread(&self) -> bool {
        self.has(Sign::NotPermitted)
    }

    /// True where a batch system or YARN ended a job for what its processes used of the limit that is printed. The
    /// kernel counts a group's caches as well.
    pub(crate) fn ended_at_its_limit(&self) -> bool {
        const COUNT: [Program; 7] = [
            Program::Slurm,
            Program::Pbs,
            Program::Sge,
            Program::Lsf,
            Program::HtCondor,
            Program::Yarn,
            Program::Spark,
        ];
        let printed = |fact| self.facts.get(fact).is_some();
        COUNT.contains(&self.program) && printed(Fact::Limit) && !printed(Fact::Capacity)
    }

    /// True where what is called in use is what a runtime or a server had allocated of its own heap.
    pub(crate) fn counts_its_heap(&self) -> bool {
        matches!(self.program, Program::Node | Program::Elasticsearch)
    }

    /// True where a count ended or a right was missing, while memory was there: no amount of it lets more threads,
    /// mappings or locked pages through.
    pub(crate) fn of_a_count(&self) -> bool {
        self.has(Sign::MappingsRanOut) || self.refuses_a_thread() || self.refuses_to_lock()
    }

    /// True where what a program in no list tells is the need of its whole work, held against what there is before it
    /// begins, and no single allocation: `Job needs 128 GB of RAM, node has 64 GB`.
    pub(crate) fn needs_in_all(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        self.has(Sign::Generic)
            && says(&["need", "requir", "estimat", "minimum", "at least"])
            && !says(&["alloc", "malloc", "request", "reserve"])
    }

    /// True where a program in no list holds its request against a part of what there is, a heap, a pool or a worker's
    /// share: what that has in all is no machine's size.
    pub(crate) fn held_against_a_part(&self) -> bool {
        const PARTS: &[&str] =
            &["heap", "pool", "arena", "container", "worker", "cache", "budget", "quota", "workspace", "limit"];
        let message = self.message.to_ascii_lowercase();
        self.has(Sign::Generic) && PARTS.iter().any(|word| message.contains(word))
    }

    /// True where the message asks for an EiB and more, which no machine has: nobody meant it. A limit of that size is
    /// none.
    pub(crate) fn asks_beyond_any_machine(&self) -> bool {
        /// Bytes before a number in which the words for it stand.
        const LEAD: usize = 96;
        let asks = |at: usize| {
            let from = (at.saturating_sub(LEAD)..=at).find(|at| self.message.is_char_boundary(*at)).unwrap_or(at);
            let lead = self.message[from..at].to_ascii_lowercase();
            ["request", "alloc"].iter().any(|word| lead.contains(word))
                && !["limit", "max", "free", "avail", "total"].iter().any(|word| lead.contains(word))
        };
        let message = self.message.as_str();
        // `Failed to allocate -159139584 bytes`: less than nothing.
        let negative = message.match_indices(" -").any(|(at, dash)| {
            let number = &message[at + dash.len()..];
            let digits = number.bytes().take_while(u8::is_ascii_digit).count();
            digits >= 4 && number[digits..].trim_start().starts_with("byte") && asks(at + 1)
        });
        if negative {
            return true;
        }
        let starts = message.char_indices().filter(|(at, c)| {
            c.is_ascii_digit() && !message[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
        });
        starts.take(NUMBERS).any(|(at, _)| {
            let number = &message[at..];
            let end = number.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(number.len());
            let value: Option<f64> = number[..end].trim_end_matches('.').parse().ok();
            let unit = units::unit_in_front(number[end..].trim_start_matches(' ')).filter(|(_, word)| word.len() > 1);
            let unit = unit.and_then(|(_, word)| units::unit(word, Base::Binary));
            value.zip(unit).is_some_and(|(value, unit)| value * unit as f64 >= EXBIBYTE as f64) && asks(at)
        })
    }

    /// The wide type of an array that the message names.
    pub(crate) fn wide_type(&self) -> Option<&'static str> {
        WIDE.into_iter().find(|wide| self.says(wide))
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect;
    use crate::input::Document;

    #[test]
    fn a_size_that_no_machine_has_was_meant_by_nobody() {
        let absurd = |log: &str| {
            let events = dialect::events(&Document::from_text("-", log));
            events.first().is_some_and(|event| event.has(crate::domain::Sign::AbsurdRequest))
        };
        assert!(absurd(
            "Requested 4380899691x3105801126744952919 (17179869184.0GB) array exceeds maximum array size preference.\n"
        ));
        assert!(absurd(
            "Requested 880554195162x14446375007443760620x3082935754914582857 (17179869184.0GB) array exceeds maximum \
             array size preference.\n"
        ));
        assert!(!absurd("Requested 43808x31058 (10.1GB) array exceeds maximum array size preference.\n"));
        assert!(absurd("ERROR gridtool: out of memory: failed to allocate 9223372036854775808 bytes\n"));
        assert!(!absurd("ERROR gridtool: out of memory: failed to allocate 92233720368 bytes\n"));
        // What is not limited.
        assert!(!absurd("ERROR gridtool: out of memory (limit 18446744073709551615 bytes, used 812 MiB)\n"));
        assert!(!absurd("ERROR gridtool: failed to allocate 96 MiB (limit 16.0 EiB)\n"));
    }
}
