//! Who holds memory: stacks shortened to the program's own code, what kind of tensor it most likely is, how large.

use super::history::{Allocation, History};
use super::model::Snapshot;
use super::store::{NONE, NumberMap};
use crate::domain::closed_set;
use crate::order::InOrder;
use crate::text::Text;
use std::collections::HashMap;

closed_set! {
    /// What kind of memory an allocation most likely is.
    pub enum Category {
        Parameters = "parameters",
        Gradients = "gradients",
        Optimizer = "optimizer",
        Activations = "activations",
        Temporary = "temporary",
        /// Workspaces of libraries such as cuBLAS.
        Workspace = "workspace",
        Unknown = "unknown",
    }
}

impl Category {
    pub fn text(self) -> Text {
        match self {
            Category::Parameters => Text::new("parameters", "模型参数"),
            Category::Gradients => Text::new("gradients", "梯度"),
            Category::Optimizer => Text::new("optimizer state", "优化器状态"),
            Category::Activations => Text::new("activations", "激活值"),
            Category::Temporary => Text::new("temporaries", "临时张量"),
            Category::Workspace => Text::new("library workspaces", "库工作区"),
            Category::Unknown => Text::new("unknown category", "类别不明"),
        }
    }
}

closed_set! {
    /// How far a category can be relied on.
    pub enum Certainty {
        /// Only by how long it lives, or by what ran around it.
        Guess = "guess",
        /// The stack says so in the usual case.
        Likely = "likely",
        /// The stack names it.
        Sure = "sure",
    }
}

impl Certainty {
    pub fn text(self) -> Text {
        match self {
            Certainty::Guess => Text::new("a guess", "推测"),
            Certainty::Likely => Text::new("likely", "较可能"),
            Certainty::Sure => Text::new("sure", "确定"),
        }
    }
}

/// A place in the program that memory comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The innermost frame of the program's own code, else of the framework: `models.py:181 update_nodes`.
    pub label: String,
    /// What that line ran: the innermost framework frame, where there is one besides the label.
    pub inner: Option<String>,
    /// The whole stack, innermost first, runs of framework frames folded into one line.
    pub frames: Vec<String>,
    /// The innermost frame of its own that no other place of the same label has.
    pub told_by: Option<String>,
    phase: Phase,
}

/// What the program was doing, as its stack tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    OptimizerState,
    Optimizer,
    ZeroGrad,
    AccumulateGrad,
    Backward,
    Building,
    Forward,
    Library,
    Other,
    /// No stack at all.
    Silent,
    /// Allocated before the recording began, without a stack.
    Before,
}

/// Most frames of a stack that are shown.
const FRAMES_SHOWN: usize = 24;
/// Tensors that live for fewer trace entries than this are temporaries of one operation.
const TEMPORARY_ENTRIES: u32 = 64;

/// The same for what an optimizer makes in a step over all parameters at once.
const OPTIMIZER_SCRATCH_ENTRIES: u32 = 4096;

/// All sites of a snapshot, found on first use.
pub struct Sites<'s> {
    snapshot: &'s Snapshot,
    of_stack: NumberMap<u32, u32>,
    known: HashMap<(String, Option<String>, Vec<String>, Phase), u32>,
    pub sites: Vec<Site>,
}

