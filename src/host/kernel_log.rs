//! The kernel's log: Xid reports of the NVIDIA driver and kills for want of memory, where it may be read.

use super::Root;
use crate::reading::{Reading, unavailable};
use crate::system;
use crate::text::Text;
use std::io::Read;

/// As much as the kernel's ring holds on large machines.
const LARGEST_LOG: usize = 16 << 20;

/// Entries kept of each kind, the newest.
const KEPT: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelLog {
    /// Where it was read.
    pub source: String,
    pub xids: Vec<Xid>,
    /// Lines of the OOM killer that name the killed process.
    pub kills: Vec<String>,
}

/// A report of the NVIDIA driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xid {
    pub number: u32,
    /// PCI address, such as `0000:3b:00`.
    pub pci: String,
    pub message: String,
}

impl Xid {
    /// What the number usually says: NVIDIA's Xid catalogue (docs.nvidia.com/deploy/xid-errors) in short.
    pub fn meaning(&self) -> Text {
        let (en, zh) = match self.number {
            13 => ("graphics engine exception, mostly a fault of the program", "图形引擎异常，多为程序错误"),
            31 => ("memory page fault: the program used an illegal address", "显存缺页：程序访问了非法地址"),
            43 | 45 => (
                "the channel was closed, often after another error or a killed process",
                "通道被关闭，常见于其他错误或进程被杀之后",
            ),
            48 => ("uncorrectable (double-bit) ECC error", "不可纠正的（双比特）ECC 错误"),
            63 => ("a memory row was retired or is to be remapped", "显存行被停用或待重映射"),
            61 | 62 => {
                ("the GPU's internal micro-controller reported a fault or halted", "GPU 内部微控制器报告故障或停止")
            }
            64 => ("retiring or remapping a memory row failed", "显存行停用或重映射失败"),
            74 => ("NVLink error", "NVLink 错误"),
            79 => ("the GPU has fallen off the bus", "GPU 已从总线上掉线"),
            92 => ("high rate of single-bit ECC errors", "单比特 ECC 错误过多"),
            94 => ("uncorrectable ECC error, contained to one program", "不可纠正的 ECC 错误，已隔离在单个程序内"),
            95 => ("uncorrectable ECC error, not contained: reset needed", "不可纠正的 ECC 错误，未能隔离：需要重置"),
            119 | 120 => ("the GPU's system processor (GSP) timed out or failed", "GPU 系统处理器（GSP）超时或出错"),
            140 => ("uncorrectable ECC error that was not recovered from", "未能恢复的不可纠正 ECC 错误"),
            154 => (
                "the driver changed what it advises for recovery: see its own message",
                "驱动更改了建议的恢复操作：见其消息",
            ),
            _ => ("see NVIDIA's Xid catalogue", "见 NVIDIA 的 Xid 列表"),
        };
        Text::new(en, zh)
    }

    /// Reports of memory, links, bus and the board's own processors. Those that a program or the driver may cause as
    /// well say nothing about the hardware.
    pub fn is_hardware(&self) -> bool {
        matches!(self.number, 48 | 61..=64 | 74 | 79 | 92 | 94 | 95 | 119 | 120 | 140)
    }
}

impl KernelLog {
    /// The kernel's ring, else the file into which it is written.
    pub fn read(root: &Root) -> Reading<KernelLog> {
        let ring = ring(root);
        if let Ok(text) = &ring
            && !text.is_empty()
        {
            return Ok(KernelLog::of(text, "/dev/kmsg"));
        }
        for file in ["var/log/kern.log", "var/log/messages"] {
            if let Ok(text) = root.text(file) {
                return Ok(KernelLog::of(&text, &format!("/{file}")));
            }
        }
        match ring {
            Ok(_) => unavailable("the kernel's log is empty here", "此处的内核日志为空"),
            Err(reason) => Err(reason),
        }
    }

    fn of(text: &str, source: &str) -> KernelLog {
        let mut log = KernelLog { source: source.to_string(), ..KernelLog::default() };
        for line in text.lines() {
            if let Some(xid) = xid(line) {
                log.xids.push(xid);
            } else if line.contains("Killed process ") && line.contains("ut of memory") {
                let message = line.split_once(';').map_or(line, |(_, message)| message);
                log.kills.push(message.chars().take(200).collect());
            }
        }
        log.xids.drain(..log.xids.len().saturating_sub(KEPT));
        log.kills.drain(..log.kills.len().saturating_sub(KEPT));
        log
    }
}

/// `NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.`
fn xid(line: &str) -> Option<Xid> {
    let (_, rest) = line.split_once("NVRM: Xid (PCI:")?;
    let (pci, rest) = rest.split_once("): ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let message = rest[digits..].trim_start_matches([',', ' ']);
    Some(Xid {
        number: rest[..digits].parse().ok()?,
        pci: pci.to_ascii_lowercase(),
        message: message.chars().take(200).collect(),
    })
}

/// Everything that is in the ring now; each read yields one record, and buffers smaller than a record are refused.
fn ring(root: &Root) -> Reading<String> {
    let path = root.path("dev/kmsg");
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    system::without_waiting(&mut options);
    let mut file = match options.open(path) {
        Ok(file) => file,
        Err(error) => return super::missing("dev/kmsg", &error),
    };
    let mut record = vec![0; 16 << 10];
    let mut bytes = Vec::new();
    let mut overwritten = 0;
    while bytes.len() < LARGEST_LOG && overwritten < 1000 {
        match file.read(&mut record) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&record[..length]),
            // The ring went on while it was read.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => overwritten += 1,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
            Err(error) if bytes.is_empty() => return super::missing("dev/kmsg", &error),
            Err(_) => break,
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_the_driver_and_kills_are_found() {
        let log = KernelLog::of(
            "4,881,1029384756,-;NVRM: Xid (PCI:0000:5E:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off \
             the bus.\n\
             3,912,1129384756,-;Out of memory: Killed process 5120 (python) total-vm:1kB, anon-rss:1kB\n\
             6,913,1129384757,-;usb 1-1: new device\n",
            "/dev/kmsg",
        );
        assert_eq!((log.xids[0].number, log.xids[0].pci.as_str()), (79, "0000:5e:00"));
        assert!(log.xids[0].is_hardware() && log.kills[0].starts_with("Out of memory: Killed process 5120"));
        assert_eq!((log.xids.len(), log.kills.len()), (1, 1));
        assert_eq!(xid("NVRM: Xid (PCI:0000:5e:00): x"), None);
        // An illegal command is the program's or the driver's.
        let other = xid("NVRM: Xid (PCI:0000:5e:00): 32, pid=7, invalid push buffer");
        assert!(other.is_some_and(|xid| !xid.is_hardware()));
    }
}
