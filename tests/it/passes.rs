//! A change is one for the pass that failed: for who wrote it, and for what is within it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{FULL_CARD, lines_of, offers_for, refused, training_step};

/// A full card under these frames.
fn under(frames: &str) -> String {
    refused(&format!("Traceback (most recent call last):\n{frames}"))
}

/// A frame of a library.
fn library(path: &str, function: &str, code: &str) -> String {
    format!("  File \"/v/lib/python3.11/site-packages/{path}\", line 77, in {function}\n    {code}\n")
}

const SCRIPT: &str = "  File \"/w/run.py\", line 12, in <module>\n";

#[test]
fn a_block_is_wrapped_by_who_wrote_the_pass() {
    let lines = |text: &str| ["gradient-checkpointing", "activation-offload"].map(|fix| lines_of(text, fix).join("; "));
    let step = library("transformers/trainer.py", "training_step", "self.accelerator.backward(loss)");
    let driven = lines(&under(&format!("{SCRIPT}    trainer.train()\n{step}")));
    assert!(driven[0].contains("gradient_checkpointing=True"), "{driven:?}");
    assert!(
        !driven.join("; ").contains("checkpoint(block") && !driven.join("; ").contains("save_on_cpu"),
        "{driven:?}"
    );
    let own = lines(&under(&format!("{SCRIPT}    loss.backward()\n")));
    assert!(own[0].contains("checkpoint(block") && own[1].contains("save_on_cpu"), "{own:?}");
    let yolo = library("ultralytics/engine/trainer.py", "_do_train", "self.scaler.scale(self.loss).backward()");
    let yolo = lines(&under(&format!("{SCRIPT}    model.train(data='parts.yaml')\n{yolo}")));
    assert_eq!(yolo, ["", ""]);
}

#[test]
fn a_penalty_on_gradients_is_not_checkpointed() {
    assert!(offers_for(&training_step("")).contains(&"gradient-checkpointing"));
    let told = training_step("").replace("Traceback", "it 4: d_loss 0.71, gp: 0.02\nTraceback");
    assert!(!offers_for(&told).contains(&"gradient-checkpointing"));
    let shown = under(&format!("{SCRIPT}    gradient_penalty.backward()\n"));
    assert!(!offers_for(&shown).contains(&"gradient-checkpointing"));
}

#[test]
fn pictures_that_a_language_model_sees_are_made_smaller_and_not_its_texts() {
    let tower = |call: &str| {
        let file = "transformers/models/qwen2_vl/modeling_qwen2_vl.py";
        let frame = library(file, "forward", call);
        format!(
            "{{'max_length': 1024, 'epochs': 2}}\n{}",
            under(&format!("{SCRIPT}    loss = model(**x).loss\n{frame}"))
        )
    };
    let seen = tower("hidden_states = hidden_states + self.attn(");
    assert_eq!(lines_of(&seen, "shorter-sequences"), [""; 0]);
    let smaller = lines_of(&seen, "smaller-images").join("; ");
    assert!(smaller.contains("images in each sample"), "{smaller}");
    let read = tower("hidden_states, weights = self.self_attn(");
    assert!(!lines_of(&read, "shorter-sequences").is_empty());
}

#[test]
fn blocks_are_made_of_an_operation_on_tensors_only() {
    let lines = |frames: &str| lines_of(&under(frames), "chunk-the-operation").join("; ");
    assert!(lines(&format!("{SCRIPT}    d = a[:, None] - b\n")).contains("x.split("));
    for call in ["out = model(x)", "learn.fit(2)", "y = F.interpolate(x, scale_factor=4)"] {
        assert_eq!(lines(&format!("{SCRIPT}    {call}\n")), "", "{call}");
    }
    let conv = library("torch/nn/modules/conv.py", "_conv_forward", "return F.conv2d(input, weight, bias)");
    assert_eq!(lines(&format!("{SCRIPT}    y = self.up(x)\n{conv}")), "");
    let elsewhere = library("fastai/train.py", "lr_find", "learn.fit(a, start_lr)");
    assert_eq!(lines(&format!("{SCRIPT}    find(learn)\n{elsewhere}")), "");
}

