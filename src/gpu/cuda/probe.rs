//! What the child does: one step after another, each reported as soon as it is done.
//!
//! Order: what disturbs least comes first, so that a step which hangs or dies takes only the ones after it along.

use super::driver::{Attribute, Context, CudaDevice, Driver};
use super::experiment;
use super::failure::{Failure, Property, Step};
use super::kernels::{Kernels, mix64};
use super::limits::{Limits, Watch, margin};
use super::protocol::{
    Bandwidth, DeviceFacts, DriverFacts, Finding, Largest, Latency, Line, MemoryCheck, MemoryFacts, ProbeRequest,
    Taken, Which,
};
use crate::order::InOrder;
use crate::units::{GIB, MIB};
use std::time::Instant;

/// Does all that was asked for. Every step says that it begins and what it found.
pub fn run(request: &ProbeRequest, say: &mut dyn FnMut(Line)) {
    let watch = Watch::new(request.seconds);
    say(Line::Begin(Step::Driver));
    let driver = match Driver::load() {
        Ok(driver) => driver,
        Err(failure) => {
            say(Line::Found(Finding::Driver(Err(failure))));
            say(Line::Done);
            return;
        }
    };
    let found =
        driver.version().and_then(|cuda_version| Ok(DriverFacts { cuda_version, devices: driver.device_count()? }));
    let devices = found.as_ref().map_or(0, |facts| facts.devices);
    say(Line::Found(Finding::Driver(found)));
    say(Line::Begin(Step::Device));
    let device = choose(&driver, &request.which, devices);
    let facts = device.and_then(|(ordinal, device)| Ok((describe(&device, ordinal)?, device)));
    match facts {
        Err(failure) => say(Line::Found(Finding::Device(Err(failure)))),
        Ok((facts, device)) => {
            say(Line::Found(Finding::Device(Ok(facts.clone()))));
            say(Line::Begin(Step::Context));
            match device.context() {
                Err(failure) => say(Line::Found(Finding::Memory(Err(failure)))),
                Ok(context) => within(request, &facts, &context, &watch, say),
            }
        }
    }
    say(Line::Done);
}

fn choose<'d>(driver: &'d Driver, which: &Which, devices: u32) -> Taken<(u32, CudaDevice<'d>)> {
    match which {
        Which::Ordinal(ordinal) if *ordinal < devices => Ok((*ordinal, driver.device(*ordinal)?)),
        Which::Ordinal(ordinal) => Err(Failure::NoSuchDevice { wanted: ordinal.to_string(), visible: devices }),
        Which::Uuid(uuid) => {
            let digits = |uuid: &str| uuid.trim_start_matches("GPU-").trim_start_matches("MIG-").to_ascii_lowercase();
            for ordinal in 0..devices {
                let device = driver.device(ordinal)?;
                if digits(&device.uuid()?) == digits(uuid) {
                    return Ok((ordinal, device));
                }
            }
            Err(Failure::NoSuchDevice { wanted: uuid.clone(), visible: devices })
        }
    }
}

fn describe(device: &CudaDevice, ordinal: u32) -> Taken<DeviceFacts> {
    let positive = |attribute| device.attribute(attribute).ok().filter(|value| *value > 0);
    let peak = positive(Attribute::BusWidth)
        .zip(positive(Attribute::MemoryClock))
        .map(|(bits, kilohertz)| f64::from(bits) / 8.0 * f64::from(kilohertz) * 1000.0 * 2.0);
    Ok(DeviceFacts {
        ordinal,
        name: device.name()?,
        uuid: device.uuid(),
        total: device.total()?,
        multiprocessors: positive(Attribute::Multiprocessors).unwrap_or(1) as u32,
        capability: (
            device.attribute(Attribute::CapabilityMajor).unwrap_or(0),
            device.attribute(Attribute::CapabilityMinor).unwrap_or(0),
        ),
        l2_bytes: positive(Attribute::L2Bytes).map(|bytes| bytes as u64),
        integrated: positive(Attribute::Integrated).is_some(),
        coherent: positive(Attribute::HostPageTables).is_some(),
        virtual_memory: positive(Attribute::VirtualMemory).is_some(),
        memory_pools: positive(Attribute::MemoryPools).is_some(),
        peak_bandwidth: peak,
    })
}

