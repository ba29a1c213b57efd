//! The record: one JSON object a line, the header first. Whatever happens to the file, the job goes on.

use crate::incident::timeline::{DeviceSample, Header, Point, ProcessSample, Quantity, Sample, Timeline};
use crate::order::InOrder;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// From this size on a record is written anew from what is kept in memory.
const LARGEST: u64 = 16 << 20;

/// Bytes of output that survive that.
const OUTPUT_KEPT: usize = 1 << 20;

/// Writes one.
pub struct Writer {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    written: u64,
    /// Samples with output, the newest.
    output: std::collections::VecDeque<(f64, String)>,
    output_bytes: usize,
    failed: Option<std::io::Error>,
}

impl Writer {
    /// Begins a record; `{rank}`, `{host}` and `{pid}` in its name stand for those, and a folder gets a file named by
    /// them.
    pub fn create(path: &Path, header: &Header) -> Writer {
        let mut writer = Writer {
            path: named(path, header),
            file: None,
            written: 0,
            output: std::collections::VecDeque::new(),
            output_bytes: 0,
            failed: None,
        };
        let mut file = own(&writer.path);
        if file.as_ref().is_ok_and(Option::is_none) {
            // Ranks that were given one name: each keeps its record.
            writer.path = PathBuf::from(format!("{}.{}", writer.path.display(), header.pid));
            file = own(&writer.path);
        }
        match file {
            Ok(file) => writer.file = file.map(BufWriter::new),
            Err(error) => writer.failed = Some(error),
        }
        writer.header(header);
        writer
    }

    /// Writes the header, or a new one that replaces it.
    pub fn header(&mut self, header: &Header) {
        if let Ok(line) = serde_json::to_string(header) {
            self.line(&line);
            self.flush();
        }
    }

    pub fn write(&mut self, sample: &Sample, timeline: &Timeline) {
        if let Some(output) = &sample.output {
            self.output_bytes += output.len();
            self.output.push_back((sample.at, output.clone()));
            while self.output_bytes > OUTPUT_KEPT
                && let Some((_, oldest)) = self.output.pop_front()
            {
                self.output_bytes -= oldest.len();
            }
        }
        if let Ok(line) = serde_json::to_string(sample) {
            self.line(&line);
        }
        if self.written > LARGEST {
            self.compact(timeline);
        }
    }

    fn line(&mut self, line: &str) {
        let Some(file) = &mut self.file else { return };
        self.written += line.len() as u64 + 1;
        if let Err(error) = file.write_all(line.as_bytes()).and_then(|()| file.write_all(b"\n")) {
            self.give_up(error);
        }
    }

    pub fn flush(&mut self) {
        if let Some(Err(error)) = self.file.as_mut().map(Write::flush) {
            self.give_up(error);
        }
    }

    /// A full disk: what is written stays, and nothing more is.
    fn give_up(&mut self, error: std::io::Error) {
        // Dropping it would try to write once more.
        if let Some(file) = self.file.take() {
            let _ = file.into_parts();
        }
        self.failed = Some(error);
    }

    /// Writes the thinned curves and the newest output in place of the file.
    fn compact(&mut self, timeline: &Timeline) {
        let temporary = self.path.with_extension("part");
        match self.compacted(&temporary, timeline) {
            Ok((file, written)) => (self.file, self.written) = (Some(file), written),
            Err(error) => {
                let _ = std::fs::remove_file(&temporary);
                self.give_up(error);
            }
        }
    }

    fn compacted(&self, path: &Path, timeline: &Timeline) -> std::io::Result<(BufWriter<File>, u64)> {
        let mut file = BufWriter::new(own(path)?.ok_or(std::io::ErrorKind::AlreadyExists)?);
        let mut written = 0;
        let mut put = |line: String| {
            written += line.len() as u64 + 1;
            file.write_all(line.as_bytes()).and_then(|()| file.write_all(b"\n"))
        };
        put(serde_json::to_string(&timeline.header)?)?;
        for sample in kept(timeline) {
            put(serde_json::to_string(&sample)?)?;
        }
        for (at, output) in &self.output {
            put(serde_json::to_string(&Sample { at: *at, output: Some(output.clone()), ..Sample::default() })?)?;
        }
        file.flush()?;
        std::fs::rename(path, &self.path)?;
        Ok((file, written))
    }

