//! The context of failures and their grouping, on logs as training programs print them.

use oomdoc::dialect::events;
use oomdoc::dialect::reader;
use oomdoc::evidence::Known;
use oomdoc::incident::context::{Clue, Context, Phase, Precision, StepUnit, Trainer, setting_examples};
use oomdoc::incident::{Incident, assemble};
use oomdoc::input::{Document, Source};
use oomdoc::report::surroundings::rows;
use oomdoc::units::{GIB, MIB};
use serde_json::Value;

fn incidents(case: &str) -> Vec<Incident> {
    let path = format!("{}/fixtures/logs/context/{case}.log", env!("CARGO_MANIFEST_DIR"));
    let document = reader().read(&Source::File(path.into())).expect("the fixture is there");
    assemble(&document, events(&document)).0
}

fn context(case: &str) -> Context {
    let mut all = incidents(case);
    assert_eq!(all.len(), 1, "{case}: {all:#?}");
    all.remove(0).context
}

/// Every field that a table states, as `field: value @ line`.
fn stated(context: &Context) -> Vec<String> {
    let mut out = Vec::new();
    macro_rules! field {
        ($($name:ident)*) => { $(
            if let Known::Seen(value, at) = &context.$name {
                out.push(format!("{} {value:?} @{}", stringify!($name), at.first));
            }
        )* };
    }
    field!(program trainer torch_version batch_size eval_batch_size accumulation sequence_length image_size workers prefetch
        pin_memory persistent_workers samples world_size local_processes rank epoch epochs step steps phase precision
        optimizer gradient_checkpointing attention lora quantized zero_stage fsdp cpu_offload compile model parameters
        alloc_conf visible_devices);
    out
}

#[test]
fn a_trainer_log_tells_all_its_settings_and_nothing_more() {
    let context = context("hf-trainer");
    assert_eq!(
        stated(&context),
        [
            "program \"finetune.py\" @1",
            "trainer HfTrainer @9",
            "torch_version \"2.6.0+cu124\" @6",
            "batch_size 6 @3",
            "accumulation 4 @3",
            "sequence_length 3072 @4",
            "workers 5 @5",
            "samples 48211 @10",
            "world_size 1 @13",
            "epoch 0 @17",
            "epochs 3 @11",
            "step 71 @18",
            "steps 6024 @18",
            "phase Loss @26",
            "precision Bf16 @4",
            "optimizer \"adamw_torch\" @4",
            "gradient_checkpointing false @5",
            "lora false @8",
            "model \"acme/herring-3B\" @2",
            "parameters 3012435968.0 @8",
            "alloc_conf \"expandable_segments:True\" @1",
            "visible_devices \"2\" @1",
        ]
    );
    assert!(context.command.get().unwrap().ends_with("--dataloader_num_workers 5"));
    assert_eq!(context.frames.len(), 4);
    assert_eq!(context.user_frame().unwrap().code.as_deref(), Some("trainer.train()"));
    assert!(context.has(Clue::VocabularyLogits));
}

#[test]
fn of_several_ranks_the_first_that_fell_speaks_with_its_own_traceback() {
    let incidents = incidents("ranks");
    assert_eq!(incidents.len(), 1);
    let incident = &incidents[0];
    assert_eq!(incident.event.rank, Some(2));
    assert_eq!(incident.ranks.iter().map(|fall| fall.rank).collect::<Vec<_>>(), [Some(2), Some(0)]);
    assert_eq!(incident.context.phase.value(), Some(Phase::OptimizerStep));
    assert!(incident.context.has(Clue::OptimizerState));
    assert_eq!(incident.context.user_frame().unwrap().line, 91);
    assert_eq!(incident.context.local_processes.value(), Some(4));
    assert_eq!(incident.context.batch_size.value(), Some(3));
    assert_eq!(incident.context.step.value(), Some(640));
}

#[test]
fn an_ultralytics_run_splits_its_batch_and_fails_in_validation() {
    let context = context("ultralytics");
    assert_eq!(context.trainer.value(), Some(Trainer::Ultralytics));
    assert_eq!(context.batch_size.value(), Some(16));
    assert_eq!((context.epoch.value(), context.epochs.value()), (Some(12), Some(80)));
    assert_eq!(context.phase.value(), Some(Phase::Validation));
    assert_eq!((context.image_size.value(), context.workers.value()), (Some(960), Some(6)));
    assert_eq!(context.torch_version.get().map(String::as_str), Some("2.4.1+cu121"));
    assert_eq!((context.series[0].per, context.series[0].readings.len()), (StepUnit::Step, 2));
}

#[test]
fn a_deepspeed_configuration_is_read_across_its_lines() {
    let context = context("deepspeed");
    assert_eq!(context.batch_size.value(), Some(2));
    assert_eq!(context.zero_stage.value(), Some(3));
    assert_eq!(context.cpu_offload.value(), Some(true));
    assert_eq!(context.precision.value(), Some(Precision::Bf16));
    assert_eq!(context.optimizer.get().map(String::as_str), Some("AdamW"));
    assert_eq!(context.memory_limit.value().unwrap().bytes, 180 * GIB);
    assert_eq!(context.host_total.value().unwrap().bytes, 187 * GIB);
    assert_eq!(context.phase.value(), Some(Phase::Checkpoint));
}