fn within(request: &ProbeRequest, facts: &DeviceFacts, context: &Context, watch: &Watch, say: &mut dyn FnMut(Line)) {
    let memory = match context.memory() {
        Ok(memory) => memory,
        Err(failure) => return say(Line::Found(Finding::Memory(Err(failure)))),
    };
    let margin = margin(memory.total, request.known_idle, request.display);
    let own = context_at_most(facts.multiprocessors);
    let taken = request.free_before.and_then(|before| before.checked_sub(memory.free));
    let beyond = taken.map_or(0, |taken| taken.saturating_sub(own));
    say(Line::Found(Finding::Memory(Ok(MemoryFacts {
        free: memory.free,
        total: memory.total,
        context: taken.filter(|_| beyond == 0),
        beyond,
        margin,
    }))));
    let fills = request.fill || !request.experiment.is_empty();
    // Where nobody has vouched for the device, what is in use beyond the largest plausible context is another's; where
    // somebody has, what is gone since then is.
    let strange = if request.free_before.is_some() { beyond } else { memory.used().saturating_sub(own) };
    if strange > 0 && !request.busy_allowed && (fills || request.free_before.is_none()) {
        return say(Line::Found(Finding::Busy(strange)));
    }
    say(Line::Begin(Step::Granularity));
    let granularity = if facts.virtual_memory {
        context.granularity()
    } else {
        Err(Failure::Unsuitable { property: Property::NoVirtualMemory })
    };
    say(Line::Found(Finding::Granularity(granularity.clone())));

    let asked = |wanted: bool, flag: &str| if wanted { Ok(()) } else { Err(Failure::NotAsked { flag: flag.into() }) };
    let limits = Limits { margin, buffer: request.buffer };
    let bench = || asked(request.bench, "--bench").and_then(|()| limits.room(context, 16 * MIB));
    let mut step = |step: Step, work: &mut dyn FnMut() -> Finding| {
        say(Line::Begin(step));
        say(Line::Found(work()));
    };
    step(Step::Bandwidth, &mut || Finding::Bandwidth(bench().and_then(|()| bandwidth(context, facts, &limits, watch))));
    step(Step::MemoryCheck, &mut || Finding::Check(bench().and_then(|()| check(context, facts, &limits, watch))));
    step(Step::Latencies, &mut || {
        Finding::Latencies(bench().and_then(|()| latencies(context, facts, granularity.clone().ok(), &limits, watch)))
    });
    let fill = |wanted: bool, flag: &str| {
        asked(wanted, flag)?;
        match unsuitable(request, facts) {
            Some(property) => Err(Failure::Unsuitable { property }),
            None => Ok(()),
        }
    };
    step(Step::Largest, &mut || {
        Finding::Largest(
            fill(request.fill, "--allow-fill")
                .and_then(|()| largest(context, granularity.clone().ok(), &limits, watch)),
        )
    });
    step(Step::Experiment, &mut || {
        Finding::Experiment(fill(!request.experiment.is_empty(), "--reproduce").and_then(|()| {
            let granularity = granularity.clone()?;
            let kernels = Kernels::load(context, facts.multiprocessors)?;
            let run = |state| experiment::run(context, &kernels, state, granularity, &limits, watch);
            Ok(request.experiment.iter().map(run).collect())
        }))
    });
}

/// Why filling this device would harm or prove nothing.
fn unsuitable(request: &ProbeRequest, facts: &DeviceFacts) -> Option<Property> {
    // Where the service runs with its defaults, no variable points to it.
    let service = std::env::var_os("CUDA_MPS_PIPE_DIRECTORY").is_some()
        || std::path::Path::new("/tmp/nvidia-mps/control").exists();
    let spills = cfg!(windows) || std::path::Path::new("/usr/lib/wsl/lib").exists();
    request.unsuitable.or_else(|| {
        [
            (facts.integrated, Property::Integrated),
            (facts.coherent, Property::Coherent),
            (spills, Property::SpillsToHost),
            (service, Property::MultiProcessService),
        ]
        .into_iter()
        .find_map(|(is, property)| is.then_some(property))
    })
}