    /// Ends it; why it is not whole, where it is not.
    pub fn finish(mut self) -> Option<std::io::Error> {
        self.flush();
        self.failed.take()
    }
}

/// An empty file that this process alone writes; `None` where another one writes it now. Where the file system
/// knows no locks, nobody can be told apart.
fn own(path: &Path) -> std::io::Result<Option<File>> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    if file.metadata()?.is_file() {
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::AGAIN) {
            return Ok(None);
        }
        file.set_len(0)?;
    }
    Ok(Some(file))
}

/// The file's name.
fn named(path: &Path, header: &Header) -> PathBuf {
    let host = header.host.clone().unwrap_or_else(|| "host".to_string());
    let rank = header.rank.map_or_else(|| format!("pid{}", header.pid), |rank| rank.to_string());
    let fill =
        |text: &str| text.replace("{rank}", &rank).replace("{host}", &host).replace("{pid}", &header.pid.to_string());
    let text = path.to_string_lossy();
    if path.is_dir() || text.ends_with('/') {
        let _ = std::fs::create_dir_all(path);
        return path.join(fill("{host}-{rank}.record"));
    }
    PathBuf::from(fill(&text))
}

/// Samples that make the same curves again.
fn kept(timeline: &Timeline) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for (quantity, curve) in &timeline.curves {
        samples.extend(curve.points.iter().map(|point| sample_of(timeline, *quantity, *point)));
    }
    for process in timeline.processes.values() {
        samples.extend(process.curve.points.iter().map(|point| Sample {
            at: point.at,
            processes: vec![ProcessSample {
                pid: process.pid,
                parent: process.parent,
                name: process.name.clone(),
                worker: process.worker,
                own: point.bytes,
                rank: process.rank,
                threads: process.threads,
                addresses: process.addresses,
                locked: process.locked,
            }],
            ..Sample::default()
        }));
    }
    let steps = timeline.steps.iter().map(|(at, step)| Sample { at: *at, step: Some(*step), ..Sample::default() });
    samples.extend(steps);
    let stalls = timeline.stalls.iter();
    samples.extend(stalls.map(|(at, share)| Sample { at: *at, stalled: Some(*share), ..Sample::default() }));
    let victims = timeline.victims.iter();
    samples.extend(victims.map(|(at, victim)| Sample { at: *at, victims: vec![victim.clone()], ..Sample::default() }));
    samples.extend(timeline.count.map(|count| Sample { at: timeline.lasted, count: Some(count), ..Sample::default() }));
    if !timeline.inside.is_empty() {
        samples.push(Sample { at: timeline.lasted, inside: timeline.inside.clone(), ..Sample::default() });
    }
    samples.order_by(|a, b| a.at.total_cmp(&b.at));
    samples
}

fn sample_of(timeline: &Timeline, quantity: Quantity, point: Point) -> Sample {
    let bytes = Some(point.bytes);
    let mut sample = Sample { at: point.at, ..Sample::default() };
    match quantity {
        Quantity::Job => sample.job = bytes,
        Quantity::Cgroup => sample.cgroup = bytes,
        Quantity::Host => sample.host = bytes,
        Quantity::Shm => sample.shm = bytes,
        Quantity::Resident => sample.resident = bytes,
        Quantity::Locked => sample.locked = bytes,
        Quantity::Shared => sample.shared = bytes,
        Quantity::Swap => sample.swap = bytes,
        Quantity::Swapped => sample.swapped = bytes,
        Quantity::Device(index) => {
            let own = timeline.curve(Quantity::Own(index)).and_then(|own| own.at(point.at)).map(|own| own.bytes);
            sample.devices = vec![DeviceSample { index, used: point.bytes, own, others: Vec::new() }];
        }
        // Written with the whole device.
        Quantity::Own(_) => {}
    }
    sample
}
