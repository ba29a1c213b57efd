//! Programs that start an engine and have options of their own for what they pass on to it.

use crate::domain::Target;
use crate::fix::case::Case;
use crate::fix::draft::unspelled;
use crate::fix::knob::and_remark;
use crate::incident::context::{Frame, Quantity};
use crate::text::Text;

/// A program that starts an engine and has options of its own for what it passes on.
struct Wrapper {
    files: &'static [&'static str],
    /// Names in its command, in lower case.
    commands: &'static [&'static str],
    /// vLLM's options without hyphens, and how they are written there.
    names: &'static [(&'static str, &'static str)],
}

/// Wrappers of vLLM; an option that is not listed is none of theirs.
const WRAPPERS: &[Wrapper] = &[
    // It divides a model over all devices that are visible.
    Wrapper {
        files: &["/llamafactory/"],
        commands: &["llamafactory-cli"],
        names: &[("max_model_len", "--vllm_maxlen {}"), ("gpu_memory_utilization", "--vllm_gpu_util {}")],
    },
    // Weights are those of the trained actor: they have no other form.
    Wrapper {
        files: &["/verl/"],
        commands: &["verl.trainer.main_ppo", "actor_rollout_ref."],
        names: &[
            ("max_model_len", "actor_rollout_ref.rollout.max_model_len={}"),
            ("gpu_memory_utilization", "actor_rollout_ref.rollout.gpu_memory_utilization={}"),
            ("max_num_seqs", "actor_rollout_ref.rollout.max_num_seqs={}"),
            ("max_num_batched_tokens", "actor_rollout_ref.rollout.max_num_batched_tokens={}"),
            ("tensor_parallel_size", "actor_rollout_ref.rollout.tensor_model_parallel_size={}"),
            ("enforce_eager", "actor_rollout_ref.rollout.enforce_eager={}"),
        ],
    },
    // `langchain_community.llms.VLLM` takes some itself and passes on the rest.
    Wrapper {
        files: &["/langchain_community/llms/vllm.py", "/langchain/llms/vllm.py"],
        commands: &[],
        names: &[
            ("tensor_parallel_size", "VLLM(..., tensor_parallel_size={})"),
            ("max_model_len", "VLLM(..., vllm_kwargs={\"max_model_len\": {}})"),
            ("gpu_memory_utilization", "VLLM(..., vllm_kwargs={\"gpu_memory_utilization\": {}})"),
            ("enforce_eager", "VLLM(..., vllm_kwargs={\"enforce_eager\": {}})"),
        ],
    },
];

impl Case<'_> {
    /// An option of vLLM as the program around it spells it, its bare name where that is not known, nothing where it
    /// has none for it.
    pub(in crate::fix) fn spelled_around(&self, target: Target, line: Text) -> Option<Text> {
        let command = self.context.command.get().map(|command| command.to_ascii_lowercase()).unwrap_or_default();
        let shows = |wrapper: &&Wrapper| {
            let of_it = |frame: &Frame| wrapper.files.iter().any(|part| frame.path().contains(part));
            let key = self.context.option(Quantity::Share).map_or("", |spelled| spelled.name());
            wrapper.commands.iter().any(|name| command.contains(name) || key.starts_with(name))
                || self.context.frames.iter().any(of_it)
        };
        let known = WRAPPERS.iter().find(shows).filter(|_| target == Target::Vllm && line.en.starts_with("--"));
        let Some(wrapper) = known else { return Some(unspelled(target, line)) };
        let spelled = |line: &str| {
            let option = and_remark(line).0.trim_start_matches('-');
            let (name, value) = option.split_once(' ').unwrap_or((option, "True"));
            let name = name.replace('-', "_");
            let (_, form) = wrapper.names.iter().find(|(of, _)| *of == name)?;
            // What stands behind the first option is left to the words of the change.
            Some(form.replace("{}", value.split(" --").next().unwrap_or(value)))
        };
        Some(Text::new(spelled(&line.en)?, spelled(&line.zh)?))
    }
}
