//! Libraries that somebody's own script calls: the arguments of their classes and functions are what there is to set.

use super::{Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, line, said};

const DEEPXDE_PIECES: Line = option("np.vstack([model.predict(x, operator=pde) for x in np.array_split(X, 64)])")
    .note("predict() takes all of X in one run", "predict() 一次算完整个 X");

const DEEPXDE_POINTS: Line = option("dde.data.PDE(..., num_domain=<fewer>, num_test=<fewer>)")
    .note("of train(): all points are one batch", "train() 时：所有点为一批");

const SIMPLE_TRANSFORMERS_WORKERS: Line =
    option("\"dataloader_num_workers\": 0, \"process_count\": 1, \"use_multiprocessing\": False")
        .note("args of the model; as many as processors less two unless set", "模型的 args；默认为处理器数减二");

const PYKEEN_EVALUATION: Line = option("pipeline(..., evaluation_kwargs=dict(batch_size=<half>))")
    .note("results are the same; then slice_size=1024 beside it", "结果不变；再加 slice_size=1024");

const PP_STRUCTURE_PARTS: Line = option(
    "PPStructureV3(..., use_doc_orientation_classify=False, use_doc_unwarping=False, use_textline_orientation=False)",
)
.note(
    "each is a model; use_formula_recognition and the others too",
    "每项都是一个模型；use_formula_recognition 等同理",
);

const PP_STRUCTURE_SIDE: Line = option("PPStructureV3(..., text_det_limit_side_len=960, text_det_limit_type=\"max\")")
    .note("and text_recognition_batch_size=1", "并加 text_recognition_batch_size=1");

const FAISS_HALF: Line = option("co = faiss.GpuClonerOptions(); co.useFloat16 = True").note(
    "index_cpu_to_gpu(res, 0, index, co); and res.setTempMemory(2**26)",
    "index_cpu_to_gpu(res, 0, index, co)；并设 res.setTempMemory(2**26)",
);

const THEANO_SOFTMAX: Line = said(
    Target::Program,
    "a smaller batch or vocabulary: the array has a column for each word; floatX=float32 in THEANO_FLAGS halves it",
    "更小的批或词表：数组每个词一列；在 THEANO_FLAGS 中设 floatX=float32 可减半",
);