#[test]
fn memory_that_grows_with_the_steps_is_told_from_memory_that_settled() {
    let leak = context("leak");
    let growth = leak.series[0].growth().unwrap();
    assert_eq!(leak.series[0].per, StepUnit::Step);
    assert!(growth.confidence > 0.6, "{growth:?}");
    assert!((growth.bytes_per_step / MIB as f64 - 8.2).abs() < 0.2, "{growth:?}");
    assert!(leak.has(Clue::Accumulates));
    assert_eq!((leak.epoch.value(), leak.step.value()), (Some(1), Some(300)));

    let steady = context("steady");
    assert!(steady.series[0].running_maximum);
    assert_eq!(steady.series[0].growth().unwrap().confidence, 0.0);
}

#[test]
fn a_table_of_gpus_is_read_with_the_processes_on_them() {
    let context = context("neighbour");
    assert_eq!(context.gpus.len(), 1);
    assert_eq!(context.gpus[0].used.bytes, 17120 * MIB);
    assert_eq!(context.gpus[0].processes[0].0, 2210);
    assert_eq!(context.alloc_conf.get().map(String::as_str), Some("max_split_size_mb:64"));
}

#[test]
fn a_write_up_is_read_for_what_failed_and_not_for_what_it_recommends() {
    let context = context("write-up");
    assert_eq!(context.batch_size.value(), Some(10));
    assert_eq!(context.workers.value(), Some(14));
    assert_eq!(context.pin_memory.value(), Some(true));
    assert_eq!(context.epoch.value(), Some(7));
    assert_eq!(context.host_total.value().unwrap().bytes, 512 * GIB);
    assert_eq!((context.command.get(), context.alloc_conf.get()), (None, None));
    assert_eq!(context.precision.value(), None);
}

#[test]
fn each_of_two_runs_keeps_its_own_settings() {
    let incidents = incidents("two-runs");
    assert_eq!(incidents.iter().map(|i| i.context.batch_size.value()).collect::<Vec<_>>(), [Some(24), Some(12)]);
    // The newest run is the one that is asked about.
    assert_eq!(incidents.iter().map(|i| i.primary).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_notebook_traceback_has_frames_too() {
    let context = context("notebook");
    assert_eq!(context.user_frame().unwrap().code.as_deref(), Some("preds = torch.cat([preds, net(b)])"));
    assert_eq!(context.frames.last().unwrap().line, 549);
    assert!(context.has(Clue::Accumulates) && context.has(Clue::LongLived) && context.has(Clue::NoGradVisible));
}

#[test]
fn a_batch_that_was_skipped_shows_that_the_run_went_on() {
    assert!(context("retried").has(Clue::WentOn));
    assert!(!context("hf-trainer").has(Clue::WentOn));
}

mod anything {
    use super::*;
    use proptest::prelude::*;

    /// Pieces of the grammar that the readers know, and what they don't.
    fn piece() -> impl Strategy<Value = String> {
        let known = [
            "epoch ",
            "Epoch [",
            "step",
            "第",
            "轮",
            "个Epoch",
            "%|",
            "|",
            "/",
            "[",
            "]",
            "(",
            "--batch-size",
            "=",
            ":",
            "：",
            "'",
            "\"",
            "`",
            "memory(GiB)",
            "System: 4/",
            "max mem: ",
            "MiB / ",
            " allocated",
            "reserved ",
            "RSS ",
            "File \"",
            "\", line ",
            ", in f",
            "--> ",
            "Cell In[",
            "Traceback (most recent call last)",
            "\n",
            "\n    ",
            "$ python ",
            ".py",
            "\\\n",
            "['python', ",
            "Limits:\n memory: ",
            "ulimit -v ",
            "workers × ",
            "帧",
            "物理内存",
            "params",
            "#",
            "## ✅",
            "```",
            "PYTORCH_CUDA_ALLOC_CONF",
            "CUDA_VISIBLE_DEVICES",
            "memory.used, ",
            "[rank1]: ",
            "12:00:0",
            " of length ",
            "sequence",
            "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB",
            " of which 0 bytes is free",
            "torch ",
            "7B",
            "é",
            "━",
        ];
        prop_oneof![
            4 => prop::sample::select(known.to_vec()).prop_map(str::to_string),
            2 => "[0-9.,]{1,6}(GiB|MB|G|%|/)?",
            1 => "\\PC{0,4}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn no_text_breaks_the_readers(pieces in prop::collection::vec(piece(), 0..60)) {
            let document = Document::from_text("-", &pieces.concat());
            let (incidents, _) = assemble(&document, events(&document));
            let primary = incidents.iter().filter(|incident| incident.primary).count();
            let died = incidents.iter().any(|incident| incident.survived.is_none());
            prop_assert_eq!(primary, usize::from(died));
            let reader = oomdoc::incident::context::ContextReader::new(&document);
            let context = reader.at(oomdoc::evidence::Span::line(document.line_count / 2), Some(1), Some(1));
            prop_assert!(context.series.iter().all(|series| series.growth().is_none_or(|g| (0.0..=1.0).contains(&g.confidence))));
        }
    }
}

/// What the JSON says of the run of a failure that one line stands before.
fn rows_after(line: &str) -> Vec<(&'static str, String)> {
    let text = format!("{line}\n\nRuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB.\n");
    let document = Document::from_text("-", &text);
    let (incidents, _) = assemble(&document, events(&document));
    let rows = incidents.iter().flat_map(|incident| rows(&incident.context));
    rows.map(|row| (row.key, row.value.to_string())).collect()
}

#[test]
fn every_setting_reaches_the_json_under_a_key_of_its_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/explain.schema.json")).expect("JSON");
    let known = &schema["$defs"]["Context"]["properties"];
    // A total says nothing without the batch of one process, nor a limit for each CPU without their number.
    let parts = ["per_device_train_batch_size: 2", "#SBATCH --cpus-per-task=4", "#SBATCH --mem-per-cpu=4G"];
    for (name, line) in setting_examples() {
        let alone = rows_after(&line);
        let told = |before: &[(&str, String)], after: &[(&str, String)]| after.iter().any(|row| !before.contains(row));
        let command = rows_after("python train.py");
        let reached = told(&command, &alone)
            || parts.iter().any(|part| told(&rows_after(part), &rows_after(&format!("{part}\n{line}"))));
        assert!(reached, "{name}: {line:?} gives {alone:?}");
        for (key, _) in alone {
            assert!(known.get(key).is_some(), "{key} is not in the schema");
        }
    }
}

#[test]
fn keys_that_no_line_was_let_through_for_are_read() {
    for (line, key, value) in [
        ("n_gpu: 2", "local_processes", "2"),
        ("max_iters = 600000", "steps", "600000"),
        ("train_iters    500000", "steps", "500000"),
        ("total_steps: 1200", "steps", "1200"),
        ("bs: 8", "batch_size", "8"),
        ("train_bs=8", "batch_size", "8"),
        ("val_bs: 4", "eval_batch_size", "4"),
        ("checkpoint_activations: true", "gradient_checkpointing", "true"),
        ("backbone: resnet50", "model", "\"resnet50\""),
        ("imsize: 640", "image_size", "640"),
        ("dataset_size: 12000", "samples", "12000"),
        ("#SBATCH --ntasks_per_node=4", "local_processes", "4"),
        ("  micro_batch_size ................................ 4", "batch_size", "4"),
        ("│ batch_size │ 32 │", "batch_size", "32"),
    ] {
        assert!(rows_after(line).contains(&(key, value.to_string())), "{line}: {:?}", rows_after(line));
    }
}

/// The context of the one failure of a log.
fn of_text(text: &str) -> Context {
    let document = Document::from_text("-", text);
    let mut all = assemble(&document, events(&document)).0;
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0).context
}

