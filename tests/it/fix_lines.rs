//! A line that a fix prints is one that can be written where the log comes from.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for, refused};

#[test]
fn a_change_is_written_with_the_option_that_stands_in_the_log() {
    let refused = |told: &str| {
        refused(&format!(
            "{told}\nTraceback (most recent call last):\n  File \"/w/run.py\", line 88, in <module>\n    \
             loss.backward()\n"
        ))
    };
    let of = |told: &str, fix: &str| lines_of(&refused(told), fix).first().cloned().unwrap_or_default();
    assert_eq!(of("$ python run.py --batch_size 32 --epochs 4", "smaller-batch"), "--batch_size 16");
    assert_eq!(of("$ python run.py -b 128 --epochs 4", "smaller-batch"), "-b 64");
    assert_eq!(of("Namespace(batch_size=8, epochs=4)", "smaller-batch"), "batch_size=4");
    assert_eq!(of("$ python run.py --size 512 --epochs 4", "smaller-images"), "--size 384   # was 512");
    let rays = under("  File \"/w/run.py\", line 12, in <module>\n    d = a[:, None] - b\n");
    let rays = lines_of(&format!("$ python run.py --chunk_size 4096\n{rays}"), "chunk-the-operation");
    assert_eq!(rays, ["--chunk_size 2048"]);
    let scripts = of("$ python run.py --per_device_train_batch_size=8 --num_train_epochs 2", "smaller-batch");
    assert_eq!(scripts, "--per_device_train_batch_size=4 --gradient_accumulation_steps=2");
    assert!(!offers_for(&refused("$ python run.py --batch_size 1 --epochs 4")).contains(&"smaller-batch"));
}

/// A bare message of a refused request, and the same below a line of a program.
fn under(frames: &str) -> String {
    refused(&format!("Traceback (most recent call last):\n{frames}"))
}

const CODE: [&str; 9] = [
    "torch.autocast(\"",
    "x.split(",
    "print(x.shape",
    "checkpoint(block",
    "save_on_cpu",
    "loss.item()",
    "torch.no_grad()",
    "torch.inference_mode()",
    "bitsandbytes.optim",
];

#[test]
fn no_line_of_python_is_printed_for_a_tool_that_its_user_did_not_write() {
    let fixes = [
        "mixed-precision",
        "chunk-the-operation",
        "fix-the-shape",
        "gradient-checkpointing",
        "activation-offload",
        "detach-logged-tensors",
        "no-grad-in-eval",
        "eight-bit-optimizer",
    ];
    let lines = |text: &str| fixes.map(|fix| lines_of(text, fix).join("\n")).join("\n");
    let tools = [
        "  File \"C:\\ui\\ComfyUI\\custom_nodes\\sampler\\nodes.py\", line 31, in sample\n    out = self.model(x)\n",
        "  File \"/w/stable-ui/extensions/trainer/train.py\", line 31, in train\n    loss.backward()\n",
        "  File \"/w/nnunet/training/trainer.py\", line 31, in run_iteration\n    loss.backward()\n",
        "  File \"C:\\ProgramData\\speech\\main.py\", line 31, in run\n    out = model(x)\n",
        "  File \"/usr/lib/python3.10/runpy.py\", line 196, in _run_module_as_main\n    return _run_code(code)\n  \
         File \"/v/lib/python3.10/site-packages/pkg/cli.py\", line 31, in main\n    out = model(x)\n",
        "",
    ];
    for tool in tools {
        let lines = lines(&under(tool));
        assert!(!CODE.iter().any(|code| lines.contains(code)), "{tool}: {lines}");
    }
    let own = lines(&under(
        "  File \"/home/ada/train.py\", line 31, in <module>\n    loss = net(x)\n  File \"/home/ada/net.py\", line 8, in \
         forward\n    return x @ y\n",
    ));
    assert!(own.contains("torch.autocast(\""), "{own}");
}