impl<'s> Sites<'s> {
    pub fn new(snapshot: &'s Snapshot) -> Sites<'s> {
        Sites { snapshot, of_stack: NumberMap::default(), known: HashMap::new(), sites: Vec::new() }
    }

    /// The site of a stack: stacks that differ only inside of the framework are one.
    pub fn of(&mut self, stack: u32) -> u32 {
        if let Some(&site) = self.of_stack.get(&stack) {
            return site;
        }
        let site = site(self.snapshot, stack);
        // Stacks differ in the lines of the framework; what the program did is one thing.
        let own: Vec<String> = site.frames.iter().filter(|frame| !frame.starts_with('(')).cloned().collect();
        let key = (site.label.clone(), site.inner.clone(), own, site.phase);
        let id = match self.known.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.sites.len() as u32;
                self.sites.push(site);
                self.known.insert(key, id);
                id
            }
        };
        self.of_stack.insert(stack, id);
        id
    }

    /// Where everything comes from that was there before the recording and has no stack.
    fn before(&mut self) -> u32 {
        let key = (String::new(), None, Vec::new(), Phase::Before);
        *self.known.entry(key).or_insert_with(|| {
            let (label, frames) = (String::new(), Vec::new());
            self.sites.push(Site { label, inner: None, frames, told_by: None, phase: Phase::Before });
            self.sites.len() as u32 - 1
        })
    }

    /// The site of an allocation.
    fn of_allocation(&mut self, allocation: &Allocation, has_stacks: bool) -> u32 {
        let site = self.of(allocation.stack);
        let silent = self.get(site).is_none_or(is_silent);
        if silent && has_stacks && allocation.born == NONE { self.before() } else { site }
    }

    /// Places that share a label get the frame that tells them apart.
    pub fn tell_apart(&mut self) {
        let mut groups: HashMap<(String, Option<String>), Vec<usize>> = HashMap::new();
        for (i, site) in self.sites.iter().enumerate().filter(|(_, site)| !site.label.is_empty()) {
            groups.entry((site.label.clone(), site.inner.clone())).or_default().push(i);
        }
        for group in groups.into_values().filter(|group| group.len() > 1) {
            let own: Vec<Vec<String>> = group
                .iter()
                .filter_map(|i| self.sites.get(*i))
                .map(|site| site.frames.iter().filter(|frame| !frame.starts_with('(')).cloned().collect())
                .collect();
            for (frames, i) in own.iter().zip(&group) {
                let shared = |frame: &String| own.iter().filter(|other| other.contains(frame)).count();
                // Innermost of those that fewest others have.
                let told = frames.iter().skip(1).min_by_key(|frame| shared(frame));
                if let (Some(told), Some(site)) =
                    (told.filter(|frame| shared(frame) < own.len()), self.sites.get_mut(*i))
                {
                    site.told_by = Some(told.clone());
                }
            }
        }
    }

    pub fn get(&self, id: u32) -> Option<&Site> {
        self.sites.get(id as usize)
    }
}

fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// True for frames of libraries, interpreters and compiled code: not the program's own.
fn is_framework(file: &str) -> bool {
    if file.is_empty() || file == "??" || file.starts_with('<') {
        return true;
    }
    let file = file.replace('\\', "/").to_ascii_lowercase();
    const INSIDE: [&str; 9] = [
        "/site-packages/",
        "/dist-packages/",
        "/lib/python",
        "/torch/nn/",
        "/torch/_",
        "/torch/utils/",
        "/torch/optim/",
        "/torch/autograd/",
        "/torch/distributed/",
    ];
    const COMPILED: [&str; 7] = [".cpp", ".cc", ".c", ".h", ".cu", ".cuh", ".so"];
    INSIDE.iter().any(|part| file.contains(part)) || COMPILED.iter().any(|ending| file.ends_with(ending))
}

/// True for compiled frames, whose names are C++ signatures.
fn is_compiled(file: &str) -> bool {
    file.is_empty()
        || file == "??"
        || [".cpp", ".cc", ".c", ".h", ".cu", ".cuh", ".so"].iter().any(|e| file.ends_with(e))
}

fn show(file: &str, line: u32, name: &str) -> String {
    // Python 3.11+ qualifies nothing here: the name is that of the code object.
    if is_compiled(file) {
        let name = name.split_once('(').map_or(name, |(name, _)| name);
        return if name.is_empty() { "??".to_string() } else { name.to_string() };
    }
    format!("{}:{line} {name}", base_name(file))
}