#[test]
fn one_printed_picture_is_not_halved_in_number() {
    assert!(!lines_of(FULL_CARD, "smaller-batch").is_empty());
    let one = format!("input: torch.Size([1, 3, 1080, 1920])\n{FULL_CARD}");
    assert!(!offers_for(&one).contains(&"smaller-batch"));
    let smaller = lines_of(&one, "smaller-images").join("; ");
    assert!(smaller.contains("a smaller input"), "{smaller}");
}

#[test]
fn a_batch_for_each_device_is_halved_by_its_number() {
    let text = format!("Training on 4 devices, batch size 8 per device\n{FULL_CARD}");
    let lines = lines_of(&text, "smaller-batch").join("; ");
    assert!(lines.contains('4') && !lines.contains("half as much"), "{lines}");
}

#[test]
fn scripts_of_latent_diffusion_have_neither_fewer_bits_nor_layers_to_spread() {
    let text = under("  File \"scripts/txt2img.py\", line 344, in <module>\n    samples = sampler.sample(S=50)\n");
    assert!(!offers_for(&text).contains(&"weight-quantisation"));
    assert!(!lines_of(&text, "more-devices").join("; ").contains("layers"));
}

#[test]
fn speech_is_made_from_shorter_texts() {
    let text = format!(">>> wav = text2speech(line)\n{FULL_CARD}");
    let lines = lines_of(&text, "smaller-batch").join("; ");
    assert!(lines.contains("sentence by sentence"), "{lines}");
}

#[test]
fn gaussians_that_are_counted_have_no_network() {
    let text = format!("Culled 0 gaussians (20413705 left)\n{FULL_CARD}");
    let offers = offers_for(&text);
    assert!(offers.contains(&"fewer-gaussians"), "{offers:?}");
    assert!(!["mixed-precision", "smaller-batch", "smaller-images"].iter().any(|id| offers.contains(id)), "{offers:?}");
    let lines = lines_of(&text, "fewer-gaussians").join("; ");
    assert!(!lines.contains("--") && !lines.contains("-r 2"), "{lines}");
}

#[test]
fn what_moves_to_the_host_is_not_read() {
    let text = |code: &str| {
        format!(
            "Traceback (most recent call last):\n{SCRIPT}    {code}\nRuntimeError: [enforce fail at \
             CPUAllocator.cpp:71] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 62662377472 \
             bytes. Error code 12 (Cannot allocate memory)\n"
        )
    };
    assert!(!offers_for(&text("model.to('cpu')")).contains(&"load-weights-once"));
    assert!(offers_for(&text("state = torch.load(path)")).contains(&"load-weights-once"));
}

#[test]
fn a_folder_of_windows_is_a_prompt() {
    let text = format!("(env) C:\\work>python train.py --batch_size 32\n{FULL_CARD}");
    assert_eq!(lines_of(&text, "smaller-batch"), ["--batch_size 16"]);
}

#[test]
fn ranks_of_fsdp_are_no_threads_of_data_parallel() {
    let wrapped = |file: &str| {
        offers_for(&format!(
            "$ torchrun --nproc-per-node 8 train.py\nTraceback (most recent call last):\n  File \"/w/train.py\", line 8, in \
             <module>\n    loss = model(x)\n  File \"/v/lib/python3.11/site-packages/torch/{file}\", line 849, in \
             forward\n    output = self._fsdp_wrapped_module(*args, **kwargs)\n{FULL_CARD}"
        ))
    };
    assert!(wrapped("nn/parallel/data_parallel.py").contains(&"data-parallel"));
    assert!(!wrapped("distributed/fsdp/fully_sharded_data_parallel.py").contains(&"data-parallel"));
}

#[test]
fn a_script_that_trains_a_diffusion_model_keeps_its_gradients() {
    let of = |script: &str| {
        offers_for(&format!(
            "Traceback (most recent call last):\n  File \"/w/{script}\", line 1703, in <module>\n    pred = \
             transformer(\n  File \"/v/lib/python3.11/site-packages/diffusers/models/transformers/transformer_flux.py\", \
             line 541, in forward\n    hidden_states = block(\n{FULL_CARD}"
        ))
    };
    assert!(of("draw.py").contains(&"no-grad-in-eval"));
    assert!(!of("train_dreambooth_lora_flux.py").contains(&"no-grad-in-eval"));
}