#[test]
fn a_bar_of_sampling_steps_in_a_program_that_answers_is_no_training() {
    let answers = " 96%|█████████▌| 24/25 [01:12<00:03,  3.01s/it]\n\
                   Traceback (most recent call last):\n\
                   \x20 File \"/srv/film/demo_gradio.py\", line 88, in worker\n\
                   \x20   frames = decode(latents)\n\
                   torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    assert_eq!(of_text(answers).phase.value(), Some(Phase::Inference));
    let learns = answers.replace("demo_gradio.py", "main.py").replace("in worker", "in fit");
    assert_ne!(of_text(&learns).phase.value(), Some(Phase::Inference));
    let bars = ["0/20 [00:00<?, ?it/s]", "1/20 [00:01<00:19, 1.01s/it]"];
    let drawn = bars.map(|bar| format!("\r  5%|    | {bar}")).concat();
    let pipeline = format!(
        "Loading pipeline components...: unet, vae, scheduler\n{drawn}\n\
         torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB.\n"
    );
    assert_eq!(of_text(&pipeline).phase.value(), Some(Phase::Inference));
    let trained = pipeline.replace("1.01s/it]", "1.01s/it, loss=0.12]").replace("?it/s]", "?it/s, loss=0.2]");
    assert_ne!(of_text(&trained).phase.value(), Some(Phase::Inference));
}

