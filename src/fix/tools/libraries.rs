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

/// What a pool takes for itself has no size of the program's.
const NOT_OF_A_POOL: &[&str] =
    &["less-at-once", "smaller-batch", "smaller-images", "mixed-precision", "chunk-the-operation"];

const PADDLE_CHUNK: Line = line(Target::Shell, "export FLAGS_fraction_of_gpu_memory_to_use=0.5").note(
    "0.92 unless set: the size of each piece that its pool asks for; then a smaller batch",
    "默认 0.92：其内存池每次申请的块大小；再减小批",
);

const THEANO_CNMEM: Line = line(Target::Shell, "THEANO_FLAGS=...,lib.cnmem=0.8 <your command>").note(
    "1 asks for the whole card, 0 for no pool; [lib] cnmem in ~/.theanorc",
    "1 会申请整张卡，0 不用内存池；或 ~/.theanorc 的 [lib] cnmem",
);

const JULIA_RECLAIM: Line = option("GC.gc(true); CUDA.reclaim()").note(
    "and x = nothing for arrays that are done; then a newer CUDA.jl",
    "不再用的数组设 x = nothing；再升级 CUDA.jl",
);

const KNET_FREE: Line = option("x = nothing; GC.gc(); Knet.gc()").note(
    "each array that is done, ans at the prompt too; or a smaller minibatch",
    "不再用的数组，提示符下的 ans 也算；或减小 minibatch",
);

const LANGSAM_MODEL: Line = option("LangSAM(sam_type=\"sam2.1_hiera_tiny\")").note(
    "before SAM 2: vit_b; one smaller picture in each predict()",
    "SAM 2 之前用 vit_b；每次 predict() 一张较小的图片",
);

const THEANO_SOFTMAX: Line = said(
    Target::Program,
    "a smaller batch or vocabulary: the array has a column for each word; floatX=float32 in THEANO_FLAGS halves it",
    "更小的批或词表：数组每个词一列；在 THEANO_FLAGS 中设 floatX=float32 可减半",
);

const THEANO_PREALLOCATE: Line = line(Target::Shell, "THEANO_FLAGS=...,gpuarray.preallocate=0.8 <your command>").note(
    "1 leaves cuDNN nothing; or [gpuarray] preallocate in ~/.theanorc; lib.cnmem of the older back end",
    "1 不给 cuDNN 留显存；或 ~/.theanorc 的 [gpuarray] preallocate；旧后端为 lib.cnmem",
);

const ABTEM_PARTITIONS: Line = option("SMatrix(..., num_partitions=<number>)")
    .note("or a larger interpolation, fewer gpts", "或更大的 interpolation、更少的 gpts");

const PYCARET_COLLINEARITY: Line = option("setup(..., remove_perfect_collinearity=False)")
    .note("it makes a matrix of columns × columns; then fewer columns", "该步骤会建立 列数 × 列数 的矩阵；再减少列");

const NVDIFFRAST_LESS: Line = said(
    Target::Program,
    "fewer triangles, poses or pixels in each dr.rasterize(); FoundationPose: the reader's shorter_side=400 in \
     run_demo.py, and mesh and depth in metres",
    "每次 dr.rasterize() 用更少的三角形、位姿或像素；FoundationPose：run_demo.py 中 reader 的 shorter_side=400，\
     并核对网格与深度的单位为米",
);

const XGBOOST_PREDICTION: Line = option("bst.set_param({\"predictor\": \"cpu_predictor\"})").note(
    "before predict(), or among the parameters; or a part of the rows at a time; since 2.0 {\"device\": \"cpu\"}",
    "在 predict() 之前，或写入训练参数；或每次预测一部分行；2.0 起为 {\"device\": \"cpu\"}",
);

const RAPIDOCR_SIDE: Line = option("RapidOCR(params={\"Global.max_side_len\": 1280})")
    .note("2000 unless set: the longer side that is detected in", "默认 2000：检测时图片的长边");