/// A traceback of the user's own script with a line of code at its end, and the frames beneath.
fn of_own_code(script: &str, function: &str, code: &str, beneath: &str) -> String {
    format!(
        "Traceback (most recent call last):\n  File \"/w/{script}\", line 40, in <module>\n    main()\n  File \"/w/{script}\", \
         line 30, in {function}\n    {code}\n{beneath}RuntimeError: CUDA out of memory. Tried to allocate 6.00 GiB (GPU 0; \
         15.22 GiB total capacity; 8.10 GiB already allocated; 5.00 GiB free; 8.20 GiB reserved in total by PyTorch)\n"
    )
}

#[test]
fn a_script_that_renders_or_evaluates_has_no_gradients_to_save() {
    const OF_GRADIENTS: [&str; 4] = ["gradient-checkpointing", "activation-offload", "data-parallel", "ema-on-cpu"];
    let beneath = "  File \"/v/lib/python3.8/site-packages/torch/nn/parallel/data_parallel.py\", line 150, in forward\n    \
                   return self.module(*inputs[0], **kwargs[0])\n";
    for (script, function, code) in [
        ("run_nerf.py", "render_path", "rgb = render(H, W, focal, chunk=chunk)"),
        ("eval.py", "save_depth", "outputs = model(sample)"),
        ("demo.py", "show", "flow = model(image1, image2)"),
        ("main.py", "testEpoch", "scores = t.mm(user, items.T)"),
    ] {
        let offered = offers_for(&of_own_code(script, function, code, beneath));
        assert!(!offered.iter().any(|fix| OF_GRADIENTS.contains(fix)), "{script}: {offered:?}");
    }
    let gathers = beneath.replace("self.module(*inputs[0], **kwargs[0])", "self.gather(outputs, self.output_device)");
    let trained = offers_for(&of_own_code("train.py", "train", "outputs = model(sample)", &gathers));
    assert!(trained.contains(&"data-parallel"), "{trained:?}");
}

#[test]
fn the_weights_of_a_graph_are_made_before_any_batch() {
    let of = |code: &str| {
        offers_for(&format!(
            "Traceback (most recent call last):\n  File \"/w/train.py\", line 148, in train_model\n    {code}\n\
             tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with \
             shape[25088,4096]\n"
        ))
    };
    assert!(of("sess.run(train_op, feed_dict=feed)").contains(&"smaller-batch"));
    assert!(!of("sess.run(tf.global_variables_initializer())").contains(&"smaller-batch"));
}

#[test]
fn the_averaged_weights_of_fsdp_are_gathered_by_the_call_that_failed() {
    let of = |file: &str| {
        let beneath =
            format!("  File \"/v/lib/python3.11/site-packages/torch/{file}\", line 9, in state_dict\n    go()\n");
        offers_for(&of_own_code("train.py", "train", "save(ema_model.state_dict())", &beneath)).contains(&"ema-on-cpu")
    };
    assert!(of("nn/modules/module.py") && !of("distributed/fsdp/_state_dict_utils.py"));
}

#[test]
fn a_scene_without_a_step_has_nothing_that_was_split() {
    let at = |bar: &str| {
        let frames =
            of_own_code("train.py", "training", "loss = l1(image, gt)", "").replace("/w/", "/w/gaussian-splatting/");
        lines_of(
            &format!("Number of points at initialisation : 23160\nTraining progress: {bar}\n{frames}"),
            "fewer-gaussians",
        )
        .concat()
    };
    assert!(at("  8%| | 2400/30000 [01:00<10:00, 30it/s]").contains("--densify_until_iter 10000"));
    assert!(at(" 40%| | 12000/30000 [01:00<10:00, 30it/s]").starts_with("--densify_grad_threshold"));
    assert!(!at("  0%| | 0/30000 [00:00<?, ?it/s]").contains("densify"));
}

