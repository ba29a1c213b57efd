//! A line is written where its user can write it: in code of theirs, in the form of FSDP that runs, for a release that
//! the traceback tells, below the limit that holds.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};

const FULL: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 140.00 MiB. GPU 0 has a total capacity \
    of 23.76 GiB of which 13.13 MiB is free. Of the allocated memory 22.10 GiB is allocated by PyTorch, and 310.00 MiB \
    is reserved by PyTorch but unallocated.\n";

/// A module's forward pass that failed without telling a release in its message.
fn called(line: u64, function: &str) -> String {
    format!(
        "Epoch 1 step 10 loss 0.51\nTraceback (most recent call last):\n  File \"/w/train.py\", line 40, in <module>\n    \
         loss = model(images).mean()\n  File \"/v/lib/python3.9/site-packages/torch/nn/modules/module.py\", line {line}, \
         in {function}\n    return forward_call(*input, **kwargs)\ntorch.cuda.OutOfMemoryError: CUDA out of \
         memory. Tried to allocate 1.44 GiB\n"
    )
}

/// `_dump_snapshot` came with 2.1, and 1.13 calls modules at line 1194.
#[test]
fn the_line_of_a_call_tells_the_release() {
    let of = |line, function| lines_of(&called(line, function), "record-a-snapshot").concat();
    assert!(of(1527, "_call_impl").contains("_dump_snapshot"));
    for line in [722, 889, 1051, 1110, 1194, 1501] {
        let old = of(line, "_call_impl");
        assert!(old.contains("memory_summary") && !old.contains("_dump_snapshot"), "{line}: {old}");
    }
    assert!(!of(493, "__call__").contains("memory_summary"), "1.1 has none");
    // 16 bit by autocast, but no bf16 of 1.10.
    let nine = lines_of(&called(1051, "_call_impl"), "mixed-precision").concat();
    assert!(nine.contains("torch.cuda.amp.autocast()") && !nine.contains("bf16"), "{nine}");
}

/// `quantization=fp8` was written for a vLLM of 2023 because another program had started it.
#[test]
fn an_option_is_of_its_release_however_it_is_spelled() {
    let of = |year: u16| {
        lines_of(
            &format!(
                "{year}-12-22 20:41:57,330 INFO worker.py:1673 -- Started a local Ray instance.\nTraceback (most recent call \
                 last):\n  File \"/v/lib/python3.10/site-packages/fastchat/serve/vllm_worker.py\", line 290, in <module>\n    \
                 engine = AsyncLLMEngine.from_engine_args(args)\n  File \"/v/lib/python3.10/site-packages/vllm/engine/\
                 llm_engine.py\", line 114, in __init__\n    self._init_cache()\nValueError: No available memory for the \
                 cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n"
            ),
            "weight-quantisation",
        )
        .concat()
    };
    assert!(of(2024).contains("quantization=fp8"), "{}", of(2024));
    assert!(!of(2023).contains("fp8") && !of(2023).is_empty(), "{}", of(2023));
}

/// A tokenizer was called for a recommender, and for scripts whose limits are options.
#[test]
fn a_tokenizer_is_called_where_the_user_calls_it() {
    let of = |command: &str, package: &str| {
        lines_of(
            &format!(
                "{command}{{'loss': 0.51, 'learning_rate': 2.1e-05, 'epoch': 0.4}}\nTraceback (most recent call last):\n  \
                 File \"/w/train.py\", line 60, in <module>\n    main(tokenizer(texts))\n  File \"/w/train.py\", line 40, \
                 in main\n    trainer.train()\n  File \"/v/lib/python3.10/site-packages/{package}/trainer.py\", line \
                 591, in compute_loss\n    outputs = model(**inputs)\n{FULL}"
            ),
            "shorter-sequences",
        )
        .concat()
    };
    assert!(of("", "transformers").contains("tokenizer("), "{}", of("", "transformers"));
    assert!(!of("", "recommend/torch").contains("tokenizer("));
    assert!(!of("$ python train.py --batch_size 4\n", "transformers").contains("tokenizer("));
}

/// `preprocess_logits_for_metrics` is called by the loop of transformers' Trainer, from 4.17 on.
#[test]
fn logits_are_reduced_by_the_loop_that_does_so() {
    let of = |package: &str, date: &str| {
        lines_of(
            &format!(
                "{date} start\n***** Running Evaluation *****\n  Num examples = 188416\nTraceback (most recent call last):\n  \
                 File \"/w/run.py\", line 40, in <module>\n    trainer.evaluate()\n  File \"/v/lib/python3.8/site-packages/\
                 {package}/trainer.py\", line 591, in evaluation_loop\n    preds = nested_concat(preds_host, preds)\n  File \
                 \"/v/lib/python3.8/site-packages/transformers/trainer_pt_utils.py\", line 114, in nested_concat\n    return \
                 torch_pad_and_concatenate(tensors, new_tensors)\nRuntimeError: CUDA out of memory. Tried to allocate 1.44 \
                 GiB (GPU 0; 7.80 GiB total capacity; 5.10 GiB already allocated; 40.00 MiB free)\n"
            ),
            "offload-eval-predictions",
        )
        .concat()
    };
    assert!(of("transformers", "2022-09-01").contains("preprocess_logits_for_metrics"));
    let early = of("transformers", "2021-09-01");
    assert!(early.contains("eval_accumulation_steps=1") && !early.contains("preprocess"), "{early}");
    let other = of("recommend/torch", "2022-09-01");
    assert!(other.contains("eval_accumulation_steps=1") && !other.contains("preprocess"), "{other}");
}