#[test]
fn a_call_of_a_library_is_printed_where_its_caller_shows() {
    let xla = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate \
        34359738368 bytes.\n";
    assert!(!lines_of(xla, "chunk-the-operation").join("\n").contains("jax."));
    let jax = format!(
        "Traceback (most recent call last):\n  File \"/w/run.py\", line 4, in <module>\n    y = jnp.exp(jax.vmap(f)(xs))\n{xla}"
    );
    assert!(lines_of(&jax, "chunk-the-operation").join("\n").contains("jax.lax.map"));

    let killed = "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n\
        Memory on the node (IP: 10.0.0.4, ID: 3ae1) where the task was running was 61.01GB / 62.50GB (0.97616), which \
        exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: 51ab) because it was the most recently \
        scheduled task\n";
    let of = |text: &str| [lines_of(text, "fewer-at-once"), lines_of(text, "raise-host-limit")].concat().join("\n");
    let managed = of(&format!("(RayTrainWorker pid=4411) loading data\n{killed}"));
    assert!(!managed.contains("ray.remote"), "{managed}");
    assert!(of(killed).contains("ray.remote"), "{}", of(killed));

    let arena = "2025-02-11 10:11:12 [E:onnxruntime:, sequential_executor.cc:514 onnxruntime::ExecuteKernel] Non-zero \
        status code returned while running Conv node. Name:'Conv_3' Status Message: bfc_arena.cc:376 \
        onnxruntime::BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 104857600\n";
    let lines = [lines_of(arena, "less-at-once"), lines_of(arena, "arena-growth")].concat().join("\n");
    assert!(!lines.contains("session.run(") && !lines.contains("providers=["), "{lines}");
    let triton = format!("I0211 10:11:12 tritonserver.cc:2538] started\n{arena}");
    let lines = [lines_of(&triton, "less-at-once"), lines_of(&triton, "arena-growth")].concat().join("\n");
    assert!(lines.contains("config.pbtxt") && !lines.contains("session.run("), "{lines}");
}

#[test]
fn an_engine_within_another_program_is_set_in_its_words() {
    let failed = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: \
        out of memory\nllama_kv_cache_init: failed to allocate buffer for kv cache\n";
    let fixes = ["max-model-len", "more-devices", "weight-offload", "kv-cache-dtype", "fewer-sequences"];
    let lines = |before: &str| fixes.map(|fix| lines_of(&format!("{before}{failed}"), fix).join("\n")).join("\n");
    let flags = |lines: &str| lines.lines().any(|line| line.starts_with('-'));
    assert!(flags(&lines("")), "{}", lines(""));
    for around in
        ["[llamacpp-router stdout] load\n", "AttributeError: 'LlamaCppModel' object has no attribute 'model'\n"]
    {
        let lines = lines(around);
        assert!(!flags(&lines) && lines.contains("in the settings of the program around llama.cpp"), "{lines}");
    }
    let drawn = lines("[INFO ] stable-diffusion.cpp:1326 - decoding 1 latents\n");
    assert!(drawn.trim().is_empty(), "{drawn}");
}

/// A size that no kernel set was to be looked for in the shapes; the extension had been built for another GPU.
#[test]
fn a_rasterizer_of_another_gpu_is_built_anew() {
    let failed = |file: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/w/render.py\", line 30, in render\n    rgb, radii = \
            rasterizer(means3D=xyz)\n  File \"/v/lib/python3.10/site-packages/{file}\", line 92, in forward\n    \
            num_rendered, color = _C.rasterize_gaussians(*args)\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried \
            to allocate 5893.13 GiB (GPU 0; 23.69 GiB total capacity; 1.10 GiB already allocated; 20.40 GiB free; 1.20 GiB \
            reserved in total by PyTorch)\n"
        )
    };
    let lines = |file: &str| lines_of(&failed(file), "fix-the-shape").join("\n");
    let anew = lines("diff_gaussian_rasterization/__init__.py");
    assert!(anew.contains("TORCH_CUDA_ARCH_LIST") && !anew.contains("shape"), "{anew}");
    let other = lines("grid_rasterization/__init__.py");
    assert!(!other.contains("TORCH_CUDA_ARCH_LIST") && other.contains("shape"), "{other}");
}

/// A heap that a leak has filled was to be cured by swap, and snapshots by a signal that Windows lacks.
#[test]
fn a_heaps_own_limit_is_not_the_machines() {
    let log = "C:\\app>node relay.js\n[8712:000001F2A]  418033121 ms: Mark-sweep 8504.1 (8661.2) -> 8503.9 (8661.5) MB, \
        6123.4 / 0.1 ms  last resort\nFATAL ERROR: CALL_AND_RETRY_LAST Allocation failed - JavaScript heap out of memory\n";
    assert!(lines_of(log, "swap").is_empty() && lines_of(log, "raise-host-limit").is_empty());
    let grows = lines_of(log, "find-the-leak").join("\n");
    assert!(grows.contains("--inspect") && !grows.contains("SIGUSR2"), "{grows}");
}