#[test]
fn a_loop_over_training_and_validation_is_neither() {
    let of = |function: &str| {
        let beneath = "  File \"/w/loop.py\", line 9, in _forward_backward_step\n    loss = loss_of(model(batch))\n";
        offers_for(&of_own_code("main.py", function, "log = self.step(batches)", beneath))
    };
    assert!(of("run_validation").contains(&"no-grad-in-eval"));
    for function in ["run_train_validation_loop", "train_val"] {
        assert!(!of(function).contains(&"no-grad-in-eval"), "{function}");
    }
}

#[test]
fn keras_keeps_numbers_and_has_no_loop_to_change() {
    let grown = |call: &str| {
        offers_for(&format!(
            "Epoch 40/100\n46/46 [====] - 58s 1s/step - loss: 17.2\nEpoch 41/100\nTraceback (most recent call last):\n  File \
             \"train.py\", line 85, in _main\n    {call}\ntensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM \
             when allocating tensor with shape[32,256,52,52]\n"
        ))
    };
    assert!(grown("sess.run(step, feed_dict=feed)").contains(&"detach-logged-tensors"));
    assert!(!grown("model.fit_generator(data)").contains(&"detach-logged-tensors"));
}

#[test]
fn a_film_is_shortened_to_a_length_that_the_model_takes() {
    let of = |frames: u32| {
        let text =
            format!("$ python sample.py --video-length {frames}\n{}", of_own_code("sample.py", "run", "x = y + z", ""));
        lines_of(&text, "smaller-images").concat()
    };
    assert!(of(129).contains("--video-length 65") && of(64).contains("--video-length 32"), "{} {}", of(129), of(64));
}

/// An error of PyTorch under frames of the user's own, each a file, a function and a line.
fn own(frames: &[(&str, &str, &str)]) -> String {
    let told = frames.iter().enumerate();
    under(
        &told
            .map(|(at, (file, function, code))| {
                format!("  File \"/w/{file}\", line {}, in {function}\n    {code}\n", at + 5)
            })
            .collect::<String>(),
    )
}

#[test]
fn no_block_is_made_of_a_layer_an_extension_or_a_tensor_that_is_new() {
    let lines = |text: &str| lines_of(text, "chunk-the-operation").join("; ");
    let line = |code: &str| lines(&own(&[("run.py", "<module>", "go()"), ("parts.py", "go", code)]));
    assert!(line("d = torch.cdist(a, b)").contains("x.split("));
    assert!(line("return (corr / torch.sqrt(torch.tensor(dim).float())).exp()").contains("x.split("));
    assert!(line("weights = softmax(q @ k.transpose(-2, -1))").contains("q.split(1024, dim=-2)"));
    for code in [
        // The result has to be there as a whole.
        "return corr / torch.sqrt(torch.tensor(dim).float())",
        "color, radii = _C.rasterize_gaussians(*args)",
        "image, depth = rasterizer(means, scales)",
        "super().draw(views)",
        "y = _Splat.apply(x)",
    ] {
        assert_eq!(line(code), "", "{code}");
    }
    let layer = |file: &str| {
        let called = library("torch/nn/modules/module.py", "_call_impl", "return forward_call(*input)");
        let inner = library(&format!("torch/nn/modules/{file}"), "forward", "return F.f(input)");
        lines(&under(&format!("{SCRIPT}    y = self.part(x)\n{called}{inner}")))
    };
    assert_eq!(layer("batchnorm.py"), "");
    assert!(layer("activation.py").contains("x.split("));
    let new = line("grid = torch.zeros((a.shape[0], b.shape[0]), device=a.device)");
    assert!(!new.is_empty() && !new.contains("x.split("), "{new}");
}

#[test]
fn what_a_constructor_has_made_for_it_is_no_pass() {
    let made = |inner: &str| {
        own(&[
            ("train.py", "<module>", "net = Net()"),
            ("net.py", "__init__", "self.parts()"),
            ("net.py", inner, "mask = torch.zeros(width, width)"),
        ])
    };
    let pass = ["smaller-batch", "smaller-images", "chunk-the-operation"];
    let offers = |inner: &str| offers_for(&made(inner)).into_iter().filter(|id| pass.contains(id)).count();
    assert_eq!(offers("_create_parts"), 0);
    assert!(offers("step") > 0);
}