/// The largest plausible cost of a bare context: contexts of three boards cost 2.95–3.1 MiB per multiprocessor, plus
/// what the driver holds for itself and a display.
fn context_at_most(multiprocessors: u32) -> u64 {
    u64::from(multiprocessors) * 4 * MIB + 800 * MIB
}

fn bandwidth(context: &Context, facts: &DeviceFacts, limits: &Limits, watch: &Watch) -> Taken<Bandwidth> {
    // Eight times the cache, so that it serves little of what is read; two buffers for the copy.
    let wanted = (facts.l2_bytes.unwrap_or(0) * 8).clamp(256 * MIB, GIB);
    let kernels = Kernels::load(context, facts.multiprocessors)?;
    let buffer = wanted.min(limits.buffer.unwrap_or(u64::MAX)).min(limits.usable(context)? / 2) / MIB * MIB;
    let (from, to) = (context.alloc(buffer)?, context.alloc(buffer)?);
    let rate = |bytes: u64, time: &dyn Fn() -> Taken<f64>| -> Taken<f64> {
        for _ in 0..3 {
            time()?;
        }
        let mut times = Vec::new();
        for _ in 0..10 {
            watch.in_time()?;
            times.push(time()?);
        }
        let seconds = median(times);
        if seconds > 0.0 {
            Ok(bytes as f64 / seconds)
        } else {
            Err(Failure::Implausible { what: format!("{bytes} bytes in {seconds} s") })
        }
    };
    Ok(Bandwidth {
        buffer,
        write: rate(buffer, &|| kernels.time_write(&from))?,
        read: rate(buffer, &|| kernels.time_read(&from))?,
        copy: rate(2 * buffer, &|| kernels.time_copy(&to, &from))?,
        peak: facts.peak_bandwidth,
    })
}

/// Two passes, a pattern and its complement, so that every bit is seen as 0 and as 1.
fn check(context: &Context, facts: &DeviceFacts, limits: &Limits, watch: &Watch) -> Taken<MemoryCheck> {
    let kernels = Kernels::load(context, facts.multiprocessors)?;
    let (quarter, usable) = (context.memory()?.free / 4, limits.usable(context)?);
    let bytes = GIB.min(quarter).min(usable).min(limits.buffer.unwrap_or(u64::MAX)) / MIB * MIB;
    let memory = context.alloc(bytes)?;
    let seed = 0x006f_6f6d_646f_6300 ^ u64::from(std::process::id());
    let mut found = MemoryCheck { bytes, wrong_words: 0, first: Vec::new(), sums_agree: false };
    let mut sums = 0u64;
    for flip in [0, u64::MAX] {
        watch.in_time()?;
        kernels.fill(&memory, seed, flip)?;
        let verdict = kernels.verify(&memory, seed, flip)?;
        found.wrong_words = found.wrong_words.saturating_add(verdict.wrong);
        found.first.extend(verdict.first.iter().map(|(index, bits)| (index.saturating_mul(8), *bits)));
        sums = sums.wrapping_add(verdict.sum);
        // Filling and verifying share their arithmetic on the device: the host has a look at the first words itself.
        let mut words = [0u64; 512];
        memory.read(&mut words)?;
        let as_written = |(index, word): (usize, &u64)| *word == mix64(index as u64, seed) ^ flip;
        if verdict.wrong == 0 && !words.iter().enumerate().all(as_written) {
            return Err(Failure::Implausible { what: "the fill kernel wrote another pattern".into() });
        }
    }
    found.first.truncate(16);
    // A word and its complement add up to 2^64 − 1.
    found.sums_agree = sums == 0u64.wrapping_sub(bytes / 8);
    Ok(found)
}

