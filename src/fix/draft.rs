//! Builds an [`Offer`] and decides by arithmetic whether it is one: what cannot cover the shortage is withheld with
//! that reason.

use super::case::{Case, clamp_to, show};
use super::cures::{self, Table};
use super::knob::{and_remark, remarked};
use super::need::Need;
use super::tools::Setting;
use super::{Advice, Certainty, Costs, Fix, Frees, Knob, Offer, Part};
use crate::cause::mechanism::pool;
use crate::domain::{Target, Trainer};
use crate::incident::context::Clue;
use crate::text;
use crate::text::Text;
use crate::units::Interval;

/// Below this probability a fix is nothing to do with the incident.
const FAINTEST: f64 = 0.03;

/// Less than one part of so many of the request is nothing.
const SLIGHT: i128 = 50;

/// An offer in the making.
pub struct Draft<'a> {
    case: &'a Case<'a>,
    fix: &'static Fix,
    table: Table,
    weight: f64,
    frees: Frees,
    /// What it saves of the need, which may be more than the device has where the request is.
    saves: Option<Interval>,
    certainty: Certainty,
    part: Part,
    /// Circumstances that are given.
    given: Vec<&'static str>,
    values: Vec<(&'static str, Text)>,
    was: Option<Text>,
    title: Option<Box<Text>>,
    /// The change in the words of the run itself, which stand in place of all others.
    own: Option<String>,
    knobs: Vec<Knob>,
    costs: Costs,
}

impl<'a> Draft<'a> {
    /// Starts from what is written down of the fix: its row of probabilities, its lines, its costs.
    pub fn new(case: &'a Case<'a>, fix: &'static Fix) -> Draft<'a> {
        let accelerator = case.accelerator();
        let values = [
            ("module", accelerator.torch_module()),
            ("device", accelerator.torch_device()),
            ("tool", accelerator.tool()),
            ("processes", accelerator.processes()),
        ];
        Draft {
            case,
            fix,
            table: cures::of(fix.id).cures.clone(),
            weight: 1.0,
            frees: Frees::Unknown(Text::default()),
            saves: None,
            certainty: Certainty::RuleOfThumb,
            part: fix.class.part(),
            given: universal(case),
            values: values.into_iter().map(|(name, value)| (name, Text::same(value))).collect(),
            was: None,
            title: None,
            own: None,
            knobs: Vec::new(),
            costs: fix.costs,
        }
    }

    /// A circumstance, which other probabilities and lines may depend on, and whether it is given.
    pub fn when(mut self, circumstance: &'static str, given: bool) -> Self {
        if given {
            self.given.push(circumstance);
            let other = cures::of(self.fix.id).when.get(circumstance);
            self.table.extend(other.into_iter().flatten().map(|(cause, cured)| (*cause, *cured)));
        }
        self
    }

    /// What it frees, with the formula that has this incident's figures in it.
    pub fn frees(mut self, range: Interval, formula: Text) -> Self {
        self.saves = Some(range);
        let bound = match self.part {
            Part::Held => self.case.held(self.fix.class.keeps_weights()),
            Part::Request => self.case.requested(),
            Part::Whole => None,
        };
        let bound = bound.or_else(|| self.case.bound());
        // Where a pool holds the rest, a share of all that is allocated is no share of what can go.
        if self.part == Part::Held
            && pool::announced(self.case.incident, false).is_some()
            && let Some(most) = bound.zip(self.case.requested()).map(|(held, asked)| held + asked)
        {
            self.saves = Some(clamp_to(range, Some(most)));
        }
        let cut = match bound {
            // By the formula even the least is more than there is: what is there is not told apart.
            Some(bound) if bound.high < range.low => Interval::between(0, bound.high.max(0)),
            _ => clamp_to(range, bound),
        };
        let formula = match bound {
            Some(bound) if cut.high < range.high => {
                let most = show(bound.middle());
                let more = match self.part {
                    Part::Held => text!(en: "of the {most} that can go at most", zh: "其中最多能释放 {most}"),
                    Part::Request => text!(en: "of the {most} requested at most", zh: "最多为申请的 {most}"),
                    Part::Whole => text!(en: "of {most} in all", zh: "总共只有 {most}"),
                };
                super::case::join(formula, more)
            }
            _ => formula,
        };
        self.frees = Frees::Bytes { range: cut, formula, of: self.part };
        self
    }

    /// What it saves is of the device's cache or of what others hold, rather than of the job's tensors.
    pub fn of_the_whole(mut self) -> Self {
        self.part = Part::Whole;
        self
    }

    /// What it saves is of the request that failed rather than of what is held. Said before how much.
    pub fn of_request(mut self) -> Self {
        self.part = Part::Request;
        self
    }

    /// What it frees where it may be computable: `None` leaves it unknown for the reason given.
    pub fn frees_if(self, amount: Option<(Interval, Text)>, reason: Text) -> Self {
        match amount {
            Some((range, formula)) => self.frees(range, formula),
            None => self.frees_unknown(reason),
        }
    }

    /// Not computable here, with the figure that would settle it.
    pub fn frees_unknown(mut self, reason: Text) -> Self {
        self.frees = Frees::Unknown(reason);
        self
    }

    pub fn certainty(mut self, certainty: Certainty) -> Self {
        self.certainty = certainty;
        self
    }

    /// Multiplies the probability, for circumstances that no cause expresses.
    pub fn weight(mut self, factor: f64) -> Self {
        self.weight *= factor;
        self
    }

    /// What goes where a line has this name in braces.
    pub fn fill(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.values.push((name, Text::same(value.to_string())));
        self
    }

    /// The same, where the languages differ.
    pub fn fill_text(mut self, name: &'static str, value: Text) -> Self {
        self.values.push((name, value));
        self
    }

    /// What the setting is now, for a remark behind each line.
    pub fn was(mut self, value: Option<impl std::fmt::Display>) -> Self {
        self.was = value.map(|value| text!(en: "was {value}", zh: "原为 {value}"));
        self
    }

    /// What it is called in this incident.
    pub fn titled(mut self, title: Text) -> Self {
        self.title = Some(Box::new(title));
        self
    }

    /// The change as the option that the log shows, in place of every line that is written down: what the run was given
    /// once, it takes again.
    pub fn own(mut self, line: Option<String>) -> Self {
        self.own = line.or(self.own);
        self
    }

    /// A line that only this incident can make.
    pub fn line(mut self, knob: Knob) -> Self {
        self.knobs.push(knob);
        self
    }

    /// Costs that only this incident tells.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.costs = costs;
        self
    }

