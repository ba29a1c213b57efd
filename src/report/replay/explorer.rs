//! What the page's explorer needs of the report: the packed record of each device, and its words.

use super::wording;
use crate::privacy;
use crate::report::Style;
use crate::snapshot::analysis::DeviceAnalysis;
use crate::snapshot::holders::Sites;
use crate::snapshot::{Device, Snapshot, pack};
use crate::text::{Lang, Text};
use serde_json::{Map, Value, json};
use std::cell::RefCell;

/// The record of a device, its names without what must not leave.
pub fn packed(
    snapshot: &Snapshot,
    device: &Device,
    analysis: &DeviceAnalysis,
    sites: &mut Sites<'_>,
    style: Style,
) -> Vec<u8> {
    if device.trace.is_empty() && device.segments.is_empty() {
        return Vec::new();
    }
    // Both closures ask the same places; never at once.
    let sites = RefCell::new(sites);
    let mut site = |stack: u32| sites.borrow_mut().of(stack);
    let label = |site: u32| wording::place(sites.borrow().get(site)).in_lang(style.lang).to_string();
    let leaving = |names: &str| privacy::leaving(names, style.redact).into_owned();
    let mut names = pack::Names { site: &mut site, label: &label, leaving: &leaving };
    pack::pack(snapshot, device, &analysis.history, &mut names)
}

pub fn title() -> Text {
    Text::new("Every allocation", "逐个分配")
}

/// Stands there until the program has read the record, and where none runs.
pub fn waiting() -> Text {
    Text::new(
        "The timeline of single allocations needs JavaScript and a browser of 2023 or later.",
        "逐个分配的时间线需要 JavaScript 和 2023 年以后的浏览器。",
    )
}

pub fn drop_title() -> Text {
    Text::new("Compare with another snapshot: drop it here, or", "与另一个快照比较：拖放到此处，或选择文件")
}

pub fn drop_hint() -> Text {
    Text::new(
        "A .pickle, .pickle.gz or .json of torch.cuda.memory. It is read on this page and goes nowhere.",
        "torch.cuda.memory 的 .pickle、.pickle.gz 或 .json。文件只在本页读取，不会上传。",
    )
}

/// The words of the program, by the names that it knows. `#` stands for a value.
pub fn words(lang: Lang) -> Value {
    let words: Map<String, Value> =
        WORDS.iter().map(|(name, en, zh)| (name.to_string(), json!(if lang == Lang::En { en } else { zh }))).collect();
    let mut words = Value::Object(words);
    let keys: Vec<Value> =
        KEYS.iter().map(|(key, en, zh)| json!([key, if lang == Lang::En { en } else { zh }])).collect();
    words["keys"] = Value::Array(keys);
    words
}