#[test]
fn one_picture_or_recording_on_the_command_line_is_not_halved_in_number() {
    let of = |command: &str| {
        let text = own(&[("run.py", "<module>", "y = encode(waves)"), ("run.py", "encode", "z = torch.cat(batch)")]);
        lines_of(&format!("$ python run.py {command}\n{text}"), "smaller-batch").join("; ")
    };
    assert!(!of("--input images/").is_empty());
    for command in ["--input images/tower.png", "~/takes/04.wav", "--picture=\"a.jpg\""] {
        assert_eq!(of(command), "", "{command}");
    }
    assert!(!of("--input 'images/*.png'").is_empty());
    let counted = format!("Found 1 images. Saving to out/\n{FULL_CARD}");
    assert!(!offers_for(&counted).contains(&"smaller-batch"));
}

#[test]
fn a_batch_of_windows_is_none_of_a_loader() {
    let parallel = library("torch/nn/parallel/data_parallel.py", "forward", "outputs = self.parallel_apply(replicas)");
    let of = |function: &str| {
        let text = under(&format!(
            "{SCRIPT}    go()\n  File \"/w/run.py\", line 80, in {function}\n    y = net(batch)\n{parallel}"
        ));
        lines_of(&text, "smaller-batch").join("; ")
    };
    assert!(of("predict_sliding").contains("windows or tiles"), "{}", of("predict_sliding"));
    let plain = of("go");
    assert!(plain.contains("DataParallel divides it") && !plain.contains("DataLoader("), "{plain}");
}

#[test]
fn data_parallel_on_one_device_is_not_replaced() {
    let of = |code: &str| {
        let parallel = library("torch/nn/parallel/data_parallel.py", "forward", code);
        offers_for(&under(&format!("  File \"/w/fit.py\", line 12, in train\n    y = f(x)\n{parallel}")))
    };
    assert!(of("outputs = self.parallel_apply(replicas, inputs, module_kwargs)").contains(&"data-parallel"));
    assert!(!of("return self.module(*inputs[0], **module_kwargs[0])").contains(&"data-parallel"));
}

#[test]
fn a_file_of_weights_is_no_model_of_a_hub() {
    let of = |model: &str| {
        let text = own(&[("run.py", "<module>", "y = torch.cat(pieces)"), ("run.py", "predict", "z = y * y")]);
        offers_for(&format!("$ python run.py --model={model}\n{text}"))
    };
    assert!(of("acme/flow-large").contains(&"weight-quantisation"));
    for file in ["models/flow.pth", "models/flow.ckpt"] {
        assert!(!of(file).contains(&"weight-quantisation"), "{file}");
    }
}

#[test]
fn weights_that_a_script_trains_have_no_fewer_bits() {
    let of = |script: &str| {
        let told = own(&[(script, "<module>", "main()"), (script, "main", "model.to(device)")]);
        let offers = offers_for(&format!("{{'n_ctx': 300, 'max_length': 300}}\n{told}"));
        offers.into_iter().filter(|id| ["weight-quantisation", "weight-offload"].contains(id)).count()
    };
    assert_eq!(of("train.py"), 0);
    assert!(of("run.py") > 0);
}

#[test]
fn a_model_that_a_library_loads_by_its_name_is_changed_for_a_smaller_one() {
    let moved = library("whisper/__init__.py", "load_model", "return model.to(device)");
    let text = under(&format!("{SCRIPT}    model = whisper.load_model(\"large\")\n{moved}"));
    let lines = lines_of(&text, "weight-quantisation").join("; ");
    assert!(lines.contains("a smaller model") && !lines.contains("bits"), "{lines}");
    assert!(!lines_of(&text, "more-devices").join("; ").contains("layers"));
    assert_eq!(lines_of(&text, "weight-offload"), [""; 0]);
}