fn site(snapshot: &Snapshot, stack: u32) -> Site {
    let mut frames: Vec<String> = Vec::new();
    let (mut label, mut inner, mut python_inner) = (None, None, None);
    let mut folded = 0usize;
    let mut shown = 0usize;
    let mut hidden_own = 0usize;
    let fold = |frames: &mut Vec<String>, folded: &mut usize| {
        if *folded > 0 {
            frames.push(format!("({folded} framework frames)", folded = *folded));
            *folded = 0;
        }
    };
    for (file, line, name) in snapshot.frames_of(stack) {
        if is_framework(file) {
            folded += 1;
            // What called the program's line is not what the line ran.
            if !is_compiled(file) && label.is_none() {
                python_inner.get_or_insert_with(|| show(file, line, name));
            }
            if inner.is_none() && (label.is_none() || is_compiled(file)) && is_interesting(file, name) {
                inner = Some(show(file, line, name));
            }
            continue;
        }
        let text = show(file, line, name);
        label.get_or_insert_with(|| text.clone());
        if shown < FRAMES_SHOWN {
            fold(&mut frames, &mut folded);
            frames.push(text);
            shown += 1;
        } else {
            hidden_own += 1;
            folded = 0;
        }
    }
    fold(&mut frames, &mut folded);
    if hidden_own > 0 {
        frames.push(format!("({hidden_own} more frames)"));
    }
    let phase = phase(snapshot, stack);
    let inner = python_inner.or(inner);
    let (label, inner) = match (label, inner) {
        (Some(label), inner) => (label, inner),
        (None, Some(inner)) => (inner, None),
        (None, None) => {
            let first = snapshot.frames_of(stack).find(|(_, _, name)| !name.starts_with("torch::unwind"));
            (first.map(|(file, line, name)| show(file, line, name)).unwrap_or_default(), None)
        }
    };
    Site { label, inner, frames, told_by: None, phase }
}

/// Compiled frames that say what was computed, not how the stack was gathered or the call dispatched.
fn is_interesting(file: &str, name: &str) -> bool {
    !is_compiled(file)
        || name.starts_with("at::native::")
        || name.starts_with("at::_ops::")
        || name.contains("autograd::generated")
        || name.contains("AccumulateGrad")
        || name.contains("cublas")
}

fn phase(snapshot: &Snapshot, stack: u32) -> Phase {
    let mut any = false;
    let (mut backward, mut building, mut forward, mut optimizer, mut library) = (false, false, false, false, false);
    for (file, _, name) in snapshot.frames_of(stack) {
        any = true;
        let compiled = is_compiled(file);
        if compiled {
            if name.contains("AccumulateGrad") {
                return Phase::AccumulateGrad;
            }
            backward |= name.contains("torch::autograd::Engine") || name.contains("autograd::generated");
            library |= name.contains("cublas")
                || name.contains("CUDABlas")
                || name.contains("cudnn")
                || name.contains("Workspace");
            continue;
        }
        let path = file.replace('\\', "/");
        if path.contains("/torch/optim/") || path.contains("/apex/optimizers/") || path.contains("/bitsandbytes/optim/")
        {
            if name == "_init_group" || name == "init_state" || name == "_init_state" {
                return Phase::OptimizerState;
            }
            if name == "zero_grad" {
                return Phase::ZeroGrad;
            }
            optimizer = true;
        }
        backward |= name == "_engine_run_backward"
            || (name == "backward" && (path.contains("/torch/") || path.contains("/autograd/")));
        building |= (path.contains("/torch/nn/modules/module.py")
            && matches!(name, "_apply" | "convert" | "to" | "cuda"))
            || (path.contains("/torch/nn/") && matches!(name, "__init__" | "reset_parameters" | "__new__"))
            || path.ends_with("/torch/nn/init.py")
            || matches!(
                name,
                "from_pretrained" | "load_state_dict" | "_load_pretrained_model" | "set_module_tensor_to_device"
            )
            || path.contains("/safetensors/");
        forward |= matches!(name, "forward" | "_call_impl" | "_wrapped_call_impl" | "__call__");
    }
    match () {
        _ if !any => Phase::Silent,
        _ if optimizer => Phase::Optimizer,
        _ if backward => Phase::Backward,
        _ if building && !forward => Phase::Building,
        _ if forward => Phase::Forward,
        _ if building => Phase::Building,
        _ if library => Phase::Library,
        _ => Phase::Other,
    }
}