#[test]
fn the_phase_is_told_by_what_the_frames_call() {
    let phase = |file: &str, function: &str, code: &str| {
        let text = format!(
            "Epoch 5/40: 100%|██████████| 80/80 [00:31<00:00,  2.5it/s]\n\
             Traceback (most recent call last):\n  File \"{file}\", line 71, in {function}\n    {code}\n\
             torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n"
        );
        of_text(&text).phase.value()
    };
    for (file, function, code, want) in [
        ("/srv/a/run.py", "fit", "score = self.val_one_epoch(loader)", Phase::Validation),
        ("/srv/a/run.py", "main", "compute_validation_map(epoch, net)", Phase::Validation),
        ("/srv/a/run.py", "_val_step", "out = self.net(batch)", Phase::Validation),
        ("/srv/a/views.py", "form_valid", "self.net(batch)", Phase::Train),
        ("/srv/a/trainer.py", "_build_optimizer", "optimizer = FP16Optimizer(args)", Phase::OptimizerSetup),
        ("/srv/a/run.py", "train", "loaders = build_val_dataset(root).cuda()", Phase::Train),
        ("/srv/a/run.py", "train", "self.model.eval(batch)", Phase::Train),
        ("/srv/a/saver.py", "_full_state_dict", "dist.all_gather_object(parts, own)", Phase::Checkpoint),
        ("/srv/a/run.py", "train", "accelerator.save_state(folder)", Phase::Checkpoint),
        ("/srv/a/run.py", "train", "ctx.save_for_backward(x.clone())", Phase::Train),
        ("/srv/a/show.py", "sample", "images = self.vae.decode(latents).sample", Phase::Decode),
        ("/srv/a/show.py", "decode_first_stage", "return self.net(z)", Phase::Decode),
        ("/srv/a/models/autoencoder_kl.py", "_decode", "return self.up(z)", Phase::Decode),
        ("/opt/v/lib/python3.12/site-packages/torch/optim/optimizer.py", "load_state_dict", "cast(p)", Phase::Resume),
        ("/srv/a/run.py", "resume", "self.optimizer.load_state_dict(state)", Phase::Resume),
        ("/srv/a/run.py", "train", "self.optimizer.step()", Phase::OptimizerStep),
        // An engine's and a model's own weights, and modules in the making.
        ("/opt/v/lib/python3.12/site-packages/sglang/srt/mxfp4.py", "create_weights", "torch.zeros(", Phase::Load),
        (
            "/opt/v/lib/python3.12/site-packages/torch/nn/modules/linear.py",
            "__init__",
            "torch.empty((o, i))",
            Phase::Load,
        ),
        (
            "/srv/a/run.py",
            "<module>",
            "net = torch.nn.Sequential(*(torch.nn.Linear(w, w) for _ in range(9)))",
            Phase::Load,
        ),
        ("/srv/a/net.py", "__init__", "self.layers = Stack(depth=40, width=8192)", Phase::Load),
        // Data on its way to the device.
        ("/srv/a/misc.py", "load_video_frames", "images = images.cuda()", Phase::DataLoading),
        ("/srv/a/cameras.py", "__init__", "self.shot = image.clamp(0, 1).to(self.data_device)", Phase::DataLoading),
        ("/srv/a/run.py", "train", "images = images.cuda()", Phase::Train),
        ("/srv/a/fsdp_utils.py", "save_fsdp_model", "state = parts(net)", Phase::Checkpoint),
        ("/srv/a/run.py", "get_preds", "out = self.net(batch)", Phase::Inference),
        (
            "/opt/v/lib/python3.12/site-packages/deepspeed/runtime/zero/stage3.py",
            "_create_fp32_partitions",
            "self.parts.append(part.clone().float())",
            Phase::OptimizerSetup,
        ),
    ] {
        assert_eq!(phase(file, function, code), Some(want), "{function}: {code}");
    }
}

#[test]
fn pictures_that_jax_renders_as_a_whole_are_no_training() {
    let log = "Traceback (most recent call last):\n  File \"/srv/a/train.py\", line 80, in main\n    picture = m.render_image(\n\
               \x20 File \"/srv/a/m.py\", line 61, in render_image\n    part = render(rays)\n\
               \x20 File \"/opt/v/lib/python3.9/site-packages/jax/_src/api.py\", line 895, in call\n    out = run(x)\n\
               RuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 51080526 bytes.\n";
    assert_eq!(of_text(log).phase.value(), Some(Phase::Inference));
    assert_ne!(of_text(&log.replace("/jax/", "/torch/")).phase.value(), Some(Phase::Inference));
}

#[test]
fn a_pass_that_runs_what_it_makes_builds_no_model() {
    let text = "Traceback (most recent call last):\n  File \"/srv/a/run.py\", line 7, in main\n    p = nn.Softmax(dim=1)(s)\n\
                torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    assert_eq!(of_text(text).phase.value(), None);
}

#[test]
fn ranks_that_connect_set_up_a_communicator() {
    let trace = "box:311:377 [1] include/alloc.h:52 NCCL WARN Cuda failure 'out of memory'\n\
                 box:311:377 [1] NCCL INFO include/alloc.h:63 -> 1\n\
                 box:311:377 [1] NCCL INFO channel.cc:31 -> 1\n\
                 box:311:377 [1] NCCL INFO init.cc:290 -> 1\n";
    assert_eq!(of_text(trace).phase.value(), Some(Phase::CommunicatorSetup));
    let later = format!("step 41 loss 2.5\nstep 42 loss 2.4\n{trace}");
    assert_ne!(of_text(&later).phase.value(), Some(Phase::CommunicatorSetup));
}