    /// What can be written: the lines made for this incident, then those of the fix that hold here.
    fn lines(&mut self) -> Vec<Knob> {
        if let Some(own) = self.own.take() {
            let own = Text::new(own.clone(), super::knob::blanks_in_chinese(own));
            return vec![Knob { target: Target::Program, line: remark(own, self.was.as_ref()) }];
        }
        // A program that is known has an option for it, or none.
        match self.case.setting_of_a_tool(self.fix.id) {
            Some(Setting::None) => return Vec::new(),
            Some(Setting::Lines(lines)) => {
                let held = lines.iter().filter(|line| line.holds(&self.given));
                let set: Vec<Knob> = held
                    .filter_map(|line| Some((line.target, line.fill(&self.values)?)))
                    .map(|(target, text)| Knob { target, line: remark(text, self.was.as_ref()) })
                    .collect();
                if !set.is_empty() {
                    return set;
                }
            }
            None => {}
        }
        let made = std::mem::take(&mut self.knobs);
        let written = self.fix.knobs.iter().filter(|line| line.holds(&self.given));
        let filled = written.filter_map(|line| {
            let text = line.fill(&self.values)?;
            // Its release is told by the name that it is written down with, however it is spelled here.
            let known = super::release::known(self.case, &Knob { target: line.target, line: text.clone() });
            let text = match called_in_python(self.case) {
                true => argument(line.target, text),
                // A model that embeds is none of those that come quantised for its command's `--model`.
                false if self.case.clue(Clue::KoboldCpp) && self.case.embeds() && text.en.starts_with("-m ") => {
                    return None;
                }
                false if self.case.clue(Clue::KoboldCpp) => of_kobold(self.case, line.target, text),
                false if self.case.wraps_an_engine() => self.case.spelled_around(line.target, text)?,
                false => text,
            };
            Some((line.is_older(), known, Knob { target: line.target, line: remark(text, self.was.as_ref()) }))
        });
        // The form for older releases stands behind the line that they do not know.
        let mut unknown = None;
        let known = |knob: &Knob| super::release::known(self.case, knob);
        let written = filled.filter(|(older, as_written, knob)| {
            let known = *as_written && known(knob);
            let offered = known && (!older || unknown == Some(knob.target));
            unknown = (!known).then_some(knob.target);
            offered
        });
        let lines: Vec<Knob> = made.into_iter().filter(known).chain(written.map(|(.., knob)| knob)).collect();
        let elsewhere = |knob: &Knob| knob.target.is_code() && knob.calls().any(|call| !self.case.may_write(call));
        let lines = lines.into_iter().map(|knob| if elsewhere(&knob) { knob.into_arguments() } else { knob });
        let (seen, unseen): (Vec<Knob>, Vec<Knob>) =
            lines.partition(|knob| self.case.shows_the_library_of(&knob.line.en));
        if !seen.is_empty() || unseen.is_empty() {
            return seen;
        }
        // A call of a library that nothing shows is said in words, where there are any.
        let in_words = self.fix.knobs.iter().filter_map(|line| line.in_words_of_any_program(&self.values));
        in_words.map(|line| Knob { target: Target::Program, line }).collect()
    }