/// What kind of memory an allocation is, by its stack and how long it lives (`None`: an end is not in the trace).
fn category(phase: Phase, lifetime: Option<u32>, has_stacks: bool) -> (Category, Certainty) {
    let brief = lifetime.is_some_and(|entries| entries < TEMPORARY_ENTRIES);
    match phase {
        Phase::OptimizerState => (Category::Optimizer, Certainty::Sure),
        Phase::ZeroGrad => (Category::Gradients, Certainty::Likely),
        Phase::AccumulateGrad => (Category::Gradients, Certainty::Sure),
        Phase::Building if !brief => (Category::Parameters, Certainty::Likely),
        Phase::Library if !brief => (Category::Workspace, Certainty::Likely),
        Phase::Silent if !has_stacks => (Category::Unknown, Certainty::Guess),
        _ if brief => (Category::Temporary, Certainty::Likely),
        // What an optimizer gives back within a step is scratch; its state stays.
        Phase::Optimizer if lifetime.is_some_and(|entries| entries < OPTIMIZER_SCRATCH_ENTRIES) => {
            (Category::Temporary, Certainty::Likely)
        }
        Phase::Optimizer => (Category::Optimizer, Certainty::Likely),
        Phase::Backward => (Category::Gradients, Certainty::Likely),
        Phase::Forward => (Category::Activations, Certainty::Likely),
        // Threads of the autograd engine have no Python stack: what they keep is most often a gradient.
        Phase::Silent => (Category::Gradients, Certainty::Guess),
        Phase::Before | Phase::Building | Phase::Library | Phase::Other => (Category::Unknown, Certainty::Guess),
    }
}

/// Memory that one site holds at some moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Holder {
    pub site: u32,
    /// Bytes of its blocks.
    pub bytes: u64,
    pub count: u64,
    /// The largest block.
    pub largest: u64,
    pub category: Category,
    pub certainty: Certainty,
}

/// Everything that is live at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Holding {
    /// Largest first.
    pub holders: Vec<Holder>,
    /// Bytes by category with the least certainty of what went in, largest first.
    pub categories: Vec<(Category, u64, Certainty)>,
    /// Blocks and bytes by size, the upper bound of each class in bytes, smallest first.
    pub sizes: Vec<(u64, u64, u64)>,
    /// Bytes of all blocks.
    pub bytes: u64,
}

/// Upper bounds of the size classes, bytes.
const SIZE_CLASSES: [u64; 6] = [1 << 20, 10 << 20, 100 << 20, 1 << 30, 10 << 30, u64::MAX];