#[test]
fn deepspeed_sets_up_its_optimizer_after_the_weights() {
    let log = "Loading checkpoint shards: 100%|██████████| 9/9 [03:02<00:00, 20.1s/it]\n\
               [2024-02-03 10:00:01,530] [INFO] [logging.py:96:log_dist] [Rank 0] Creating torch.bfloat16 ZeRO stage 3 \
               optimizer\n\
               [2024-02-03 10:00:09,028] [INFO] [utils.py:803:see_memory_usage] Before creating fp32 partitions\n\
               [2024-02-03 10:00:09,029] [INFO] [utils.py:812:see_memory_usage] CPU Virtual Memory:  used = 150.00 GB, \
               percent = 60.0%\n\
               torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    let context = of_text(log);
    assert_eq!(context.phase.value(), Some(Phase::OptimizerSetup));
    assert_eq!((context.zero_stage.value(), context.precision.value()), (Some(3), Some(Precision::Bf16)));
    let total = context.host_total.value().unwrap();
    assert_eq!(total.bytes, 250 * GIB);
    // Half a tenth of a percent of 60, and half a hundredth of 150 GB.
    assert!((200 * MIB..300 * MIB).contains(&total.half_width), "{total:?}");
    let sixteen = log.replace("torch.bfloat16 ZeRO stage 3", "fp16 ZeRO stage 2");
    assert_eq!(of_text(&sixteen).precision.value(), Some(Precision::Fp16));
}

#[test]
fn a_bar_alone_is_no_training() {
    let log = |lines: &str| of_text(&format!("{lines}\ntorch.OutOfMemoryError: CUDA out of memory.\n")).phase.value();
    let bar = "Processing:   2%|▏ | 37/1810 [00:19<09:47,  3.02frame/s]";
    assert_eq!(log(bar), None);
    assert_eq!(log(&format!("$ python train.py --lr 1e-4\n{bar}")), Some(Phase::Train));
    assert_eq!(log("  2%|▏ | 37/1810 [00:19<09:47,  3.02it/s, loss=0.4]"), Some(Phase::Train));
    assert_eq!(log("Test:  [2400/2429]  eta: 0:00:41    time: 1.3902  max mem: 4121"), Some(Phase::Validation));
}

#[test]
fn the_epoch_of_a_checkpoint_is_no_progress_of_this_run() {
    let log = "=> loaded checkpoint 'out/checkpoint-29.pth' (epoch 29)\n\
               Train: 30 [   0/801 (  0%)]  Loss: 3.1 (3.1)  Time: 9.4s\n\
               torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    let context = of_text(log);
    assert_eq!((context.epoch.value(), context.step.value(), context.steps.value()), (Some(30), Some(0), Some(801)));
    assert!(context.has(Clue::FirstEpochSinceResume));
    let second = log.replace("Train: 30", "Train: 30 [ 800/801 (100%)]  Loss: 3.0\nTrain: 31");
    assert!(!of_text(&second).has(Clue::FirstEpochSinceResume));
    let unread = of_text("=> loaded checkpoint 'a.pth' (epoch 29)\ntorch.OutOfMemoryError: CUDA out of memory.\n");
    assert_eq!(unread.epoch.value(), None);
}

#[test]
fn a_validation_that_passed_before_is_known_by_its_result() {
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.";
    let passed = |lines: &str| of_text(&format!("{lines}\n{message}\n")).has(Clue::ValidatedBefore);
    for lines in [
        "epoch     train_loss  valid_loss  accuracy  time\n0         0.512067    0.471190    0.818942  12:07",
        "Test: Total time: 0:21:11 (0.5234 s / it)",
        " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.310",
        "{'eval_loss': 1.0381, 'eval_runtime': 41.2, 'epoch': 1.0}",
    ] {
        assert!(passed(lines), "{lines}");
    }
    for lines in ["epoch     train_loss  valid_loss  accuracy  time", "metric: val_loss", "monitor eval_loss: min"] {
        assert!(!passed(lines), "{lines}");
    }
    let behind = format!("{message}\n{{'eval_loss': 1.0381}}\n");
    assert!(!of_text(&behind).has(Clue::ValidatedBefore));
}

#[test]
fn what_is_gathered_once_after_the_loop_does_not_accumulate() {
    let log = |function: &str, code: &str| {
        let text = format!(
            "Traceback (most recent call last):\n  File \"/srv/a/run.py\", line 40, in {function}\n    {code}\n\
             torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n"
        );
        of_text(&text).has(Clue::Accumulates)
    };
    assert!(!log("collect", "all_preds = dist.all_gather(self.results)"));
    assert!(!log("all_gather", "all_preds.append(torch.empty((most,), dtype=torch.uint8))"));
    assert!(log("evaluate", "all_preds.append(net(x))"));
}