/// The first FSDP unshards in `state_dict()`: copies behind it come too late, and its optimizer is none of torchao's.
#[test]
fn the_first_fsdp_is_told_in_its_own_words() {
    let of = |file: &str, function: &str, fix: &str| {
        lines_of(
            &format!(
                "step 40 loss 0.51\nTraceback (most recent call last):\n  File \"/w/train.py\", line 40, in save_checkpoint\n    \
                 state = model.state_dict()\n  File \"/v/lib/python3.11/site-packages/torch/{file}\", line 303, in \
                 {function}\n    gather()\n{FULL}"
            ),
            fix,
        )
        .concat()
    };
    let sharded = of("distributed/fsdp/_state_dict_utils.py", "_full_pre_state_dict_hook", "sharded-checkpoint");
    assert!(sharded.contains("SHARDED_STATE_DICT") && !sharded.contains(".cpu()"), "{sharded}");
    let alone = of("nn/modules/module.py", "state_dict", "sharded-checkpoint");
    assert!(!alone.contains("SHARDED_STATE_DICT"), "{alone}");
    let offload = of("distributed/fsdp/_runtime_utils.py", "_post_backward_hook", "cpu-offload");
    assert!(offload.contains("CPUOffload(offload_params=True)") && !offload.contains("torchao"), "{offload}");
}

/// A heap was set below the machine's memory where the script of the job asks for less.
#[test]
fn a_heap_stays_below_what_the_job_asked_for() {
    let of = |head: &str| {
        lines_of(
            &format!("{head}java -jar peaks.jar -b in.bam\nException in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n"),
            "raise-runtime-limit",
        )
        .concat()
    };
    assert!(of("").contains("-Xmx<below the machine's memory>"), "{}", of(""));
    assert!(of("#!/bin/bash\n#SBATCH --mem=48G\n").contains("-Xmx<below the job's memory>"));
}

/// A query was told that the log shows with its answer, and narrower numbers where they are narrow.
#[test]
fn what_the_log_shows_is_not_told_again() {
    let failed = "RuntimeError: CUDA out of memory. Tried to allocate 1.44 GiB (GPU 0; 7.80 GiB total capacity; 1.10 GiB \
                  already allocated; 40.00 MiB free; 1.20 GiB reserved in total by PyTorch)\n";
    assert!(offers_for(failed).contains(&"free-the-device"));
    let queried = "$ nvidia-smi --query-compute-apps=pid,used_memory --format=csv\npid, used_gpu_memory [MiB]\n";
    assert!(!offers_for(&format!("{queried}{failed}")).contains(&"free-the-device"));
    let planned = |kind: &str| {
        offers_for(&format!(
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 15960595623 \
             bytes.\nBufferAssignment OOM Debugging.\nBufferAssignment stats:\n             parameter allocation:  \
             973.89MiB\n     preallocated temp allocation:   14.86GiB\n                 total allocation:   28.99GiB\nPeak \
             buffers:\n\tBuffer 1:\n\t\tSize: 9.04GiB\n\t\tXLA Label: fusion\n\t\tShape: {kind}[3161441,1,1536]\n"
        ))
    };
    assert!(planned("f32").contains(&"mixed-precision"), "{:?}", planned("f32"));
    assert!(!planned("bf16").contains(&"mixed-precision"));
}

/// What a share is computed to from what is held lay above the one in force.
#[test]
fn a_smaller_share_lies_below_the_usual_one() {
    let of = |share: &str| {
        lines_of(
            &format!(
                "{share}Traceback (most recent call last):\n  File \"/v/lib/python3.12/site-packages/vllm/v1/worker/\
                 gpu_model_runner.py\", line 1129, in execute_model\n    go()\n{FULL}"
            ),
            "lower-engine-memory",
        )
        .concat()
    };
    assert!(of("").contains("<the share now"), "{}", of(""));
    let told = of("INFO args: {'gpu_memory_utilization': 0.97}\n");
    assert!(told.contains("--gpu-memory-utilization 0.9"), "{told}");
}

/// Python's own installer for Windows puts it below `Program Files`: a script that runs in it was taken for a program.
#[test]
fn a_script_is_no_installed_program_for_where_its_python_lies() {
    let of = |folder: &str| {
        lines_of(
            &format!(
                "Epoch 1 step 10 loss 0.51\nTraceback (most recent call last):\n  File \"D:\\w\\train.py\", line 40, in \
                 <module>\n    loss = model(images).mean()\n  File \"C:\\{folder}\\lib\\site-packages\\torch\\nn\\\
                 functional.py\", line 90, in relu\n    return torch.relu(x)\n{FULL}"
            ),
            "mixed-precision",
        )
        .concat()
    };
    assert!(of("Program Files\\Python311").contains("torch.autocast("));
    assert!(of("Users\\me\\AppData\\Local\\Programs\\Python\\Python311").contains("torch.autocast("));
    assert!(!of("Program Files\\Painter").contains("torch.autocast("));
}