/// Who holds memory after entry `event` (`NONE`: before the trace). Sizes of blocks must be known: see
/// [`super::space::play`].
pub fn at(sites: &mut Sites<'_>, history: &History, event: u32) -> Holding {
    let has_stacks = !sites.snapshot.stacks.is_empty();
    let mut groups: HashMap<(u32, Category), Holder> = HashMap::new();
    let mut sizes: Vec<(u64, u64, u64)> = SIZE_CLASSES.iter().map(|bound| (*bound, 0, 0)).collect();
    let mut total = 0u64;
    for allocation in history.allocations.iter().filter(|allocation| allocation.is_live(event)) {
        let site = sites.of_allocation(allocation, has_stacks);
        let (category, certainty) = kind(sites, allocation, has_stacks);
        let size = if allocation.size > 0 { allocation.size } else { allocation.requested };
        total = total.saturating_add(size);
        if let Some(class) = sizes.iter_mut().find(|class| size <= class.0) {
            class.1 += 1;
            class.2 = class.2.saturating_add(size);
        }
        let holder = groups.entry((site, category)).or_insert(Holder {
            site,
            bytes: 0,
            count: 0,
            largest: 0,
            category,
            certainty,
        });
        holder.bytes = holder.bytes.saturating_add(size);
        holder.count += 1;
        holder.largest = holder.largest.max(size);
        holder.certainty = holder.certainty.min(certainty);
    }
    let mut holders: Vec<Holder> = groups.into_values().collect();
    holders.order_by_key(|holder| (std::cmp::Reverse(holder.bytes), holder.site, holder.category));
    let mut categories: Vec<(Category, u64, Certainty)> = Vec::new();
    for holder in &holders {
        match categories.iter_mut().find(|(category, _, _)| *category == holder.category) {
            Some(entry) => {
                entry.1 = entry.1.saturating_add(holder.bytes);
                entry.2 = entry.2.min(holder.certainty);
            }
            None => categories.push((holder.category, holder.bytes, holder.certainty)),
        }
    }
    categories.order_by_key(|(category, bytes, _)| (std::cmp::Reverse(*bytes), *category));
    sizes.retain(|class| class.1 > 0);
    Holding { holders, categories, sizes, bytes: total }
}

/// What kind of memory one allocation most likely is.
pub fn category_of(sites: &mut Sites<'_>, allocation: &Allocation) -> Category {
    kind_of(sites, allocation).0
}

/// The same with how certain that is.
pub fn kind_of(sites: &mut Sites<'_>, allocation: &Allocation) -> (Category, Certainty) {
    let has_stacks = !sites.snapshot.stacks.is_empty();
    kind(sites, allocation, has_stacks)
}

/// What kind of memory comes from a stack, when nothing is known of how long it lives.
pub fn category_of_stack(sites: &mut Sites<'_>, stack: u32) -> Category {
    let has_stacks = !sites.snapshot.stacks.is_empty();
    let site = sites.of(stack);
    category(sites.get(site).map_or(Phase::Silent, |site| site.phase), None, has_stacks).0
}

fn kind(sites: &mut Sites<'_>, allocation: &Allocation, has_stacks: bool) -> (Category, Certainty) {
    let site = sites.of(allocation.stack);
    let mut phase = sites.get(site).map_or(Phase::Silent, |site| site.phase);
    // Nothing is known of what was there before, but that the optimizer gives its gradients back.
    if phase == Phase::Silent && allocation.born == NONE {
        phase = Phase::Before;
    }
    // Gradients come from threads without a Python stack, but `zero_grad` gives them back.
    if matches!(phase, Phase::Silent | Phase::Before) && allocation.free_stack != NONE {
        let freed_at = sites.of(allocation.free_stack);
        if sites.get(freed_at).is_some_and(|site| site.phase == Phase::ZeroGrad) {
            phase = Phase::ZeroGrad;
        }
    }
    category(phase, allocation.lifetime(), has_stacks)
}

/// True when no stack was recorded.
pub fn is_silent(site: &Site) -> bool {
    site.phase == Phase::Silent
}

/// The place in the program, with what it ran.
pub fn place(site: Option<&Site>) -> Text {
    match site {
        Some(site) if site.phase != Phase::Before && (is_silent(site) || site.label.is_empty()) => {
            Text::new("no stack recorded", "未记录调用栈")
        }
        Some(site) if site.phase == Phase::Before => Text::new("from before the recording", "记录开始之前分配"),
        Some(Site { label, inner, told_by, .. }) => {
            let ran = inner.as_ref().map(|inner| format!(" → {inner}")).unwrap_or_default();
            let (en, zh) = match told_by {
                Some(frame) => (format!(", by way of {frame}"), format!("，经由 {frame}")),
                None => Default::default(),
            };
            Text::new(format!("{label}{ran}{en}"), format!("{label}{ran}{zh}"))
        }
        None => Text::new("no stack recorded", "未记录调用栈"),
    }
}