#[test]
fn what_is_in_force_is_known() {
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.";
    let of = |lines: &str| of_text(&format!("{lines}\n{message}\n"));
    for line in
        ["vae.use_tiling = True", "$ python decode.py --tiling", "  File \"/srv/a/kl.py\", line 4, in tiled_decode"]
    {
        assert!(of(line).has(Clue::TilesDecoding), "{line}");
    }
    assert!(of("2024-04-02 10:28 INFO |     fp16_impl: mem_efficient").has(Clue::SixteenBitStates));
    assert!(of("Args { cuda_memory_fraction: 1.0, hostname: \"a\" }").has(Clue::WholeFraction));
    assert!(!of("Args { cuda_memory_fraction: 0.9, hostname: \"a\" }").has(Clue::WholeFraction));
    let saved =
        of("  File \"/opt/v/lib/python3.9/site-packages/accelerate/utils/fsdp_utils.py\", line 9, in f\n    a = b()");
    assert_eq!(saved.fsdp.value(), Some(true));
    let warned = "/opt/v/site-packages/torch/distributed/fsdp/_state_dict_utils.py:312: UserWarning: Failed to clone() \
                  tensor with name _fsdp_wrapped_module.up.weight: CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    assert_eq!(of_text(warned).fsdp.value(), Some(true));
    assert_eq!(of("INFO     |     ddp_backend: zero2").zero_stage.value(), Some(2));
    for (name, precision) in [
        ("quantize: Some(Eetq)", Precision::Int8),
        ("quantize: Some(BitsandbytesNf4)", Precision::Int4),
        ("--quantize bitsandbytes", Precision::Int8),
        ("quantize: Some(Awq)", Precision::Int4),
    ] {
        let context = of(&format!("Args {{ {name}, num_shard: None }}"));
        assert_eq!((context.quantized.value(), context.precision.value()), (Some(true), Some(precision)), "{name}");
    }
    assert_eq!(of("Args { quantize: None, num_shard: None }").quantized.value(), None);
    assert_eq!(of("Args { max_input_length: 4000 }").sequence_length.value(), Some(4000));
    assert_eq!(of("INFO     |     truncate: 16").sequence_length.value(), Some(16));
    let one = |line: &str| of(line).other_batch.get().cloned();
    assert_eq!(one("llama_context: n_seq_max     = 1"), Some(("n_seq_max".into(), 1)));
    assert_eq!(one("$ python img2img.py --n_samples 1"), Some(("n_samples".into(), 1)));
    assert_eq!(one("> python run.py -s a.jpg --execution-threads 48"), Some(("execution_threads".into(), 48)));
    assert_eq!(of("Model b2 created, param count: 9109994").parameters.value(), Some(9_109_994.0));
}

#[test]
fn as_many_steps_as_samples_are_a_batch_of_one() {
    let log = |steps: u64| {
        let text = format!(
            "Number of samples: 640\nEpoch 0:   4%|█    | 21/{steps} [11:46<4:37:02, 33.85s/it]\n\
             torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n"
        );
        of_text(&text).batch_size.value()
    };
    assert_eq!((log(640), log(320)), (Some(1), None));
}

#[test]
fn metal_tells_the_size_of_the_device_at_the_start() {
    let log = "llama_model_load_from_file_impl: using device Metal (Apple M1 Max) - 49152 MiB free\n\
               ggml_backend_metal_buffer_type_alloc_buffer: error: failed to allocate buffer, size = 71680.00 MiB\n";
    let document = Document::from_text("-", log);
    let all = assemble(&document, events(&document)).0;
    let capacity = all.first().and_then(|incident| incident.ledger.capacity).unwrap();
    assert_eq!(capacity.middle_bytes(), 48 * GIB);
}

#[test]
fn frames_whose_paste_lost_the_indentation_have_code() {
    let log = "Traceback (most recent call last):\nFile \"mine.py\", line 219, in main\nvalidation(net, loader)\n\
               File \"mine.py\", line 55, in validation\npred = windows(image, net)\n\
               File \"/opt/v/lib/python3.8/site-packages/x/inferers.py\", line 215, in windows\n\
               out.append(torch.zeros(shape))\n\
               RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    let context = of_text(log);
    assert_eq!((context.frames.len(), context.failing_code()), (3, "pred = windows(image, net)"));
    assert_eq!(context.phase.value(), Some(Phase::Validation));
    // A script that only tests works so all the time.
    assert_eq!(of_text(&log.replace("mine.py", "mytest.py")).phase.value(), Some(Phase::Inference));
}

#[test]
fn a_phase_that_a_line_announces_goes_before_the_steps_above_it() {
    for (line, want) in [
        ("[VAL] =======> Iter: 0", Phase::Validation),
        ("[INFO ] generator.cpp:1326 - decoding 1 latents", Phase::Decode),
        ("Error occurred when executing VAEDecode:", Phase::Decode),
        ("- **Node Type:** TinyVAEDecodeAndPlay", Phase::Decode),
        ("decoding the header of the request", Phase::Train),
        ("VALID", Phase::Validation),
        ("===== evaluation =====", Phase::Validation),
        ("Computing validation mAP (this may take a while)...", Phase::Validation),
        ("the evaluation of the other seed is in out/", Phase::Train),
    ] {
        let text = format!(
            " 95%|█████████▌| 19/20 [00:31<00:00,  2.5it/s, loss=0.4]\n{line}\n\
             torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n"
        );
        assert_eq!(of_text(&text).phase.value(), Some(want), "{line}");
    }
}

