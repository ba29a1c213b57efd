//! GPUs of other makers, as far as plain files tell of them.

use crate::domain::closed_set;
use crate::host::Root;
use crate::reading::{Reading, unavailable};
use crate::text::Text;

/// A GPU that NVML does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    pub maker: Maker,
    /// Such as `card1`.
    pub name: String,
    /// Dedicated memory.
    pub total: Reading<u64>,
    pub used: Reading<u64>,
    /// RAM that the GPU may map (GTT).
    pub mapped_total: Reading<u64>,
    pub mapped_used: Reading<u64>,
}

closed_set! {
    pub enum Maker {
        Amd = "amd",
        Apple = "apple",
    }
}

impl Maker {
    /// What is read of it, and what is not.
    pub fn text(self) -> Text {
        match self {
            Maker::Amd => Text::new(
                "AMD GPU: memory is read from the driver's files; processes and faults are shown by amd-smi.",
                "AMD GPU：显存取自驱动文件；进程与故障请用 amd-smi 查看。",
            ),
            Maker::Apple => Text::new(
                "Apple GPU: it shares the RAM; PyTorch allows itself 1.7 × the recommended working set \
                 (PYTORCH_MPS_HIGH_WATERMARK_RATIO). The system does not report GPU memory per process.",
                "Apple GPU：与内存共享；PyTorch 默认最多使用建议工作集的 1.7 倍（PYTORCH_MPS_HIGH_WATERMARK_RATIO）。系\
                 统不提供各进程的显存占用。",
            ),
        }
    }
}

/// All of them.
pub fn read(root: &Root) -> Vec<Other> {
    let mut out = Vec::new();
    let cards = root.names("sys/class/drm").unwrap_or_default();
    for card in cards {
        let is_card = card
            .strip_prefix("card")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        let folder = format!("sys/class/drm/{card}/device");
        if !is_card || !root.text(&format!("{folder}/vendor")).is_ok_and(|vendor| vendor.trim() == "0x1002") {
            continue;
        }
        let figure = |name: &str| root.number(&format!("{folder}/{name}"));
        out.push(Other {
            maker: Maker::Amd,
            name: card.clone(),
            total: figure("mem_info_vram_total"),
            used: figure("mem_info_vram_used"),
            mapped_total: figure("mem_info_gtt_total"),
            mapped_used: figure("mem_info_gtt_used"),
        });
    }
    if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
        let shared = || unavailable("the GPU shares the RAM", "GPU 与内存共享");
        out.push(Other {
            maker: Maker::Apple,
            name: "Apple GPU".into(),
            total: shared(),
            used: shared(),
            mapped_total: shared(),
            mapped_used: shared(),
        });
    }
    out
}