    /// The finished advice. The saving decides where it is known: a maximum below what is missing withholds the fix.
    pub fn because(mut self, why: Text) -> Advice {
        let knobs = self.lines();
        let knobs = self.case.order(knobs);
        let mut cures = (self.case.cures(&self.table) * self.weight).clamp(0.0, 1.0);
        if cures < FAINTEST && !self.case.composing() || knobs.is_empty() {
            return Advice::Silent;
        }
        if let Frees::Bytes { range, .. } = &self.frees {
            // Nothing beside what was asked for, whatever was missing.
            if let Some(asked) = self.case.requested().filter(|asked| range.high * SLIGHT < asked.low)
                && self.case.missing().is_none()
                && !self.case.composing()
            {
                let (most, asked) = (show(range.high), show(asked.middle()));
                return Advice::Withheld(text!(
                    en: "frees {most} at most, next to nothing of the {asked} asked for",
                    zh: "最多释放 {most}，与申请的 {asked} 相比微不足道"
                ));
            }
            let reach = self.case.reach(self.saves.unwrap_or(*range));
            if reach == 0.0 && !self.case.composing() {
                let most = show(range.high);
                return Advice::Withheld(match self.case.missing() {
                    Some(missing) if range.high > 0 => {
                        let least = show(missing.low);
                        text!(
                            en: "frees {most} at most, and {least} at least was missing",
                            zh: "最多释放 {most}，而至少还缺 {least}"
                        )
                    }
                    _ => text!(en: "there is nothing to free here", zh: "此处没有可释放的内存"),
                });
            }
            cures *= reach;
        }
        let Draft { frees, costs, certainty, title, .. } = self;
        Advice::Offer(Offer { frees, costs, certainty, title, cures, knobs, why })
    }
}

/// Circumstances that lines of any fix may depend on: a data loader feeds the job, a model is trained, the program runs
/// a session of TensorFlow 1, sound is worked on, the device has no bf16, a tool is run whose user writes no line, a
/// line of the user's own code is shown, JAX shows, one of diffusers' pipelines is called, Spark calls cuDF from Java.
pub const UNIVERSAL: [&str; 10] =
    ["loader", "trains", "session", "sound", "before-ampere", "installed", "code", "jax", "pipe", "spark-rapids"];

/// Those of them that are given.
fn universal(case: &Case) -> Vec<&'static str> {
    let given = [
        Need::Loader.met(case),
        case.training(),
        case.of_sessions(),
        case.of_sound(),
        case.clue(Clue::BeforeAmpere),
        case.of_a_tool(),
        case.shows_own_code(),
        case.shows_jax(),
        case.shows_a_pipeline(),
        case.context.origin.spark_rapids,
    ];
    UNIVERSAL.iter().zip(given).filter(|(_, given)| *given).map(|(name, _)| *name).collect()
}