#[test]
fn the_engine_and_the_application_around_a_message_are_known_by_their_own_lines() {
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    for (line, trainer) in [
        ("INFO text_generation_router: Warming up model", Trainer::Tgi),
        ("INFO 04-10 08:11:20 [gpu_executor.py] # GPU blocks: 1844, # CPU blocks: 4681", Trainer::Vllm),
        ("  File \"/opt/env/lmdeploy/turbomind/turbomind.py\", line 145, in __init__", Trainer::Lmdeploy),
        ("  File \"/usr/lib/python3/dist-packages/tensorrt_llm/runtime.py\", line 12, in go", Trainer::TensorRtLlm),
        ("Error occurred when executing VAEDecode:", Trainer::ComfyUi),
    ] {
        assert_eq!(of_text(&format!("{line}\n{message}")).trainer.value(), Some(trainer), "{line}");
    }
}

/// Ranks that load a checkpoint onto the first device show in the table there and on their own.
#[test]
fn ranks_that_a_table_lists_on_two_devices_share_the_first() {
    let table = |rows: &[(u32, u32, u32)]| {
        let mut text = "RuntimeError: CUDA out of memory. Tried to allocate 384.00 MiB (GPU 0; 10.76 GiB total \
                        capacity; 3.03 GiB already allocated; 35.56 MiB free; 3.30 GiB reserved in total by PyTorch)\n\
                        +-----------------------------------------------------------------------------+\n\
                        | NVIDIA-SMI 455.23.05    Driver Version: 455.23.05    CUDA Version: 11.1     |\n\
                        |-------------------------------+----------------------+----------------------+\n\
                        | GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n\
                        | Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n\
                        |===============================+======================+======================|\n"
            .to_string();
        for gpu in 0..3 {
            text += &format!("|   {gpu}  GeForce RTX 208...  Off  | 00000000:3D:00.0 Off |                  N/A |\n");
            text += "| 30%   44C    P2    70W / 250W |   9871MiB / 11019MiB |     40%      Default |\n";
            text += "+-------------------------------+----------------------+----------------------+\n";
        }
        text += "\n+-----------------------------------------------------------------------------+\n\
                 | Processes:                                                                  |\n\
                 |  GPU   GI   CI        PID   Type   Process name                  GPU Memory |\n\
                 |        ID   ID                                                   Usage      |\n\
                 |=============================================================================|\n";
        for (gpu, pid, held) in rows {
            text +=
                &format!("|    {gpu}   N/A  N/A     {pid}      C   python                          {held:>6}MiB |\n");
        }
        text + "+-----------------------------------------------------------------------------+\n"
    };
    let crowded = |rows: &[(u32, u32, u32)]| {
        let document = reader().read_stream("x", Box::new(std::io::Cursor::new(table(rows).into_bytes()))).unwrap();
        assemble(&document, events(&document)).0[0].context.has(Clue::RanksOnOneDevice)
    };
    assert!(crowded(&[(0, 4001, 7000), (0, 4002, 900), (0, 4003, 900), (1, 4002, 9000), (2, 4003, 9000)]));
    let spread = [(0, 4001, 4000), (1, 4001, 4000), (2, 4001, 4000), (0, 4002, 4000), (1, 4002, 4000), (2, 4002, 4000)];
    assert!(!crowded(&spread), "two programs that are spread over the devices");
    assert!(!crowded(&[(0, 4001, 7000), (1, 4002, 9000)]));
}

/// The phase that the headline names for a message behind these lines.
fn phase_behind(lines: &str) -> Option<Phase> {
    let text = format!(
        "{lines}\nRuntimeError: CUDA out of memory. Tried to allocate 2.10 GiB (GPU 0; 10.79 GiB total capacity; 3.82 GiB \
         already allocated; 1.60 GiB free; 7.70 GiB reserved in total by PyTorch)\n"
    );
    let document = reader().read_stream("x", Box::new(std::io::Cursor::new(text.into_bytes()))).expect("a text");
    assemble(&document, events(&document)).0[0].context.phase.value()
}

#[test]
fn a_load_that_is_over_is_not_what_was_under_way() {
    assert_eq!(phase_behind("Loading model weights from a.pt"), Some(Phase::Load));
    assert_eq!(phase_behind("Loading model weights from a.pt\nFinished loading model!\n0 a.jpg\n1 b.jpg"), None);
    assert_eq!(phase_behind("Loading checkpoint models/345M\nLoading dataset...\nTraining..."), Some(Phase::Train));
    let profiled = "Loading model weights took 10.2628 GB\nStarting profile run for multi-modal models.";
    assert_eq!(phase_behind(profiled), Some(Phase::Warmup));
}

/// In `loss(model(x)).backward()` the call within may be what fails.
#[test]
fn a_call_in_the_line_of_the_backward_pass_is_told_by_its_frames() {
    let behind = |line: &str| {
        phase_behind(&format!(
            "Traceback (most recent call last):\n  File \"train.py\", line 45, in train\n    {line}\n  File \
             \"/opt/lib/python3.7/site-packages/torch/nn/modules/module.py\", line 550, in __call__\n    result = \
             self.forward(*input, **kwargs)\n  File \"conv.py\", line 75, in forward\n    out = self.lin(x)"
        ))
    };
    assert_eq!(behind("F.nll_loss(model(data), target).backward()"), Some(Phase::Forward));
    assert_eq!(behind("loss.backward()"), Some(Phase::Backward), "a pass that is run again");
}