#[test]
fn texts_are_cut_by_a_tokenizer_only_where_one_shows() {
    let plain = lines_of(&training_step(""), "shorter-sequences").join("; ");
    assert!(!plain.is_empty() && !plain.contains("tokenizer("), "{plain}");
    let shown = "  File \"/w/finetune.py\", line 44, in batches\n    ids = tokenizer(texts, padding=True)\n";
    let shown = lines_of(&training_step(shown), "shorter-sequences").join("; ");
    assert!(shown.contains("tokenizer("), "{shown}");
}

#[test]
fn pictures_that_are_rendered_and_epochs_that_are_tested_have_no_backward_pass() {
    let of = |function: &str| {
        let text =
            own(&[("fit.py", "<module>", "train()"), ("fit.py", "train", "go()"), ("fit.py", function, "d = a * b")]);
        let learns = ["gradient-checkpointing", "activation-offload", "gradient-accumulation"];
        offers_for(&text).into_iter().filter(|id| learns.contains(id)).count()
    };
    assert!(of("go") > 0);
    for function in ["render_path", "render_sets", "testEpoch", "evalOneEpoch"] {
        assert_eq!(of(function), 0, "{function}");
    }
}

#[test]
fn an_evaluation_of_the_epoch_before_is_over() {
    let after = |line: &str| {
        let told = own(&[("fit.py", "main", "outputs = model(**batch)")]);
        offers_for(&format!("***** Evaluating perplexity, Epoch 0/2 *****\nppl: 4712.5\n{line}{told}"))
    };
    assert!(after("").contains(&"smaller-eval-batch"));
    assert!(!after("Beginning of Epoch 1/2, Total Micro Batches 1430\n").contains(&"smaller-eval-batch"));
}