/// An option of an engine that another program starts, which has its own spelling for it: the name alone is sure.
pub(super) fn unspelled(target: Target, line: Text) -> Text {
    let engines = [Target::Vllm, Target::Sglang, Target::Tgi, Target::Lmdeploy, Target::TensorRtLlm, Target::LlamaCpp];
    if target == Target::LlamaCpp {
        return in_its_settings(line);
    }
    if !engines.contains(&target) || !line.en.starts_with("--") {
        return line;
    }
    let name = |line: &str| {
        let (option, value) = line.trim_start_matches('-').split_once(' ').unwrap_or((line, "True"));
        format!("{}={}", option.trim_start_matches('-').replace('-', "_"), options_after(value))
    };
    let plain = Text::new(name(&line.en), name(&line.zh));
    let engine = target.id();
    remark(
        plain,
        Some(&text!(
            en: "of {engine}, as the program that starts it spells it",
            zh: "{engine} 的选项，写法以启动它的程序为准"
        )),
    )
}

/// The value of an option, and further options behind it as names.
fn options_after(value: &str) -> String {
    let mut parts = value.split(" --");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |line, option| {
        let (name, value) = option.split_once(' ').unwrap_or((option, "True"));
        format!("{line}, {}={value}", name.replace('-', "_"))
    })
}

/// llama.cpp's options in words: a program that has it within sets them in its own way.
const IN_WORDS: [(&str, &str, &str); 8] = [
    ("-ub 256 -np 1", "a batch of 256 tokens, one request at a time", "批大小 256 个 token，一次一个请求"),
    ("-ub 256", "a batch of 256 tokens", "批大小 256 个 token"),
    ("-sm layer -ts 1,1", "the layers over two GPUs", "把各层分到两块 GPU"),
    (
        "-fa on -ctk q8_0 -ctv q8_0",
        "a KV cache of type q8_0, with flash attention",
        "KV 缓存类型 q8_0，并开启 flash attention",
    ),
    (
        "-fa -ctk q8_0 -ctv q8_0",
        "a KV cache of type q8_0, with flash attention",
        "KV 缓存类型 q8_0，并开启 flash attention",
    ),
    ("-ngl ", "layers on the GPU:", "放到 GPU 的层数："),
    ("-m ", "a smaller quantisation, such as", "更小的量化版本，例如"),
    ("-c ", "context length", "上下文长度"),
];

/// A line of llama.cpp's as words for the settings of the program that has it within.
fn in_its_settings(line: Text) -> Text {
    let Some((option, en, zh)) = IN_WORDS.iter().find(|(option, ..)| line.en.starts_with(option)) else { return line };
    let value = |line: &str| {
        let value = and_remark(line.strip_prefix(option).unwrap_or_default()).0;
        if value.is_empty() { String::new() } else { format!(" {value}") }
    };
    Text::new(
        format!("{en}{}, in the settings of the program around llama.cpp", value(&line.en)),
        format!("在使用 llama.cpp 的程序的设置中：{zh}{}", value(&line.zh)),
    )
}

/// llama.cpp's options as KoboldCpp spells them.
const OF_KOBOLD: [(&str, &str); 8] = [
    ("-ub 256 -np 1", "--blasbatchsize 256"),
    ("-ub 256", "--blasbatchsize 256"),
    ("-sm layer -ts 1,1", "--tensor_split 1 1"),
    ("-fa on -ctk q8_0 -ctv q8_0", "--flashattention --quantkv 1"),
    ("-fa -ctk q8_0 -ctv q8_0", "--flashattention --quantkv 1"),
    ("-ngl ", "--gpulayers "),
    ("-m ", "--model "),
    ("-c ", "--contextsize "),
];