const MXNET_WORKERS: Line = option("DataLoader(..., num_workers=1)").note(
    "then 0; or thread_pool=True: threads, without shared memory",
    "再试 0；或 thread_pool=True：改用线程，不占共享内存",
);

const DOC2VEC_TAGS: Line = option("TaggedDocument(words, [str(tag)])").note(
    "an int counts as an index: rows are made up to the largest; then min_count=<more>",
    "整数标签被当作下标：会为直到最大值的每个数建一行；再设 min_count=<more>",
);

const WORD2VEC_WORDS: Line = option("Word2Vec(..., min_count=<more>, size=<fewer>)").note(
    "words × size × 4 bytes, twice or more (vector_size since 4.0); while they are counted max_vocab_size=10000000",
    "词数 × size × 4 字节，至少两份（4.0 起为 vector_size）；统计词表时用 max_vocab_size=10000000",
);

pub(super) const TOOLS: &[Tool] = &[
    // gensim's documents. Seen in piskvorky/gensim, its issues 2571 and 1057 (a maintainer: plain ints should start
    // from 0 without gaps, being indexes of an array). Its files stand in front of those of the words, which it builds
    // upon.
    Tool {
        name: "gensim's Doc2Vec",
        files: &["/gensim/models/doc2vec.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("raise-host-limit", DOC2VEC_TAGS),
            ("raise-host-limit", WORD2VEC_WORDS),
            ("read-less-at-once", DOC2VEC_TAGS),
        ],
        lacks: &["mixed-precision", "smaller-images", "gradient-checkpointing"],
    },
    // gensim's words: two arrays or three of words × size numbers in float32, made when the vocabulary is known. Its
    // own words on max_vocab_size: 10 million word types need about 1 GB of RAM while they are counted.
    Tool {
        name: "gensim's Word2Vec",
        files: &["/gensim/models/word2vec.py"],
        scripts: &[],
        clue: None,
        rows: &[("raise-host-limit", WORD2VEC_WORDS), ("read-less-at-once", WORD2VEC_WORDS)],
        lacks: &["mixed-precision", "smaller-images", "gradient-checkpointing"],
    },
    // nvdiffrast's rasteriser, whose buffer is cudaMalloc's own, not PyTorch's. Seen in copies of NVlabs/nvdiffrast,
    // common/cudaraster/impl/Buffer.cpp (NVDR_CHECK_CUDA_ERROR(cudaMalloc(&m_gpuPtr, bytes))). NVlabs/FoundationPose's
    // issues 34, 43 and 249: it fails where units do not fit, or the picture is large. It computes in float32.
    Tool {
        name: "nvdiffrast's rasteriser",
        files: &[],
        scripts: &["Cuda error: 2[cudaMalloc(&m_gpuPtr, bytes)"],
        clue: None,
        rows: &[
            ("less-at-once", NVDIFFRAST_LESS),
            ("smaller-batch", NVDIFFRAST_LESS),
            ("smaller-images", NVDIFFRAST_LESS),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "no-grad-in-eval"],
    },
    // XGBoost's prediction on a GPU, by the path in its message. Seen in dmlc/xgboost: issue 3756 (cpu_predictor was
    // the cure), 9129 (predictor is gone since 2.0, where the device decides). A copy of all rows lies on the GPU.
    Tool {
        name: "XGBoost's GPU predictor",
        files: &[],
        scripts: &["/src/predictor/../common/device_helpers.cuh", "/src/predictor/gpu_predictor.cu"],
        clue: None,
        rows: &[
            ("less-at-once", XGBOOST_PREDICTION),
            ("smaller-batch", XGBOOST_PREDICTION),
            ("other-libraries", XGBOOST_PREDICTION),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "gradient-checkpointing"],
    },
    // RapidOCR since 2.0. Seen in RapidAI/RapidOCR, python/rapidocr/config.yaml at 0190646 (Global.max_side_len 2000;
    // cuda_ep_cfg: cudnn_conv_algo_search EXHAUSTIVE, arena_extend_strategy kNextPowerOfTwo) and ch_ppocr_det/main.py
    // at 0758677: Det.limit_side_len only enlarges, and with limit_type max the side is one of three of its own.
    Tool {
        name: "RapidOCR",
        files: &["/rapidocr/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", RAPIDOCR_SIDE),
            ("smaller-batch", RAPIDOCR_SIDE),
            ("smaller-images", RAPIDOCR_SIDE),
            ("fix-the-shape", RAPIDOCR_SIDE),
            (
                "cudnn-workspace",
                option("\"EngineConfig.onnxruntime.cuda_ep_cfg.cudnn_conv_algo_search\": \"HEURISTIC\"")
                    .note("params of RapidOCR(); EXHAUSTIVE unless set", "RapidOCR() 的 params；默认 EXHAUSTIVE"),
            ),
            (
                "arena-growth",
                option("\"EngineConfig.onnxruntime.cuda_ep_cfg.arena_extend_strategy\": \"kSameAsRequested\"").note(
                    "params of RapidOCR(); and cudnn_conv_algo_search \"HEURISTIC\" beside it",
                    "RapidOCR() 的 params；并设同级的 cudnn_conv_algo_search 为 \"HEURISTIC\"",
                ),
            ),
        ],
        lacks: &["gradient-checkpointing", "no-grad-in-eval", "chunk-the-operation", "mixed-precision"],
    },
    // MXNet's loader: what its workers make is sent in shared memory. Seen in copies of apache/mxnet, python/mxnet/
    // gluon/data/dataloader.py (num_workers, thread_pool False: threads use no shared memory).
    Tool {
        name: "MXNet's DataLoader",
        files: &["/mxnet/gluon/data/dataloader.py"],
        scripts: &[],
        clue: None,
        rows: &[("fewer-workers", MXNET_WORKERS), ("fewer-at-once", MXNET_WORKERS)],
        lacks: &[],
    },
    // PaddlePaddle's pool up to 1.4: where what it has does not suffice, another piece of the size that a share of the
    // whole card makes is asked for. Seen in PaddlePaddle/Paddle, paddle/fluid/platform/gpu_info.cc (GpuMaxChunkSize,
    // the words of its check; 0.92 of 95 % of the card), its issues 8992 (of which the request is no size of the
    // program's), 15426 and 15458 (a smaller share, or a smaller batch).
    Tool {
        name: "PaddlePaddle's pool of 2018",
        files: &[],
        scripts: &[
            "enforce allocating <= available failed",
            "enforce allocating < available failed",
            "Expected allocating <= available, but received allocating:",
        ],
        clue: None,
        rows: &[
            ("preallocation-fraction", PADDLE_CHUNK),
            ("fix-the-shape", PADDLE_CHUNK),
            ("smaller-pool", PADDLE_CHUNK),
        ],
        lacks: &["chunk-the-operation"],
    },
    // Theano's pool, made when it is imported. Its page on the configuration, 0.9: lib.cnmem is a share of the GPU's
    // memory up to 1, above it megabytes, and 0 turns it off; of two values in THEANO_FLAGS the one to the right
    // counts. The words are those of theano/sandbox/cuda/cuda_ndarray.cu.
    Tool {
        name: "Theano's CNMeM",
        files: &[],
        scripts: &["initCnmem: cnmemInit call failed!"],
        clue: None,
        rows: &[("preallocation-fraction", THEANO_CNMEM), ("smaller-pool", THEANO_CNMEM)],
        lacks: NOT_OF_A_POOL,
    },
    // Theano's pool on libgpuarray. Seen in Theano/Theano: issue 4993 (preallocate = 1: these words; 0.8 runs; it is
    // capped at 95 %), 4411 (the same of CNMeM at 95 %), pull request 3792. TensorFlow's words have another case.
    Tool {
        name: "Theano's libgpuarray",
        files: &[],
        scripts: &["could not create cuDNN handle"],
        clue: None,
        rows: &[("preallocation-fraction", THEANO_PREALLOCATE), ("smaller-pool", THEANO_PREALLOCATE)],
        lacks: NOT_OF_A_POOL,
    },
    // CUDA.jl where its error's own text asks for the memory's state and fails in turn, again and again, by the frame
    // that is repeated. CUDA.reclaim() stands in its page on memory.
    Tool {
        name: "CUDA.jl's error",
        files: &[],
        scripts: &["CUDA.OutOfGPUMemoryError(sz::Int64)"],
        clue: None,
        rows: &[("less-at-once", JULIA_RECLAIM), ("return-pooled-memory", JULIA_RECLAIM)],
        lacks: &["mixed-precision", "chunk-the-operation"],
    },
    // Knet. Seen in denizyuret/Knet.jl, src/kptr.jl: it calls Knet.gc() by itself before these words, which frees no
    // array that something still names.
    Tool {
        name: "Knet",
        files: &[],
        scripts: &["ERROR: Out of gpu memory"],
        clue: None,
        rows: &[("less-at-once", KNET_FREE), ("smaller-batch", KNET_FREE), ("gc-collect", KNET_FREE)],
        lacks: &["mixed-precision", "chunk-the-operation"],
    },
    // llama-cpp-python by the folder that its wheels were built in, which stands in messages of the ggml within. Seen
    // in abetlen/llama-cpp-python, llama_cpp/llama.py: arguments of Llama. The windows around it stand in the table of
    // applications; the wheels of this name are text-generation-webui's as well.
    Tool {
        name: "llama-cpp-python's wheels",
        files: &[],
        scripts: &["/llama-cpp-python"],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("Llama(..., n_gpu_layers=<fewer layers>)").note(
                    "text-generation-webui: n-gpu-layers in the Model tab",
                    "text-generation-webui：Model 页的 n-gpu-layers",
                ),
            ),
            (
                "max-model-len",
                option("Llama(..., n_ctx=<half>)")
                    .note("text-generation-webui: n_ctx in the Model tab", "text-generation-webui：Model 页的 n_ctx"),
            ),
            ("more-devices", option("Llama(..., tensor_split=[0.5, 0.5])")),
            (
                "weight-quantisation",
                option("Llama(model_path=\"<file of fewer bits>\")").note("such as Q4_K_M", "例如 Q4_K_M"),
            ),
            ("fewer-sequences", option("Llama(..., n_batch=256)").note("512 unless set", "默认 512")),
            (
                "kv-cache-dtype",
                option("Llama(..., flash_attn=True, type_k=8, type_v=8)")
                    .note("releases since 2024-05", "2024-05 起的版本"),
            ),
        ],
        lacks: &["lower-engine-memory", "raise-engine-memory", "mixed-precision"],
    },
    // KerasHub, KerasNLP before. Seen in keras-team/keras-hub, keras_hub/src/models/gemma/gemma_backbone.py
    // (get_layout_map and the example of its pull request 1923) and its model cards (from_preset(dtype="bfloat16")).
    // keras.distribution has JAX below it. What from_preset() asks for are weights.
    Tool {
        name: "KerasHub",
        files: &["/keras_hub/", "/keras_nlp/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "mixed-precision",
                option("from_preset(..., dtype=\"bfloat16\")").note("or a smaller preset", "或更小的 preset"),
            ),
            (
                "more-devices",
                option("with keras.distribution.ModelParallel(layout_map=m, batch_dim_name=\"batch\").scope(): ...")
                    .note(
                        "from_preset() within; m = GemmaBackbone.get_layout_map(mesh); JAX",
                        "在其中调用 from_preset()；m = GemmaBackbone.get_layout_map(mesh)；用于 JAX",
                    ),
            ),
        ],
        lacks: &["chunk-the-operation"],
    },
    // lang-sam. Seen in luca-medeiros/lang-segment-anything, lang_sam/lang_sam.py (sam_type; vit_h unless set at first)
    // and lang_sam/models/sam.py at 04eaddf (sam2.1_hiera_tiny, _small, _base_plus, _large).
    Tool {
        name: "lang-sam",
        files: &["/lang_sam/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", LANGSAM_MODEL),
            ("less-at-once", LANGSAM_MODEL),
            ("weight-quantisation", LANGSAM_MODEL),
        ],
        lacks: &["gradient-checkpointing", "shorter-sequences"],
    },
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
    // PyCaret up to 2. Seen in pycaret/pycaret, preprocess.py (the step behind remove_perfect_collinearity takes
    // np.corrcoef of all columns) and setup()'s parameter, which is True unless set in 2.2 and later.
    Tool {
        name: "PyCaret",
        files: &["/pycaret/"],
        scripts: &[],
        clue: None,
        rows: &[("read-less-at-once", PYCARET_COLLINEARITY), ("fix-the-shape", PYCARET_COLLINEARITY)],
        lacks: &["chunk-the-operation"],
    },
    // abTEM before 1.0. Seen in abTEM/abTEM, waves.py of SMatrix (num_partitions, which builds a part of the waves;
    // device, storage, interpolation; scan(max_batch_probes, max_batch_expansion)) and its issues 63 (runs on the CPU,
    // not on the GPU) and 72.
    Tool {
        name: "abTEM",
        files: &["/abtem/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", ABTEM_PARTITIONS),
            ("smaller-batch", ABTEM_PARTITIONS),
            (
                "smaller-batch",
                option("scan(..., max_batch_probes=<fewer>, max_batch_expansion=<fewer>)")
                    .note("of SMatrix; 1.0: max_batch", "SMatrix 的方法；1.0 为 max_batch"),
            ),
            ("other-device", option("SMatrix(..., device=\"cpu\")").note("slower", "更慢")),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "weight-quantisation", "activation-offload"],
    },
    // Netty's own count of direct memory. Seen in netty/netty, PlatformDependent.java: io.netty.maxDirectMemory is read
    // by SystemPropertyUtil.getLong(), for which 16G is no number and the default holds; below 0, and unless set, it is
    // the JVM's own limit, and at 0 Netty counts nothing.
    Tool {
        name: "Netty",
        files: &[],
        scripts: &["io.netty.util.internal.OutOfDirectMemoryError: failed to allocate"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("-Dio.netty.maxDirectMemory=<bytes>")
                    .note("a plain number: 16G is not read", "须为纯数字：16G 不被识别"),
            ),
            (
                "raise-runtime-limit",
                option("-XX:MaxDirectMemorySize=<more>").note(
                    "where that is not given; each pool keeps what it has: then look for a leak",
                    "未设前者时用它；缓冲池会保留已占用的内存：再查泄漏",
                ),
            ),
        ],
        lacks: &[],
    },
    // text-generation-inference in its container. Seen in huggingface/text-generation-inference, router and launcher of
    // 1.x: max_input_length (1024) must be below max_total_tokens (2048) and not above max_batch_prefill_tokens (4096).
    // Its issues start it by docker run --gpus, before which CUDA_VISIBLE_DEVICES does nothing.
    Tool {
        name: "text-generation-inference",
        files: &["/text_generation_server/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "fewer-sequences",
                option("--max-batch-prefill-tokens {prefill}").note(
                    "not below --max-input-length (since 2.1 --max-input-tokens), itself below --max-total-tokens",
                    "不得低于 --max-input-length（2.1 起为 --max-input-tokens），后者须低于 --max-total-tokens",
                ),
            ),
            (
                "other-device",
                line(Target::Shell, "docker run --gpus '\"device=<index>\"' ...").note(
                    "outside of a container CUDA_VISIBLE_DEVICES=<index> text-generation-launcher ...",
                    "不在容器中时：CUDA_VISIBLE_DEVICES=<index> text-generation-launcher ...",
                ),
            ),
        ],
        lacks: &[],
    },
    // llama.cpp's programs where -hf fetches the model: what lies beside it in the repository, a projector of pictures
    // and sound, is loaded too. Seen in ggml-org/llama.cpp, common/arg.cpp (-hf <user>/<model>[:quant], --no-mmproj).
    Tool {
        name: "llama.cpp's -hf",
        files: &[],
        scripts: &["-hf", "--hf-repo"],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("-ngl {layers}").note("for MoE models rather --n-cpu-moe N", "MoE 模型宜用 --n-cpu-moe N"),
            ),
            ("weight-offload", option("-ngl <fewer layers>").unless("fitting")),
            (
                "weight-offload",
                said(
                    Target::Program,
                    "a smaller context: -c <fewer>; the weights for text alone: --no-mmproj",
                    "更短的上下文：-c <fewer>；只加载文本部分的权重：--no-mmproj",
                ),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "a file of fewer bits behind the colon of -hf, such as Q3_K_M, where the repository has it",
                    "-hf 冒号后改为更低位宽的文件，如 Q3_K_M（若仓库中有）",
                ),
            ),
        ],
        lacks: &[],
    },
    // What torch.utils.cpp_extension compiles: it starts ninja itself, with MAX_JOBS jobs where that is set (its
    // documentation), told by sources of packages that are compiled when they are first used.
    Tool {
        name: "PyTorch's extensions",
        files: &["/nvdiffrast/common/", "/torch_extensions/"],
        scripts: &[],
        clue: None,
        rows: &[(
            "fewer-at-once",
            line(Target::Shell, "MAX_JOBS=2 <your command>")
                .note("PyTorch starts ninja by itself", "ninja 由 PyTorch 自行启动"),
        )],
        lacks: &[],
    },
    // CatBoost: border_count and max_bin are one parameter, of which both may not be given (its parameters' page: names
    // of one parameter together raise an error); grow_policy SymmetricTree unless set, max_leaves of Lossguide 31 and
    // not beyond 64 (release notes of 0.14). gpu_ram_part 0.95 of the free memory. Leaves double with each level of
    // depth, 6 unless set; combinations of categories (max_ctr_complexity) are made where cat_features are given alone.
    Tool {
        name: "CatBoost",
        files: &["/catboost/core.py"],
        scripts: &["catboost"],
        clue: None,
        rows: &[
            (
                "quantised-features",
                option("depth=6, border_count=32").note(
                    "lower than now; max_bin is border_count; with cat_features max_ctr_complexity=1",
                    "须低于现值；max_bin 与 border_count 是同一参数；有 cat_features 时 max_ctr_complexity=1",
                ),
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
    // nobody in its window writes. Seen in its nodes.py (VAEDecodeTiled: tile_size 512, from 64; temporal_size 64) and
    // comfy/cli_args.py (--cpu-vae).
    Tool {
        name: "ComfyUI",
        files: &["/comfyui/"],
        scripts: &[],
        clue: None,
        rows: &[(
            "vae-tiling",
            said(
                Target::ComfyUi,
                "the node VAE Decode (Tiled); where it is that one that fails, a smaller tile_size in it (of a video \
                 temporal_size too), then --cpu-vae",
                "节点 VAE Decode (Tiled)；若失败的就是它，减小其 tile_size（视频还有 temporal_size），再用 --cpu-vae",
            )
            .when("core-node"),
        )],
        lacks: &["fix-the-shape", "chunk-the-operation", "activation-offload", "detach-logged-tensors"],
    },
    // Ultralytics' package since 8.0. Seen in ultralytics/ultralytics, ultralytics/cfg/default.yaml: amp, True, is of
    // training alone; half, False, of val, predict and export. Lines for the rest stand with each change.
    Tool {
        name: "Ultralytics",
        files: &["/ultralytics/"],
        scripts: &[],
        clue: None,
        rows: &[(
            "mixed-precision",
            option("half=True").note(
                "of predict and val; training is in 16 bit unless amp=False is set",
                "predict 与 val 的参数；训练默认为 16 位，除非设了 amp=False",
            ),
        )],
        lacks: &[],
    },
];
