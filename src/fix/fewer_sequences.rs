//! Less at the same time.

use super::prelude::*;
use crate::domain::Library;
use crate::estimate::serving::StartCheck;
use crate::incident::release::may_run;
use crate::units::percent;

pub const FIX: Fix = Fix {
    id: "fewer-sequences",
    class: Class::Inference,
    title: || text!(en: "Fewer concurrent sequences or batched tokens", zh: "减少并发序列数或批内 token 数"),
    doc: || {
        text!(
            en: "Activations of the warm-up and of prefill grow with the tokens in one step; graphs and sampling \
                 with the sequences. Fewer of either lower the peak and throughput under load.",
            zh: "预热和 prefill 的激活随单步 token 数增长；CUDA graph 与采样随序列数增长。减少任一项都会降低峰值与满\
                 载吞吐。"
        )
    },
    helps: &[Work::Serving, Work::Build],
    needs: &[Need::Device, Need::Short],
    applies: |case| case.engine().is_some(),
    costs: Costs { slows: (0.0, 0.4), numerics: Numerics::Same },
    knobs: &[
        line(Target::Vllm, "--max-num-batched-tokens {tokens}").when("one-sequence"),
        line(Target::Vllm, "--max-num-seqs {sequences}").when("by-sequences"),
        line(Target::Vllm, "--max-num-seqs {sequences} --max-num-batched-tokens {tokens}").unless("by-sequences"),
        line(Target::Sglang, "--max-running-requests {running} --chunked-prefill-size {chunk}"),
        line(Target::Tgi, "--max-batch-prefill-tokens {prefill} --max-input-length {prefill}")
            .note(
                "an input may not be longer than the prefill; since 2.1 --max-input-tokens",
                "输入长度不得超过 prefill；2.1 起为 --max-input-tokens",
            )
            .unless("short-inputs"),
        line(Target::Tgi, "--max-batch-prefill-tokens {prefill}").when("short-inputs"),
        line(Target::LlamaCpp, "-ub 256 -np 1").unless("one-slot"),
        line(Target::LlamaCpp, "-ub 256").when("one-slot"),
        line(Target::Ollama, "OLLAMA_NUM_PARALLEL=1 ollama serve"),
        // Its first releases take it from the settings of the converted model.
        line(Target::Lmdeploy, "--max-batch-size <smaller>").unless("counted"),
        line(Target::TensorRtLlm, "--max_batch_size <smaller> --max_num_tokens <smaller>").when("own-options"),
        // Its first builders had an own limit for each side of a request.
        line(Target::TensorRtLlm, "--max_batch_size 1 --max_input_len <shorter> --max_output_len <shorter>")
            .when("early-builder"),
    ],
    fixtures: &["engines/tgi", "sglang/graph"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if let Some(part) = part_for_buffers(case) {
        return Draft::new(case, &FIX)
            .when("exact", true)
            .frees_unknown(text!(
                en: "the temporary buffers shrink with the chunk of a prompt that is prefilled at once",
                zh: "临时缓冲区随一次预填充的块大小缩小"
            ))
            .because(text!(
                en: "beside the weights {part} of the temporary buffers find room, and so much of the chunk",
                zh: "权重之外只放得下 {part} 的临时缓冲区：把块缩小到现在的这一比例"
            ));
    }
    if case.sign(Sign::EngineStartup) || case.sign(Sign::WeightsBuffer) {
        // Checks before the first computation, and the weights, know nothing of a batch.
        return Advice::Silent;
    }
    // A shard that ends before it is ready has seen no batch: its router warms it up later (launcher/src/main.rs).
    // TurboMind makes its buffers behind the weights.
    if matches!(case.engine(), Some(Program::Tgi | Program::Lmdeploy)) && case.loading() {
        return Advice::Silent;
    }
    // Of an embedding the whole text is one physical batch.
    if case.engine() == Some(Program::LlamaCpp) && case.embeds() {
        return Advice::Silent;
    }
    // A pool of an engine takes its share of the device, however many sequences there will be.
    const MAKES_THE_POOL: [&str; 4] =
        ["init_memory_pool", "_create_buffers", "_allocate_kv_cache_tensors", "initialize_kv_cache_tensors"];
    if case.context.frames.iter().any(|frame| MAKES_THE_POOL.contains(&frame.function.as_str())) {
        return Advice::Silent;
    }
    let facts = &case.incident.event.facts;
    let set = facts.number(Number::DummyRequests).or(facts.number(Number::MaxNumSeqs));
    let one = set.is_some_and(|set| set <= 1.0);
    // Before prompts were prefilled in chunks by default, a batch of fewer tokens than the longest sequence was refused
    // at the start (vllm/config.py, 0.4 to 0.7: `max_num_batched_tokens … is smaller than max_model_len`).
    let whole_prompts = !may_run(case.incident, Library::Vllm, (0, 8, 0), (2025, 3));
    let by_sequences = case.sign(Sign::SamplerWarmup) || case.sign(Sign::GraphCapture) || whole_prompts && !one;
    // There is no half of one.
    if one && by_sequences {
        return Advice::Silent;
    }
    let sequences = fewer(set, 16);
    let tokens = fewer(facts.number(Number::MaxNumBatchedTokens), 1024);
    let running = fewer(facts.number(Number::MaxRunningRequests), 8);
    // The engine names the tokens of the batch that it could not hold.
    let prefill = match facts.number(Number::PrefillTokens).filter(|tokens| *tokens >= 2.0) {
        Some(tokens) => Text::same(format!("{:.0}", (tokens / 2.0).floor())),
        None => half(),
    };
    let short_inputs = facts
        .number(Number::PrefillTokens)
        .zip(case.context.option(Quantity::Sequence))
        .is_some_and(|(tokens, input)| (input.value() as f64) <= tokens / 2.0);
    let chunk = fewer(facts.number(Number::ChunkedPrefillSize), 512);
    let early = case.context.dated.value().is_some_and(|day| day < (2024, 7)) && !case.context.origin.triton_backend;
    Draft::new(case, &FIX)
        .when("beside", super::lower_engine_memory::beside_its_pool(case))
        .when("warmup", case.sign(Sign::EngineWarmup))
        .when("short-inputs", short_inputs)
        .when("one-slot", case.sets_to_one(&["-np", "--parallel"]))
        .when("counted", case.context.origin.counts_cache_entries)
        // A server started with an engine that is built takes no such options.
        .when("own-options", !early && !case.context.origin.triton_backend)
        .when("early-builder", early)
        // Sampling and captured graphs grow with the sequences alone.
        .when("by-sequences", by_sequences)
        .when("one-sequence", one)
        // The engine's own words: a batch that is prefilled found too few tokens free.
        .when("prefill", case.incident.event.of_a_prefill())
        .frees_unknown(text!(
            en: "needs the engine's activation peak, which its profiling line prints",
            zh: "需要引擎 profiling 打印的激活峰值"
        ))
        .fill_text("sequences", sequences)
        .fill_text("tokens", tokens)
        .fill_text("running", running)
        .fill_text("chunk", chunk)
        .fill_text("prefill", prefill)
        .because(join(
            text!(
                en: "activations grow with what is computed in one step",
                zh: "激活随单步计算量增长"
            ),
            case.situation(),
        ))
}

/// The part of MLC LLM's temporary buffers for which its share of the device has room beside the weights; `None` where
/// it has none, or the message is another.
fn part_for_buffers(case: &Case) -> Option<String> {
    let checked = StartCheck::of(&case.incident.event.facts).filter(|_| case.engine() == Some(Program::MlcLlm))?;
    let part = (checked.limit - checked.weights) / checked.buffers;
    (0.02..1.0).contains(&part).then(|| percent(part))
}

/// A quarter of what was set, as a power of two and not below `least`; a half, whatever it is, where nothing is known.
fn fewer(set: Option<f64>, least: u64) -> Text {
    match set.filter(|set| (2.0..1e9).contains(set)) {
        Some(set) => {
            let quarter = (set as u64 / 4).max(1);
            let fewer = (1u64 << quarter.ilog2()).max(least.min(set as u64 / 2)).max(1);
            Text::same(fewer.to_string())
        }
        None => half(),
    }
}

fn half() -> Text {
    text!(en: "<half of the value now>", zh: "<现在数值的一半>")
}