fn latencies(
    context: &Context,
    facts: &DeviceFacts,
    granularity: Option<u64>,
    limits: &Limits,
    watch: &Watch,
) -> Taken<Vec<Latency>> {
    let mut found = Vec::new();
    for bytes in [2 * MIB, 32 * MIB, 256 * MIB, GIB] {
        // Twice, since the pool may still hold one while the next is made.
        if bytes > limits.usable(context)? / 2 {
            break;
        }
        let (mut alloc, mut free) = (Vec::new(), Vec::new());
        let (mut pool_alloc, mut pool_free, mut map) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..20 {
            watch.in_time()?;
            let start = Instant::now();
            let block = context.alloc(bytes)?;
            alloc.push(start.elapsed().as_secs_f64());
            context.synchronize()?;
            let start = Instant::now();
            block.free()?;
            free.push(start.elapsed().as_secs_f64());
        }
        if facts.memory_pools {
            for _ in 0..20 {
                watch.in_time()?;
                let start = Instant::now();
                let Ok(block) = context.alloc_from_pool(bytes) else { break };
                pool_alloc.push(start.elapsed().as_secs_f64());
                let start = Instant::now();
                block.free()?;
                pool_free.push(start.elapsed().as_secs_f64());
            }
            context.synchronize()?;
        }
        if let Some(granularity) = granularity
            && bytes % granularity == 0
        {
            for _ in 0..20 {
                watch.in_time()?;
                let start = Instant::now();
                let mut range = context.reserve(bytes)?;
                range.map(0, context.create(bytes)?)?;
                range.allow_access()?;
                map.push(start.elapsed().as_secs_f64());
            }
        }
        let known = |times: Vec<f64>| if times.is_empty() { None } else { Some(median(times)) };
        found.push(Latency {
            bytes,
            alloc: median(alloc),
            free: median(free),
            pool_alloc: known(pool_alloc),
            pool_free: known(pool_free),
            map: known(map),
        });
    }
    Ok(found)
}

/// The largest block that one call gets, and the most that pieces mapped together get, both within free less the
/// margin.
fn largest(context: &Context, granularity: Option<u64>, limits: &Limits, watch: &Watch) -> Taken<Largest> {
    let step = granularity.unwrap_or(2 * MIB);
    let free_before = context.memory()?.free;
    let bound = free_before.saturating_sub(limits.margin) / step * step;
    if bound == 0 {
        return Err(Failure::TooLittleFree { free: free_before, margin: limits.margin });
    }
    let fits = |bytes: u64| -> Taken<bool> {
        watch.undisturbed(context, free_before)?;
        watch.leaves(context, bytes, limits.margin)?;
        match context.alloc(bytes) {
            Ok(block) => block.free().map(|()| true),
            Err(failure) if failure.is_out_of_memory() => Ok(false),
            Err(failure) => Err(failure),
        }
    };
    let (mut fits_surely, mut fails) = (0, bound + step);
    let mut next = bound;
    while fails - fits_surely > step {
        if fits(next)? {
            fits_surely = next;
        } else {
            fails = next;
        }
        next = (fits_surely + (fails - fits_surely) / 2) / step * step;
    }
    let mapped = match granularity {
        None => None,
        Some(granularity) => {
            watch.undisturbed(context, free_before)?;
            Some(map_as_much(context, bound, granularity, limits, watch)?)
        }
    };
    Ok(Largest { single: fits_surely, mapped, bound, free_before })
}

/// Physical pieces, large ones as long as they come, mapped to one range of addresses; all given back at once.
fn map_as_much(context: &Context, bound: u64, granularity: u64, limits: &Limits, watch: &Watch) -> Taken<u64> {
    let mut range = context.reserve(bound)?;
    let mut mapped = 0;
    for piece in [GIB, 64 * MIB, granularity] {
        let piece = piece.max(granularity) / granularity * granularity;
        while mapped + piece <= bound {
            watch.leaves(context, piece, limits.margin)?;
            match context.create(piece) {
                Ok(physical) => range.map(mapped, physical)?,
                Err(failure) if failure.is_out_of_memory() => break,
                Err(failure) => return Err(failure),
            }
            mapped += piece;
        }
    }
    Ok(mapped)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.order_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