/// A validation calls what predicts, and brings a pipeline to the device: neither is the phase of the job.
#[test]
fn what_a_validation_within_a_training_calls_is_validation() {
    let behind = |trains: &str, validates: &str, last: &str| {
        phase_behind(&format!(
            "Traceback (most recent call last):\n  File \"run.py\", line 9, in {trains}\n    out = {validates}(net, \
             data)\n  File \"parts/val.py\", line 45, in {validates}\n    {last}\n  File \"parts/infer.py\", line 3, in \
             inference\n    out = net(im)"
        ))
    };
    assert_eq!(behind("train", "evaluate", "pred = infer.inference(net, im)"), Some(Phase::Validation));
    assert_eq!(behind("main", "evaluate", "pred = infer.inference(net, im)"), Some(Phase::Inference));
    let shows = "Traceback (most recent call last):\n  File \"run.py\", line 9, in main\n    log = log_validation(net)\n  \
                 File \"run.py\", line 3, in log_validation\n    pipe = pipe.to(device)";
    assert_eq!(phase_behind(shows), Some(Phase::Validation));
}

/// TensorFlow names the part of its graph that the failing node belongs to.
#[test]
fn the_phase_of_a_node_is_told_by_its_path() {
    let of = |node: &str| {
        let text = format!(
            "Loading pretrained model weights from a.npy\nResourceExhaustedError: OOM when allocating tensor with \
             shape[2,480,640,66] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator \
             GPU_0_bfc\n\t [[{{{{node {node}}}}}]]\n"
        );
        of_text(&text).phase.value()
    };
    assert_eq!(of("gradients/a_grad/transpose"), Some(Phase::Backward));
    assert_eq!(of("training/Adam/gradients/conv2d_16/convolution_grad/Conv2DBackpropInput"), Some(Phase::Backward));
    assert_eq!(of("training_10/Adam/mul_23"), Some(Phase::OptimizerStep));
    assert_eq!(of("a/table/Adam/Initializer/zeros"), Some(Phase::Load));
    assert_eq!(of("net/conv_1/Conv2D"), Some(Phase::Load), "a line is all that tells");
}

/// An evaluation of mmcv's runner was taken for the checkpoint before it, a full buffer of a data set for one minutes
/// earlier, a transcription and a step of molecules for training.
#[test]
fn the_last_thing_that_was_done_is_the_phase() {
    let full = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.65 GiB total capacity; 22.19 GiB \
        already allocated; 0.44 GiB free; 22.57 GiB reserved in total by PyTorch)\n";
    let of = |text: &str| of_text(text).phase.value();
    let steps = "2022-09-27 11:42:11,390 - mmseg - INFO - Iter [2000/40000]\tlr: 5.1e-05, loss: 0.4411\n\
        2022-09-27 11:42:14,001 - mmseg - INFO - Saving checkpoint at 2000 iterations\n";
    assert_eq!(of(&format!("{steps}{full}")), Some(Phase::Checkpoint));
    let bar = "[                    ] 0/512, elapsed: 0s, ETA:\n";
    assert_eq!(of(&format!("{steps}{bar}{full}")), Some(Phase::Validation));
    let fills = "INFO:tensorflow:Saving checkpoints for 0 into a/model.ckpt.\n2020-03-27 09:34:41.560092: I \
        tensorflow/core/kernels/data/shuffle_dataset_op.cc:145] Filling up shuffle buffer (this may take a while): 640 of \
        2048\n./train.sh: line 60: 11207 Killed    python3 model_main.py\n";
    assert_eq!(of(fills), Some(Phase::DataLoading));
    let spoken =
        format!("text = asr.transcribe(audio='a.wav')\nTranscribing:   0%|          | 0/1 [00:00<?, ?it/s]\n{full}");
    assert_eq!(of(&spoken), Some(Phase::Inference));
    let moved = format!("Setting up Verlet run ...\n  Current step  : 0\n{full}");
    assert_eq!(of(&moved), None);
}

/// What runs at a prompt is a command whatever its name, where it is given an option; what looks at things is none.
#[test]
fn any_program_at_a_prompt_is_a_command() {
    let commands = ["ada@box:~/w$ gridsolve -n 4 in.dat", "$ grid -mem=4", "D:\\grid>grid.exe --cells 8"];
    for command in commands {
        let text = format!("{command}\nError: CUDA error: out of memory\n");
        let context = of_text(&text);
        let ran = context.command.get().unwrap_or_else(|| panic!("no command in {command}"));
        assert!(command.ends_with(ran.as_str()), "{ran}");
    }
    for none in ["ada@box:~/w$ tail -n 20 out.log", "> mean(-x)", "costs $ 4 -a", "ada@box:~/w$ gridsolve"] {
        assert!(!of_text(&format!("{none}\nError: CUDA error: out of memory\n")).command.is_known(), "{none}");
    }
}