pub(super) const TOOLS: &[Tool] = &[
    // FAISS on a GPU. Seen in its wiki, Faiss on the GPU (GpuClonerOptions for scarce memory), in
    // StandardGpuResources (setTempMemory, noTempMemory) and in scripts with GpuMultipleClonerOptions().shard: without
    // it every GPU has the whole index. What it says holds its namespace.
    Tool {
        name: "FAISS on a GPU",
        files: &[],
        scripts: &["faiss::gpu::"],
        clue: None,
        rows: &[
            ("less-at-once", FAISS_HALF),
            ("smaller-batch", FAISS_HALF),
            ("mixed-precision", FAISS_HALF),
            (
                "more-devices",
                option("co = faiss.GpuMultipleClonerOptions(); co.shard = True")
                    .note("index_cpu_to_all_gpus(index, co=co)", "index_cpu_to_all_gpus(index, co=co)"),
            ),
            ("weight-quantisation", option("faiss.index_factory(d, \"IVF4096,PQ32\")")),
        ],
        lacks: &["chunk-the-operation", "gradient-checkpointing", "no-grad-in-eval", "weight-offload"],
    },
    // Theano's softmax with its loss, CrossentropySoftmaxArgmax1HotWithBias, in whose code alone these words stand
    // (theano/tensor/nnet/nnet.py). taolei87/rcnn's issue 5: a language model of 100,000 words has such an array.
    // floatX is float64 unless set.
    Tool {
        name: "Theano's softmax",
        files: &[],
        scripts: &["failed to alloc sm output"],
        clue: None,
        rows: &[
            ("raise-host-limit", THEANO_SOFTMAX),
            ("read-less-at-once", THEANO_SOFTMAX),
            ("less-at-once", THEANO_SOFTMAX),
            ("smaller-batch", THEANO_SOFTMAX),
            ("fix-the-shape", THEANO_SOFTMAX),
        ],
        lacks: &["gradient-checkpointing", "no-python-lists-in-dataset", "fewer-workers", "smaller-images"],
    },
    // Simple Transformers, which makes data sets and loaders itself. Seen in ThilinaRajapakse/simpletransformers,
    // simpletransformers/config/model_args.py at f837468 (dataloader_num_workers and process_count: processors less
    // two; use_multiprocessing True; fp16 True; train_batch_size 8, eval_batch_size 8, max_seq_length 128; lazy_loading
    // of classification, NER and questions). Its progress reads "Epoch 1 of 4" and "Running Epoch 0 of 4".
    Tool {
        name: "Simple Transformers",
        files: &["/simpletransformers/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("fewer-workers", SIMPLE_TRANSFORMERS_WORKERS),
            ("fewer-at-once", SIMPLE_TRANSFORMERS_WORKERS),
            (
                "read-less-at-once",
                option("\"lazy_loading\": True")
                    .note("args of the model: lines are read from the file", "模型的 args：从文件逐行读取"),
            ),
            (
                "smaller-batch",
                option("\"train_batch_size\": {batch}, \"gradient_accumulation_steps\": {steps}").when("trains"),
            ),
            ("smaller-batch", option("\"eval_batch_size\": <half>").note("8 unless set", "默认 8").unless("trains")),
            ("smaller-eval-batch", option("\"eval_batch_size\": {tried}")),
            ("shorter-sequences", option("\"max_seq_length\": <fewer>").note("args of the model", "模型的 args")),
        ],
        // In force: mixed-precision, unless fp16 is False.
        lacks: &[
            "mixed-precision",
            "no-python-lists-in-dataset",
            "chunk-the-operation",
            "activation-offload",
            "smaller-images",
        ],
    },
    // PyKEEN. Seen in pykeen/pykeen, docs/source/tutorial/performance.rst at 0e722aa (sub-batches accumulate gradients,
    // slices score a part of the entities at a time, evaluation_fallback falls back to smaller batches, which change no
    // result) and src/pykeen/evaluation/evaluator.py (batch_size, slice_size). An evaluation scores every entity for
    // each triple of a batch: batch × entities × dimension.
    Tool {
        name: "PyKEEN",
        files: &["/pykeen/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-eval-batch", PYKEEN_EVALUATION),
            ("smaller-eval-batch", option("pipeline(..., evaluation_fallback=True)")),
            ("smaller-batch", PYKEEN_EVALUATION.unless("trains")),
            (
                "smaller-batch",
                option("pipeline(..., training_kwargs=dict(batch_size=..., sub_batch_size=<half>))")
                    .note("gradients are accumulated by itself", "梯度自动累积")
                    .when("trains"),
            ),
            ("less-at-once", PYKEEN_EVALUATION.unless("trains")),
            ("chunk-the-operation", PYKEEN_EVALUATION.unless("trains")),
            (
                "chunk-the-operation",
                option("pipeline(..., training_kwargs=dict(slice_size=1024))")
                    .note("of the LCWA loop", "LCWA 训练循环")
                    .when("trains"),
            ),
        ],
        lacks: &["fix-the-shape", "mixed-precision", "gradient-checkpointing", "activation-offload", "smaller-images"],
    },
    // PP-StructureV3 of PaddleOCR 3. Seen in PaddlePaddle/PaddleOCR, paddleocr/_pipelines/pp_structurev3.py at 0124289:
    // parts are models that a call switches on and off; their names choose lighter ones.
    Tool {
        name: "PP-StructureV3",
        files: &["/paddleocr/_pipelines/pp_structurev3.py", "/paddlex/inference/pipelines/layout_parsing/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", PP_STRUCTURE_PARTS),
            ("less-at-once", PP_STRUCTURE_SIDE),
            ("smaller-batch", PP_STRUCTURE_PARTS),
            ("smaller-batch", PP_STRUCTURE_SIDE),
            ("smaller-images", PP_STRUCTURE_SIDE),
            (
                "weight-quantisation",
                option("PPStructureV3(..., text_detection_model_name=\"PP-OCRv5_mobile_det\")").note(
                    "and text_recognition_model_name: lighter models",
                    "以及 text_recognition_model_name：更轻的模型",
                ),
            ),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "no-grad-in-eval", "gradient-checkpointing"],
    },
    // Unsloth's GRPO, which keeps vLLM in the trainer's process. Seen in unslothai/unsloth, unsloth/models/loader.py
    // at 0050c73 (FastLanguageModel.from_pretrained: gpu_memory_utilization 0.5, max_seq_length 2048, float8_kv_cache;
    // no count of devices for the engine), its issue 3302 (closed as fixed) and pull request 4411: with
    // UNSLOTH_VLLM_STANDBY=1 the engine sleeps in each step, and a run that was resumed woke it beside what it held.
    Tool {
        name: "Unsloth's GRPO",
        files: &["/unsloth_compiled_cache/unslothgrpotrainer.py"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "lower-engine-memory",
                option("FastLanguageModel.from_pretrained(..., gpu_memory_utilization=<smaller>)")
                    .note("0.5 unless set", "默认 0.5"),
            ),
            (
                "lower-engine-memory",
                option("pip install -U unsloth unsloth_zoo").note(
                    "where wake_up() fails behind a resume: UNSLOTH_VLLM_STANDBY=1",
                    "若恢复训练后 wake_up() 失败：UNSLOTH_VLLM_STANDBY=1",
                ),
            ),
            ("fewer-sequences", option("GRPOConfig(..., num_generations=<fewer>, max_completion_length=<fewer>)")),
            (
                "smaller-batch",
                option("GRPOConfig(..., num_generations=<fewer>, max_completion_length=<fewer>)")
                    .note("a batch holds whole groups of them", "每批包含完整的组"),
            ),
            ("max-model-len", option("FastLanguageModel.from_pretrained(..., max_seq_length=<fewer>)")),
            ("kv-cache-dtype", option("FastLanguageModel.from_pretrained(..., float8_kv_cache=True)")),
        ],
        lacks: &["more-devices", "fewer-cuda-graphs", "weight-offload", "raise-engine-memory"],
    },
    // DeepXDE, deepxde/model.py (predict(x, operator=None, callbacks=None) has no size of a batch), deepxde/data/pde.py
    // at 04ab06a (num_domain, num_boundary, num_test: train() and test() work on all points at once). A derivative is
    // computed in predict() too, which is no training. By its issue 230 pieces of X fit.
    Tool {
        name: "DeepXDE",
        files: &["/deepxde/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", DEEPXDE_PIECES),
            ("smaller-batch", DEEPXDE_POINTS),
            ("smaller-eval-batch", DEEPXDE_PIECES),
            ("less-at-once", DEEPXDE_PIECES),
            ("less-at-once", DEEPXDE_POINTS),
            ("chunk-the-operation", DEEPXDE_PIECES),
        ],
        lacks: &[
            "gradient-checkpointing",
            "mixed-precision",
            "gradient-accumulation",
            "no-grad-in-eval",
            "smaller-images",
        ],
    },
    // matterport's Mask R-CNN, mrcnn/config.py at 0038eff: attributes of a class of one's own that inherits Config
    // (IMAGES_PER_GPU 2, a GPU of 12 GB takes 2 of 1024 by 1024; IMAGE_MAX_DIM 1024; TRAIN_ROIS_PER_IMAGE 200 for each
    // picture). BATCH_SIZE is computed from IMAGES_PER_GPU and GPU_COUNT: to set it does nothing. It is made of Keras
    // layers of its own, without an option for 16 bit or checkpoints.
    Tool {
        name: "Mask R-CNN of matterport",
        files: &["/mrcnn/model.py"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("IMAGES_PER_GPU = 1").note(
                    "in the class of one's own Config; BATCH_SIZE follows",
                    "写在自己的 Config 类中；BATCH_SIZE 随之而定",
                ),
            ),
            (
                "smaller-batch",
                option("TRAIN_ROIS_PER_IMAGE = 100").note("200 unless set; in the same class", "默认 200；同一个类中"),
            ),
            (
                "smaller-images",
                option("IMAGE_MIN_DIM = 512; IMAGE_MAX_DIM = 512")
                    .note("multiples of 64; in the class of one's own Config", "64 的倍数；写在自己的 Config 类中"),
            ),
        ],
        lacks: &["gradient-checkpointing", "mixed-precision", "chunk-the-operation", "shorter-sequences"],
    },
    // segment-anything-fast at e6aadeb (2024-09), segment_anything_fast/automatic_mask_generator.py: all points are
    // decoded together while process_batch_size is None, whatever points_per_batch says; points_per_side 32,
    // crop_n_layers 0, output_mode binary_mask. Its models are bfloat16 by build_sam_fast.
    Tool {
        name: "segment-anything-fast",
        files: &["/segment_anything_fast/automatic_mask_generator.py"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("SamAutomaticMaskGenerator(..., process_batch_size=1)")
                    .note("then 8: None decodes all points at once", "再试 8：None 会一次解码全部点"),
            ),
            (
                "smaller-batch",
                option("SamAutomaticMaskGenerator(..., points_per_side=16)")
                    .note("32 unless set: a quarter of the points", "默认 32：点数减为四分之一"),
            ),
        ],
        lacks: &["mixed-precision"],
    },
    // ControlNet at ed85cd1 (2023-09), cldm/logger.py and cldm/cldm.py: ImageLogger draws from the batch of training
    // (log_images(batch, N=4)), in evaluation mode and without gradients, every batch_frequency batches.
    Tool {
        name: "ControlNet's ImageLogger",
        files: &["/cldm/logger.py"],
        scripts: &[],
        clue: None,
        rows: &[(
            "smaller-eval-batch",
            option("ImageLogger(batch_frequency=logger_freq, log_images_kwargs={\"N\": 1})")
                .note("4 unless set; or disabled=True", "默认 4；或 disabled=True"),
        )],
        lacks: &["no-grad-in-eval"],
    },
    // exllamav2 at b9c025b (0.2.7), exllamav2/cache.py: max_seq_len -1, which is the model's own; ExLlamaV2Cache_Q4,
    // _Q6 and _Q8 (only ExLlamaV2Cache_8bit at first). load_autosplit fills one GPU after another. No layer runs on
    // the CPU.
    Tool {
        name: "exllamav2",
        files: &["/exllamav2/model.py", "/exllamav2/cache.py"],
        scripts: &["Insufficient VRAM for model and cache"],
        clue: None,
        rows: &[
            (
                "max-model-len",
                option("ExLlamaV2Cache(model, max_seq_len=8192, lazy=True)")
                    .note("then 4096; the model's own length unless set", "再试 4096；默认为模型自身的长度"),
            ),
            (
                "kv-cache-dtype",
                option("ExLlamaV2Cache_Q4(model, max_seq_len=8192, lazy=True)")
                    .note("_Q6, _Q8; older: ExLlamaV2Cache_8bit", "另有 _Q6、_Q8；旧版为 ExLlamaV2Cache_8bit"),
            ),
            (
                "weight-quantisation",
                said(Target::Program, "an EXL2 model of fewer bits per weight", "每个权重位数更少的 EXL2 模型"),
            ),
        ],
        lacks: &["weight-offload", "lower-engine-memory", "raise-engine-memory", "mixed-precision"],
    },
    // optimum-nvidia at be6957d (2025-01), src/optimum/nvidia/export/config.py: ExportConfig.from_pretrained takes the
    // model's whole length for input and output, max_batch_size 1, max_num_tokens -1 (half of batch times input);
    // with_sharding(tp, pp).
    Tool {
        name: "optimum-nvidia",
        files: &["/optimum/nvidia/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("more-devices", option("export = export.with_sharding(tp=2)")),
            (
                "max-model-len",
                option("export.max_input_len = <fewer>; export.max_output_len = <fewer>")
                    .note("the model's whole length unless set", "默认为模型的全部长度"),
            ),
            (
                "fewer-sequences",
                option("export.max_num_tokens = <fewer>")
                    .note("max_batch_size is 1 unless set", "max_batch_size 默认 1"),
            ),
        ],
        lacks: &["lower-engine-memory", "raise-engine-memory"],
    },
    // NeMo's recognition of speech, called from Python: change_attention_model("rel_pos_local_attn", [128, 128]) and
    // change_subsampling_conv_chunking_factor(1) stand in NeMo's page on long recordings and in a model card of
    // Parakeet; transcribe(batch_size=4). Behind its own scripts, which stand in the table of trainers.
    Tool {
        name: "NeMo's ASR models",
        files: &["/nemo/collections/asr/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "shorter-sequences",
                option("model.change_attention_model(\"rel_pos_local_attn\", [128, 128])")
                    .note("or pieces of 30 seconds", "或切成 30 秒的片段")
                    .unless("trains"),
            ),
            (
                "less-at-once",
                option("model.change_attention_model(\"rel_pos_local_attn\", [128, 128])")
                    .note("or pieces of 30 seconds", "或切成 30 秒的片段")
                    .unless("trains"),
            ),
            (
                "chunk-the-operation",
                option("model.change_subsampling_conv_chunking_factor(1)")
                    .note("Fast Conformer", "Fast Conformer")
                    .unless("trains"),
            ),
            (
                "smaller-batch",
                option("model.transcribe(..., batch_size=1)").note("4 unless set", "默认 4").unless("trains"),
            ),
        ],
        lacks: &["smaller-images"],
    },
    // DeePMD-kit at bc902da (2026-08): doc/freeze/compress.md (up to 20 times less memory, not every descriptor),
    // doc/env.md (DP_INFER_BATCH_SIZE counts frames times atoms; it tries as much as fits on a GPU),
    // doc/train/training-advanced.md (batch_size "auto:N": frames times atoms reach N). Under LAMMPS no frame is shown.
    Tool {
        name: "DeePMD-kit",
        files: &["/deepmd/"],
        scripts: &["dp"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("\"batch_size\": 1")
                    .note(
                        "training_data in input.json; \"auto:32\" by atoms",
                        "input.json 的 training_data；按原子数为 \"auto:32\"",
                    )
                    .when("trains"),
            ),
            (
                "smaller-batch",
                line(Target::Shell, "export DP_INFER_BATCH_SIZE=1024")
                    .note("frames times atoms", "帧数 × 原子数")
                    .unless("trains"),
            ),
            (
                "less-at-once",
                option("dp compress -i graph.pb -o graph-compress.pb").note(
                    "se_e2_a and most others; the model of the run",
                    "se_e2_a 等多数描述符；运行时改用压缩后的模型",
                ),
            ),
        ],
        lacks: &["gradient-checkpointing", "mixed-precision", "chunk-the-operation", "smaller-images"],
    },
    // anndata's reader of h5ad: backed="r" leaves X in the file (anndata issue 1042 was solved so); a dense X in
    // float32 is rows × columns × 4 bytes.
    Tool {
        name: "anndata",
        files: &["/anndata/_io/h5ad.py"],
        scripts: &[],
        clue: None,
        rows: &[(
            "read-less-at-once",
            option("sc.read_h5ad(\"<input>.h5ad\", backed=\"r\")").note(
                "X stays in the file; then adata[rows].to_memory()",
                "X 留在文件中；再用 adata[rows].to_memory()",
            ),
        )],
        lacks: &[],
    },
    // SuPy at d505c45 (2022-01), src/supy/_run.py: run_supy(chunk_day=3660) cuts a run into pieces of so many days;
    // UMEP's plugin, which calls it from a window, stands in the table of applications.
    Tool {
        name: "SuPy",
        files: &["/supy/_run.py"],
        scripts: &[],
        clue: None,
        rows: &[(
            "read-less-at-once",
            option("run_supy(df_forcing, df_state_init, chunk_day=366)")
                .note("3660 unless set; or a shorter period", "默认 3660；或缩短时段"),
        )],
        lacks: &[],
    },
    // CatBoost: border_count and max_bin are one parameter, of which both may not be given (its parameters' page: names
    // of one parameter together raise an error); grow_policy SymmetricTree unless set, max_leaves of Lossguide 31 and
    // not beyond 64 (release notes of 0.14). gpu_ram_part 0.95 of the free memory.
    Tool {
        name: "CatBoost",
        files: &["/catboost/core.py"],
        scripts: &["catboost"],
        clue: None,
        rows: &[
            (
                "quantised-features",
                option("border_count=32, max_ctr_complexity=1")
                    .note("max_bin is the same parameter: give one of them", "max_bin 是同一参数：只给其中一个"),
            ),
            (
                "quantised-features",
                option("grow_policy=\"SymmetricTree\"").note(
                    "the default; Lossguide and Depthwise with many leaves take more",
                    "默认值；叶子很多的 Lossguide、Depthwise 占用更多",
                ),
            ),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing"],
    },
    // ComfyUI, behind what its nodes call: its lines stand with each change, and what remains are lines of code that
    // nobody in its window writes.
    Tool {
        name: "ComfyUI",
        files: &["/comfyui/"],
        scripts: &[],
        clue: None,
        rows: &[],
        lacks: &["fix-the-shape", "chunk-the-operation", "activation-offload", "detach-logged-tensors"],
    },
];