#[test]
fn variables_that_a_session_makes_have_no_batch() {
    let of = |node: &str| {
        offers_for(&format!(
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with \
             shape[25088,4096]\n\t [[Node: {node}[T=DT_FLOAT, \
             _device=\"/job:localhost/replica:0/task:0/gpu:0\"](a, b)]]\n"
        ))
    };
    assert!(of("fc6/MatMul = MatMul").contains(&"smaller-batch"));
    assert!(!of("fc6/weights/Momentum/Assign = Assign").contains(&"smaller-batch"));
}

#[test]
fn a_package_in_its_clone_is_set_by_options() {
    let of = |folder: &str| {
        let text = own(&[("fit.py", "<module>", "go()")]).replace(
            "torch.OutOfMemoryError",
            &format!(
                "  File \"/data/{folder}/nets/encoder.py\", line 9, in update\n    d = a * b\ntorch.OutOfMemoryError"
            ),
        );
        lines_of(&text, "gradient-checkpointing").join("; ")
    };
    for folder in ["speechkit/speechkit", "speech-kit/src/speech_kit"] {
        assert!(!of(folder).contains("torch.utils.checkpoint"), "{folder}: {}", of(folder));
    }
}

#[test]
fn a_library_that_goes_over_the_data_has_the_loop() {
    let of = |inner: &str| {
        let text = under(&format!("  File \"/w/fit.py\", line 12, in <module>\n    trainer.begin()\n{inner}"));
        lines_of(&format!("epoch 3 - loss 2.1\n{text}"), "find-the-leak").join("; ")
    };
    let library = library("tagger/trainers/trainer.py", "train", "loss = model.forward_loss(batch)");
    assert!(!of(&library).contains("print(step"), "{}", of(&library));
}

#[test]
fn a_script_that_tests_has_no_gradients_whatever_the_checkpoint_tells() {
    let of = |script: &str| {
        let told =
            own(&[(script, "<module>", "main()"), (script, "main", "y = net(x)"), ("net.py", "forward", "b(x)")]);
        let learns = ["gradient-checkpointing", "gradient-accumulation", "activation-offload"];
        offers_for(&format!("model epoch 331 best prec@1: 85.1\n{told}"))
            .into_iter()
            .filter(|id| learns.contains(id))
            .count()
    };
    assert!(of("main.py") > 0);
    assert_eq!(of("test.py"), 0);
    let split = own(&[("main.py", "<module>", "iterate(\"val\", loader, net)"), ("main.py", "iterate", "y = net(x)")]);
    assert!(offers_for(&split).contains(&"no-grad-in-eval"));
}

#[test]
fn axolotl_is_set_by_its_own_keys() {
    let text = "[2023-12-17 04:10:02,118] [INFO] [axolotl.train.log:60] [PID:20961] [RANK:0] Starting trainer...\n";
    let trainer = library("transformers/trainer.py", "training_step", "self.accelerator.backward(loss)");
    let text =
        format!("{text}{}", under(&format!("  File \"/a/cli/train.py\", line 43, in <module>\n    go()\n{trainer}")));
    assert_eq!(lines_of(&text, "smaller-batch"), ["micro_batch_size: <half>\ngradient_accumulation_steps: <twice>"]);
    assert_eq!(lines_of(&text, "gradient-checkpointing"), ["gradient_checkpointing: true"]);
}

/// Scripts that take the Trainer's arguments as options are told options.
#[test]
fn arguments_that_were_given_as_options_are_changed_as_options() {
    let trainer = library("transformers/trainer.py", "training_step", "loss = self.compute_loss(model, inputs)");
    let text = |command: &str| {
        let frames = format!("  File \"run_clm.py\", line 450, in main\n    trainer.train()\n{trainer}");
        format!("$ python run_clm.py {command}\n{}", under(&frames))
    };
    let given = text("--model_name_or_path gpt2-xl --do_train --per_device_train_batch_size 4 --output_dir out");
    assert_eq!(lines_of(&given, "gradient-checkpointing"), ["--gradient_checkpointing"]);
    let elsewhere = lines_of(&text("gpt2-xl"), "gradient-checkpointing");
    assert!(elsewhere[0].starts_with("gradient_checkpointing=True"), "{elsewhere:?}");
}

/// Latents are made before training: neither its batch nor weights that wait elsewhere matter yet.
#[test]
fn what_is_kept_of_the_data_is_made_before_training() {
    let text = format!(
        "$ accelerate launch train_network.py --cache_latents --train_batch_size 4\n{}",
        under(
            "  File \"/data/sd-scripts/train_network.py\", line 267, in train\n    group.cache_latents(vae, 1)\n  File \
             \"/data/sd-scripts/library/train_util.py\", line 2080, in cache_batch_latents\n    latents = \
             vae.encode(images).latent_dist.sample()\n"
        )
    );
    let offers = super::fixes::offers_for(&text);
    assert!(offers.contains(&"smaller-images"), "{offers:?}");
    assert!(!offers.contains(&"smaller-batch") && !offers.contains(&"weight-offload"), "{offers:?}");
}

/// The batch of a command that only evaluates is that of the evaluation.
#[test]
fn the_batch_of_an_evaluation_is_the_one_of_its_command() {
    let frame = library("lm_eval/evaluator.py", "evaluate", "resps = getattr(lm, reqtype)(cloned_reqs)");
    let model = library("lm_eval/models/huggingface.py", "_loglikelihood_tokens", "multi_logits = F.log_softmax(");
    let text = format!(
        "$ accelerate launch -m lm_eval --model hf --tasks mmlu --batch_size 16\n{}",
        under(&format!("{frame}{model}"))
    );
    assert_eq!(lines_of(&text, "smaller-eval-batch"), ["--batch_size 8"]);
}

/// ComfyUI that loads in parts has layers in host memory already.
#[test]
fn layers_that_wait_in_host_memory_are_not_sent_there_again() {
    let text = |loaded: &str| {
        format!(
            "got prompt\nRequested to load WAN21\n{loaded}\n!!! Exception during processing !!! Allocation on device\nTraceback \
             (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 327, in execute\n    output = \
             get_output_data(obj)\n  File \"/opt/ComfyUI/comfy/ldm/wan/model.py\", line 201, in forward\n    x = \
             block(x)\ntorch.OutOfMemoryError: Allocation on device\n"
        )
    };
    assert!(super::fixes::offers_for(&text("loaded completely 9000.2 7900.2 True")).contains(&"weight-offload"));
    assert!(!super::fixes::offers_for(&text("loaded partially 8120.5 7900.2 0")).contains(&"weight-offload"));
}