/// A line of llama.cpp's for KoboldCpp, whose embedding models have a context of their own.
fn of_kobold(case: &Case, target: Target, line: Text) -> Text {
    if target != Target::LlamaCpp {
        return line;
    }
    let spelled = |line: &str| {
        let found = OF_KOBOLD.iter().find_map(|(option, name)| Some((*name, line.strip_prefix(option)?)));
        found.map_or(line.to_string(), |(name, rest)| {
            // Releases of llama.cpp itself, which the remarks name, are none of its.
            let rest = if name == "--gpulayers " { and_remark(rest).0 } else { rest };
            let name = if name == "--contextsize " && case.embeds() { "--embeddingsmaxctx " } else { name };
            format!("{name}{rest}")
        })
    };
    Text::new(spelled(&line.en), spelled(&line.zh))
}

/// llama.cpp's options as arguments of its Python class.
const LLAMA_ARGUMENTS: [(&str, &str); 10] = [
    ("-c ", "n_ctx="),
    ("-ngl ", "n_gpu_layers="),
    ("-ub 256 -np 1", "n_batch=256, n_ubatch=256"),
    ("-ub 256", "n_batch=256, n_ubatch=256"),
    ("-sm layer -ts 1,1", "split_mode=1, tensor_split=[0.5, 0.5]"),
    ("-fa on -ctk q8_0 -ctv q8_0", "flash_attn=True, type_k=8, type_v=8"),
    ("-fa -ctk q8_0 -ctv q8_0", "flash_attn=True, type_k=8, type_v=8"),
    ("-m model-Q4_K_M.gguf", "model_path=\"model-Q4_K_M.gguf\""),
    ("-m model-Q3_K_M.gguf", "model_path=\"model-Q3_K_M.gguf\""),
    ("-m model-Q2_K.gguf", "model_path=\"model-Q2_K.gguf\""),
];

/// True where an engine is an object of the user's own program rather than a command.
fn called_in_python(case: &Case) -> bool {
    let makes =
        |code: &str| ["LLM(", "Llama(", "EngineArgs(", "TurbomindEngineConfig("].iter().any(|call| code.contains(call));
    case.clue(Clue::EngineObject)
        || case.frames_of("vllm/entrypoints/llm.py")
        || case.incident.calls_an_engine() && case.trainer() != Some(Trainer::Trl)
        || case.context.frames.iter().any(|frame| frame.code.as_deref().is_some_and(makes))
}

/// An option of an engine's command line as the argument that its Python class takes.
fn argument(target: Target, line: Text) -> Text {
    if target == Target::LlamaCpp {
        let spelled = |line: &str| {
            let found = LLAMA_ARGUMENTS.iter().find_map(|(option, name)| Some((name, line.strip_prefix(option)?)));
            found.map_or(line.to_string(), |(name, value)| {
                let value = and_remark(value).0;
                format!("Llama(..., {name}{value})")
            })
        };
        return Text::new(spelled(&line.en), spelled(&line.zh));
    }
    let class = match target {
        Target::Vllm => "LLM",
        Target::Sglang => "Engine",
        Target::Lmdeploy => "TurbomindEngineConfig",
        _ => return line,
    };
    if !line.en.starts_with("--") {
        return line;
    }
    let spelled = |line: &str| {
        let options = and_remark(line).0;
        let arguments: Vec<String> = options
            .split("--")
            .map(str::trim)
            .filter(|option| !option.is_empty())
            .map(|option| {
                let (name, value) = option.split_once(' ').unwrap_or((option, "True"));
                let plain = value.starts_with(|c: char| c.is_ascii_digit() || c == '<') || value == "True";
                let value = if plain { value.to_string() } else { format!("\"{value}\"") };
                format!("{}={value}", name.replace('-', "_"))
            })
            .collect();
        format!("{class}(..., {})", arguments.join(", "))
    };
    Text::new(spelled(&line.en), spelled(&line.zh))
}

/// A line with one more remark behind it.
fn remark(line: Text, more: Option<&Text>) -> Text {
    let Some(more) = more else { return line };
    let with = |line: String, more: &str, comma: &str| match and_remark(&line) {
        (_, Some(_)) => format!("{line}{comma}{more}"),
        (line, None) => remarked(line, Some(more)),
    };
    Text::new(with(line.en, &more.en, "; "), with(line.zh, &more.zh, "；"))
}