const WORDS: &[(&str, &str, &str)] = &[
    ("address", "address", "地址"),
    ("all", "all", "全部"),
    ("allocated", "allocated", "分配"),
    ("any_entry", "any entry", "任意记录"),
    ("at_end", "end of the recording", "记录结束时"),
    ("at_entry", "at entry #", "第 # 条记录"),
    ("at_peak", "peak", "峰值"),
    ("back", "one entry back (←)", "上一条记录（←）"),
    ("before", "before the recording", "记录开始之前"),
    ("block", "block", "block"),
    ("blocks", "# blocks", "# 个 block"),
    ("by_place", "place", "代码位置"),
    ("by_places", "In use after this entry, by place", "此刻的占用，按代码位置"),
    ("by_pool", "pool", "内存池"),
    ("by_size", "size", "大小"),
    ("by_stream", "stream", "流"),
    ("change", "change", "变化"),
    ("choose", "Click an allocation in the timeline or the map.", "点击时间线或内存图中的一次分配。"),
    ("chosen", "Chosen allocation", "选中的分配"),
    ("close", "Close", "关闭"),
    ("colour", "Colour by", "着色依据"),
    ("compare", "Compare at", "比较时刻"),
    ("damaged", "damaged at byte #", "第 # 字节处已损坏"),
    ("default_pool", "default pool", "默认池"),
    ("difference", "Difference from # to #", "从 # 到 # 的变化"),
    ("ends_early", "ends early, at byte #", "在第 # 字节处提前结束"),
    ("entries", "Entries around it", "前后的记录"),
    ("entries_long", "# entries", "# 条记录"),
    ("entry", "entry", "记录"),
    ("entry_of", "entry # of #", "第 #/# 条记录"),
    ("failed", "The record of this page cannot be shown: #", "无法显示本页的记录：#"),
    ("filter", "Filter", "筛选"),
    ("filter_example", "forward  >64MiB  /regex/", "forward  >64MiB  /正则/"),
    ("found", "# of # allocations match", "#/# 次分配符合"),
    ("freed", "freed", "释放"),
    ("help", "Keys (?)", "按键（?）"),
    ("idle", "reserved, not in use", "已保留但空闲"),
    ("large_segments", "segments for requests above 1 MiB", "大于 1 MiB 请求的段"),
    ("lifetime", "lifetime", "存活"),
    ("map", "Memory map after this entry", "此刻的内存图"),
    (
        "map_note",
        "# reserved in # segments; # in use, # free inside of segments. A row is #.",
        "已保留 #，共 # 个段；占用 #，段内空闲 #。每行 #。",
    ),
    ("mapped", "mapped range of #", "已映射区间 #"),
    ("matching", "matching ones", "符合条件的"),
    ("more", "# more", "另有 # 项"),
    ("never", "not until the end", "直到结束未释放"),
    ("no_snapshot", "holds no memory snapshot", "不含显存快照"),
    ("no_trace", "No history was recorded: only the final state is known.", "没有记录历史：只知道最终状态。"),
    ("not_matching", "does not match", "不符合"),
    ("on", "one entry on (→)", "下一条记录（→）"),
    ("only", "only matching ones", "只看符合的"),
    ("oom_entry", "oom: # asked for, # free on the device", "oom：请求 #，设备空闲 #"),
    ("overview", "Whole recording: drag to choose a part", "整个记录：拖动选择一段"),
    ("peak", "Peak", "峰值"),
    ("pending", "asked for at entry #, still waiting for another stream", "第 # 条记录请求释放，仍在等待其他流"),
    ("pool", "pool", "内存池"),
    ("private_pool", "private pool (#, #)", "私有池 (#, #)"),
    ("private_segments", "segments of private pools", "私有池的段"),
    ("reading", "Reading # …", "正在读取 # …"),
    ("rounded", "# (# more by rounding)", "#（取整多出 #）"),
    (
        "runs_code",
        "would run code at byte #: refused. No memory snapshot needs that",
        "第 # 字节处会执行代码：已拒绝。显存快照不需要这样做",
    ),
    ("segment_of", "segment of #", "段 #"),
    ("silent", "no stack recorded", "未记录调用栈"),
    ("size", "size", "大小"),
    (
        "skipped",
        "This page carries the newest entries; the # before them are left out, what they left behind is in the first \
         state.",
        "本页只含最新的记录；更早的 # 条已省略，其结果计入初始状态。",
    ),
    ("small", "for requests up to 1 MiB", "用于不超过 1 MiB 的请求"),
    ("small_segments", "segments for requests up to 1 MiB", "不超过 1 MiB 请求的段"),
    ("step_over", "Step to", "单步到"),
    ("stream", "stream", "流"),
    ("then", "# in use, # reserved", "占用 #，保留 #"),
    ("to_birth", "Go to its allocation", "跳到分配处"),
    ("to_end", "last entry (End)", "最后一条（End）"),
    ("to_free", "Go to its free", "跳到释放处"),
    ("to_oom", "next failed request (o)", "下一次请求失败（o）"),
    ("to_peak", "peak (p)", "峰值（p）"),
    ("to_start", "first entry (Home)", "第一条（Home）"),
    ("total", "all together", "合计"),
    ("view", "Show", "显示"),
    ("view_allocations", "allocations over time", "分配随时间"),
    ("view_segments", "segments over time", "段随时间"),
    ("view_space", "address space over time", "地址空间随时间"),
    ("zoom_all", "Whole recording", "整个记录"),
];

const KEYS: &[(&str, &str, &str)] = &[
    ("← →", "one entry back or on; with Shift 100", "前后一条记录；按住 Shift 为 100 条"),
    ("Home End", "first and last entry", "第一条和最后一条记录"),
    ("+ − 0", "zoom in, out, whole recording (also w and s)", "放大、缩小、整个记录（也可用 w、s）"),
    ("PgUp PgDn, a d", "move the stretch in view", "平移"),
    ("p, o", "peak; next failed request", "峰值；下一次请求失败"),
    ("Enter", "choose what the entry is about", "选中该记录涉及的分配"),
    ("b, f", "where the chosen allocation begins and is freed", "选中分配的分配处和释放处"),
    ("v", "allocations, segments, address space", "分配、段、地址空间"),
    ("/", "filter: words of a stack, >64MiB, <1MiB, /regex/", "筛选：调用栈中的词、>64MiB、<1MiB、/正则/"),
    ("Esc", "choose nothing", "取消选择"),
    ("wheel", "zoom; with Shift the bytes", "滚轮缩放；按住 Shift 缩放字节轴"),
    ("drag", "move; with Shift choose a stretch", "拖动平移；按住 Shift 选择一段"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A word that the program asks for and nobody wrote would stand there as an error, one that nobody asks for stays
    /// for ever.
    #[test]
    fn the_program_and_the_words_agree() {
        let program =
            [include_str!("page/explorer.js"), include_str!("page/pickle.js"), include_str!("page/model.js")].concat();
        for (name, en, zh) in WORDS {
            let used = program.contains(&format!("say(\"{name}\""))
                || program.contains(&format!("words.{name}"))
                || program.contains(&format!("\"{name}\""));
            assert!(used, "{name} is not used");
            assert_eq!(en.matches('#').count(), zh.matches('#').count(), "{name}");
        }
        for ask in program.split("words.").skip(1) {
            let name: String = ask.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            let known = name == "keys" || WORDS.iter().any(|(word, _, _)| *word == name);
            assert!(known || name == "textContent", "{name} is asked for");
        }
    }
}
