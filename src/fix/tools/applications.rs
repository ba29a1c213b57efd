//! What people run and never write: applications, commands, windows and servers of models.

use super::{Tool, WITHOUT_BATCHES, option};
use crate::domain::Target;
use crate::fix::knob::{Line, line, said};
use crate::incident::context::Clue;

const CODEFORMER_TILES: Line =
    option("--bg_tile 200").note("400 unless set; and no --face_upsample", "默认 400；并去掉 --face_upsample");

const NCNN_TILES: Line =
    option("-t 100").note("then -t 32: tiles of a picture; and no -x", "再试 -t 32：分块；并去掉 -x");
const NCNN_THREADS: Line = option("-j 1:1:1").note("one picture on the GPU at a time", "GPU 上一次一张图片");

const MEGA_NERF_RAYS: Line = option("--ray_chunk_size 12000 --dist_chunk_size 4000000")
    .note("49152 and 67108864 unless set", "默认 49152 与 67108864");

const SHORTER_REQUESTS: Line =
    said(Target::Program, "fewer or shorter texts in one request", "每个请求中更少或更短的文本");

const COGVIDEO_OFFLOAD: Line =
    option("pipe.enable_sequential_cpu_offload(); pipe.vae.enable_slicing(); pipe.vae.enable_tiling()").note(
        "in cli_demo.py of CogVideo, in place of pipe.to(device)",
        "写在 CogVideo 的 cli_demo.py 中，代替 pipe.to(device)",
    );

const COGVIDEO_FRAMES: Line = said(
    Target::Program,
    "fewer frames or a smaller picture: --num_frames, --width and --height where cli_demo.py has them",
    "更少的帧或更小的画面：cli_demo.py 的 --num_frames、--width、--height（若该版本有）",
);

const COMPREFACE_WORKERS: Line =
    option("uwsgi_processes=1").note("in .env; 2 unless set: a model in each", "写在 .env；默认 2：每个进程一份模型");

const MLX_CONTEXT: Line =
    option("--context-length <fewer>").note("of mlx-openai-server launch", "mlx-openai-server launch 的选项");

const VAPOR_REFINEMENT: Line = said(
    Target::Program,
    "a lower Refinement under Fidelity in the renderer's Variables tab, or a smaller region",
    "在渲染器 Variables 页的 Fidelity 中降低 Refinement，或选更小的区域",
);

const WHISPER_XXL_FILES: Line = said(
    Target::Program,
    "one recording in each run, cut into shorter files; or without --ff_vocal_extract and pyannote's --vad_method",
    "每次只处理一段录音，并切成较短的文件；或去掉 --ff_vocal_extract，不用 pyannote 的 --vad_method",
);

const CELLBENDER_POSTERIOR: Line = option("--posterior-batch-size <smaller>")
    .note("128 unless set in 0.3; releases of 2020 have none", "0.3 中默认 128；2020 年的版本没有该选项");

const CELLBENDER_DROPLETS: Line = option("--total-droplets-included <fewer>").note(
    "and --projected-ambient-count-threshold 1: fewer genes",
    "并加 --projected-ambient-count-threshold 1：更少的基因",
);

const TURBODIFFUSION_SIZE: Line = said(
    Target::Program,
    "TurboDiffusionI2VSampler: resolution 480, num_frames 49 (8n + 1)",
    "TurboDiffusionI2VSampler：resolution 480、num_frames 49（8n + 1）",
);

const NAPARI_LABELS: Line = said(
    Target::Program,
    "a newer napari, or a scale of the layers nearer to 1; or viewer.add_labels() with zeros of the image's own shape",
    "升级 napari，或让图层的 scale 接近 1；或用 viewer.add_labels() 传入与图像同形状的零数组",
);

const IMMICH_CLIP: Line = said(
    Target::Program,
    "a smaller CLIP model (ViT-B-32__openai is the default) in the settings for machine learning",
    "在机器学习设置中选更小的 CLIP 模型（默认 ViT-B-32__openai）",
);

const ALPHAFOLD_SEQUENCE: Line = said(
    Target::Program,
    "a shorter sequence, or its domains in runs of their own",
    "更短的序列，或把各结构域分开预测",
);

const INVOKEAI_MODELS: Line =
    option("--max_loaded_models 1").note("in invokeai.init; 2 unless set", "写入 invokeai.init；默认 2");

const VFI_FRAMES: Line = said(
    Target::Program,
    "clear_cache_after_n_frames 1 in the node, or fewer frames at once; and a newer release of it",
    "在该节点中设 clear_cache_after_n_frames 为 1，或一次更少的帧；并升级该扩展",
);

const WHISPER_ASR_MODEL: Line = option("ASR_MODEL=small").note(
    "environment of the container; then ASR_ENGINE=faster_whisper ASR_QUANTIZATION=int8",
    "容器的环境变量；再试 ASR_ENGINE=faster_whisper ASR_QUANTIZATION=int8",
);

const ROSETTAFOLD_DOMAIN: Line = said(
    Target::Program,
    "a domain of the chain: its columns of the .a3m, searched for templates anew",
    "只预测链的一个结构域：取 .a3m 中相应的列，并重新搜索模板",
);

const ROSETTAFOLD_WITHOUT_REFINEMENT: Line = said(
    Target::Program,
    "run_pyrosetta_ver.sh in place of run_e2e_ver.sh, whose refinement takes the whole chain at once",
    "用 run_pyrosetta_ver.sh 代替 run_e2e_ver.sh：后者的精修一次处理整条链",
);

const JUKEBOX_MODEL: Line = option("jukebox/sample.py --model=1b_lyrics ...")
    .note("3.8 GB of weights; 5b_lyrics has 11.5 GB", "权重 3.8 GB；5b_lyrics 为 11.5 GB");

const JUKEBOX_SAMPLES: Line = option("--n_samples=<fewer>")
    .note("and a lower max_batch_size in sample.py", "并在 sample.py 中减小 max_batch_size");

const SO_VITS_CLIP: Line =
    option("--clip 30").note("seconds at once; since 19 March 2023", "每次处理的秒数；2023-03-19 起");

const CRYOSPARC_BOX: Line = said(
    Target::Program,
    "a smaller Refinement box size in the job, or particles that were Fourier-cropped to a smaller box",
    "在任务中减小 Refinement box size，或使用经 Fourier crop 缩小的颗粒",
);

const SUBGEN_AT_ONCE: Line = option("CONCURRENT_TRANSCRIPTIONS=1").note(
    "environment of the service, 2 unless set; then WHISPER_MODEL=small, COMPUTE_TYPE=int8",
    "服务的环境变量，默认 2；再试 WHISPER_MODEL=small、COMPUTE_TYPE=int8",
);

const SUBGEN_MODEL: Line = option("WHISPER_MODEL=small")
    .note("environment of the service; then COMPUTE_TYPE=int8", "服务的环境变量；再试 COMPUTE_TYPE=int8");

const LOCALAI_ONE_MODEL: Line = option("LOCALAI_SINGLE_ACTIVE_BACKEND=true").note(
    "unloads the model before; newer: LOCALAI_MAX_ACTIVE_BACKENDS=1",
    "加载前先卸载上一个模型；新版为 LOCALAI_MAX_ACTIVE_BACKENDS=1",
);

const INSTANT_NGP_PICTURES: Line = said(
    Target::Program,
    "fewer or smaller pictures: each takes width × height × 8 bytes of the GPU",
    "更少或更小的图片：每张占用 宽 × 高 × 8 字节显存",
);

const RELION_RANKS: Line = said(
    Target::Program,
    "fewer MPI ranks on each GPU: -np of mpirun no more than GPUs + 1; then --pad 1 (Skip padding? Yes in the window), \
     --maxsig 2000",
    "减少每块 GPU 上的 MPI 进程：mpirun 的 -np 不超过 GPU 数 + 1；再用 --pad 1（窗口中 Skip padding? 选 Yes）、\
     --maxsig 2000",
);

const RELION_PADDING: Line = option("--pad 1").note(
    "2 unless set, eight times as much: Skip padding? Yes in the window; then --maxsig 2000",
    "默认 2，占用约八倍：窗口中 Skip padding? 选 Yes；再试 --maxsig 2000",
);

const RELION_SIGNIFICANT: Line = option("--maxsig 2000").note(
    "then 500: poses and shifts kept of each particle; --free_gpu_memory <MB>",
    "再试 500：每个粒子保留的取向与平移数；并可加 --free_gpu_memory <MB>",
);

const ALPHAFOLD_UNIFIED: Line =
    line(Target::Shell, "export TF_FORCE_UNIFIED_MEMORY=1 XLA_PYTHON_CLIENT_MEM_FRACTION=4.0")
        .note("spills into host memory; run_docker.py sets it by itself", "溢出到主机内存；run_docker.py 已自动设置");

const MLC_SHARE: Line = option("mlc_llm serve ... --overrides \"gpu_memory_utilization={tried}\"")
    .note("other overrides behind a ;", "其他 overrides 用 ; 连接");

const MLC_CHUNK: Line = option("mlc_llm serve ... --overrides \"prefill_chunk_size=<fewer>\"")
    .note("other overrides behind a ;", "其他 overrides 用 ; 连接");

const ODM_ORTHOPHOTO: Line = said(
    Target::Program,
    "a coarser orthophoto: --orthophoto-resolution <more> in cm a pixel (odm_orthophoto's own -resolution is pixels a \
     metre: less); first the model's bounds, which wrong positions or control points stretch",
    "更粗的正射影像：--orthophoto-resolution <more>（每像素厘米数；odm_orthophoto 的 -resolution 为每米像素数，\
     应减小）；先检查模型范围：错误的位置或控制点会把它拉大",
);

const HF_WEIGHTS_ON_THE_CPU: Line =
    option("--cpu").note("converts in host memory instead of on a GPU", "在主机内存中转换，不用 GPU");

const SIMBA_FRAMES: Line = said(
    Target::Program,
    "fewer or shorter videos among the CSV files of project_folder/csv/targets_inserted: all frames of all of them are \
     one table, copied for each model; else more RAM",
    "减少 project_folder/csv/targets_inserted 中的 CSV，或用更短的视频：所有帧合成一张表，每个模型再复制一份；\
     否则增加内存",
);

const GRAPHCAST_STEPS: Line = option("--lead-time 120").note(
    "hours, 240 unless set: every step of the forecast stays on the device",
    "单位小时，默认 240：预报的每一步都留在设备上",
);

const UVR_PARTS: Line = said(
    Target::Program,
    "the recording in parts: ffmpeg -i in.wav -f segment -segment_time 600 part%03d.wav; VR Architecture keeps the \
     spectrum of the whole file in RAM",
    "先把录音切成几段：ffmpeg -i in.wav -f segment -segment_time 600 part%03d.wav；VR Architecture 把整个文件的\
     频谱留在内存中",
);

const VSCODE_EXTENSIONS: Line = option("code --disable-extensions").note(
    "where that helps, they come back one by one; and fewer, smaller files and windows",
    "若有效，再逐个启用扩展；并减少打开的文件与窗口",
);

const PHOTOPRISM_WORKERS: Line = option("PHOTOPRISM_WORKERS: \"1\"").note(
    "environment in docker-compose.yml (compose.yaml); and 4 GB of swap at least",
    "docker-compose.yml（compose.yaml）的 environment；并至少 4 GB swap",
);

const VMLX_PREFILL: Line = said(
    Target::Program,
    "vMLX (MLX Studio) 1.3.81 or newer, which reads a prompt in parts where older ones did not; until then a shorter \
     prompt",
    "升级到 vMLX（MLX Studio）1.3.81 或更新版本，它会分段读入提示；在此之前缩短提示",
);

const AFALIGNER_MATRIX: Line = line(Target::Linux, "sudo sysctl vm.overcommit_memory=1").note(
    "its matrix of text × sound is asked for whole, and little of it used; then shorter chapters",
    "文本 × 声音的矩阵一次申请，实际只用很少一部分；再用更短的章节",
);

pub(super) const TOOLS: &[Tool] = &[
    // A window of VS Code. Seen in microsoft/vscode's words of its issues 221691 and 139511, whose template asks
    // whether it fails without extensions too; --disable-extensions stands in its help.
    Tool {
        name: "VS Code's window",
        files: &[],
        scripts: &["The window terminated unexpectedly (reason: 'oom'"],
        clue: None,
        rows: &[("raise-host-limit", VSCODE_EXTENSIONS)],
        lacks: WITHOUT_BATCHES,
    },
    // PhotoPrism, one process with workers inside. Seen in photoprism/photoprism-docs on Docker and on troubleshooting:
    // PHOTOPRISM_WORKERS 1 where memory is short, 4 GB of swap.
    Tool {
        name: "PhotoPrism",
        files: &[],
        scripts: &["photoprism"],
        clue: None,
        rows: &[("fewer-at-once", PHOTOPRISM_WORKERS), ("fewer-workers", PHOTOPRISM_WORKERS)],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation"],
    },
    // vMLX's engine. Seen in jjang-ai/mlxstudio, its issue 83: a model of text alone was read through the path for
    // pictures in one piece.
    Tool {
        name: "vMLX",
        files: &["/vmlx_engine/"],
        scripts: &["ERROR:vmlx_engine.mllm_batch_generator:Prefill failed"],
        clue: None,
        rows: &[
            ("less-at-once", VMLX_PREFILL),
            ("smaller-batch", VMLX_PREFILL),
            ("chunk-the-operation", VMLX_PREFILL),
            ("fix-the-shape", VMLX_PREFILL),
        ],
        lacks: &["mixed-precision", "no-grad-in-eval"],
    },
    // afaligner, which syncabook calls. Seen in r4victor/afaligner, its issues 2 (its author: the whole matrix is asked
    // for, elements of a window are used; overcommit lets it pass) and 11 (made for audiobooks cut into chapters).
    Tool {
        name: "afaligner",
        files: &["/afaligner/"],
        scripts: &["syncabook"],
        clue: None,
        rows: &[("raise-host-limit", AFALIGNER_MATRIX), ("raise-ulimit", AFALIGNER_MATRIX)],
        lacks: WITHOUT_BATCHES,
    },
    // ai-models' plugin for GraphCast. Seen in ecmwf-lab/ai-models, src/ai_models/__main__.py at 02f6f4d (--lead-time
    // 240, in hours) and ecmwf-lab/ai-models-graphcast, ai_models_graphcast/model.py at 023e653 (Bfloat16Cast;
    // autoregressive.Predictor over the whole rollout). ai-models' issue 14 sets both variables.
    Tool {
        name: "ai-models' GraphCast",
        files: &["/ai_models_graphcast/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", GRAPHCAST_STEPS),
            ("smaller-batch", GRAPHCAST_STEPS),
            ("fix-the-shape", GRAPHCAST_STEPS),
            (
                "preallocation-fraction",
                line(Target::Shell, "export XLA_PYTHON_CLIENT_PREALLOCATE=false XLA_PYTHON_CLIENT_ALLOCATOR=platform"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "chunk-the-operation",
            "smaller-images",
            "activation-offload",
        ],
    },
    // TurboDiffusion for ComfyUI, a pack of nodes without one that makes latents: one sampler has it all. Seen in
    // anveshane/Comfyui_turbodiffusion, README.md at 039b2a7: inputs resolution ("480" takes least, with 49 frames for
    // 8 to 12 GB) and num_frames (8n + 1) of TurboDiffusionI2VSampler; where CUDA is out of memory these two are
    // reduced. Each model goes back to the CPU by itself; weights are int8.
    Tool {
        name: "TurboDiffusion for ComfyUI",
        files: &["/comfyui_turbodiffusion/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-images", TURBODIFFUSION_SIZE),
            ("smaller-batch", TURBODIFFUSION_SIZE),
            ("less-at-once", TURBODIFFUSION_SIZE),
        ],
        lacks: &[
            "shorter-sequences",
            "mixed-precision",
            "weight-offload",
            "weight-quantisation",
            "vae-tiling",
            "fix-the-shape",
            "chunk-the-operation",
            "activation-offload",
            "detach-logged-tensors",
            "no-grad-in-eval",
        ],
    },
    // ComfyUI-Frame-Interpolation, nodes that make frames between others: small models outside of ComfyUI's
    // offloading, behind the decoder. Seen in Fannovel16/ComfyUI-Frame-Interpolation, vfi_models/rife/__init__.py at
    // 1c0b20d (clear_cache_after_n_frames 10, at least 1; lower is safer and slower) and issues 25 (mended in November
    // 2023) and 53.
    Tool {
        name: "ComfyUI-Frame-Interpolation",
        files: &["/comfyui-frame-interpolation/"],
        scripts: &["when executing RIFE VFI", "when executing FILM VFI", "when executing GMFSS Fortuna VFI"],
        clue: None,
        rows: &[
            ("smaller-batch", VFI_FRAMES),
            ("less-at-once", VFI_FRAMES),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "smaller frames into the node: enlarge them behind it, not before it",
                    "送入该节点的帧更小：放大放在它之后，而不是之前",
                ),
            ),
        ],
        lacks: &[
            "vae-tiling",
            "weight-offload",
            "weight-quantisation",
            "mixed-precision",
            "shorter-sequences",
            "fix-the-shape",
            "chunk-the-operation",
            "activation-offload",
            "detach-logged-tensors",
            "no-grad-in-eval",
        ],
    },
    // RoseTTAFold of 2021. Seen in RosettaCommons/RoseTTAFold, network/predict_e2e.py at 02eda35 and
    // predict_pyRosetta.py at 5510443: one alignment for each run; chains of more than 300 are worked on in crops, and
    // only the end-to-end form refines the whole chain on the GPU afterwards (by its issue 118 the other one fits). 16
    // bit and no_grad are in force, one GPU is used (issue 75). --cpu came with its pull request 10 of July 2021.
    Tool {
        name: "RoseTTAFold",
        files: &["/rosettafold/network/"],
        scripts: &["predict_e2e.py", "predict_pyRosetta.py", "predict_complex.py"],
        clue: None,
        rows: &[
            ("less-at-once", ROSETTAFOLD_WITHOUT_REFINEMENT),
            ("less-at-once", ROSETTAFOLD_DOMAIN),
            ("shorter-sequences", ROSETTAFOLD_DOMAIN),
            ("smaller-batch", ROSETTAFOLD_DOMAIN),
            ("smaller-eval-batch", ROSETTAFOLD_DOMAIN),
            (
                "other-device",
                option("--cpu").note("of the prediction's script: slow, as much RAM", "预测脚本的选项：较慢，改用内存"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "no-grad-in-eval",
            "gradient-checkpointing",
            "activation-offload",
            "chunk-the-operation",
            "fused-attention",
            "smaller-images",
        ],
    },
    // Jukebox. Seen in openai/jukebox, README.md at 0361d28 (1b_lyrics, 5b and 5b_lyrics take 3.8, 10.3 and 11.5 GB;
    // where memory is short: 1b_lyrics, a lower max_batch_size in sample.py, fewer --n_samples). A sample takes 0.4 to
    // 1 GB more. Sampling is in 16 bit where it can be.
    Tool {
        name: "Jukebox",
        files: &["/jukebox/sample.py", "/jukebox/make_models.py", "/jukebox/prior/", "/jukebox/vqvae/"],
        scripts: &["jukebox/sample.py --model"],
        clue: None,
        rows: &[
            ("raise-host-limit", JUKEBOX_MODEL),
            ("less-at-once", JUKEBOX_MODEL),
            ("weight-quantisation", JUKEBOX_MODEL),
            ("load-weights-once", JUKEBOX_MODEL),
            ("smaller-batch", JUKEBOX_SAMPLES),
            ("less-at-once", JUKEBOX_SAMPLES),
        ],
        lacks: &["no-grad-in-eval", "chunk-the-operation", "fused-attention", "smaller-images", "weight-offload"],
    },
    // The conversion of so-vits-svc 4. Seen in svc-develop-team/so-vits-svc, inference_main.py at 0298cd4 (-cl/--clip
    // 0, -sd/--slice_db -40, -d/--device) and inference/infer_tool.py (no_grad). A recording is cut where it is silent:
    // a song without pauses is one piece. It trains by another script, in the table of trainers.
    Tool {
        name: "so-vits-svc's conversion",
        files: &["/inference_main.py", "/inference/infer_tool.py"],
        scripts: &["inference_main.py"],
        clue: None,
        rows: &[
            ("shorter-sequences", SO_VITS_CLIP),
            ("less-at-once", SO_VITS_CLIP),
            ("smaller-batch", SO_VITS_CLIP),
            ("smaller-eval-batch", SO_VITS_CLIP),
            ("other-device", said(Target::Program, "the CPU, slower: --device cpu", "改用 CPU，较慢：--device cpu")),
        ],
        lacks: &[
            "no-grad-in-eval",
            "mixed-precision",
            "gradient-checkpointing",
            "activation-offload",
            "chunk-the-operation",
            "weight-quantisation",
            "weight-offload",
            "fewer-workers",
            "smaller-images",
        ],
    },
    // SwarmUI, a window around ComfyUI that writes what this says behind a mark of its own. Seen in
    // mcmonkeyprojects/SwarmUI, src/Text2Image/T2IParamTypes.cs (Resolution; "VAE Tile Size" of Advanced Sampling) and
    // its issue 1114 (--disable-pinned-memory in the backend's ExtraArgs, for raw errors of CUDA since November 2025;
    // ComfyUI's issue 10662). Nodes stand in its Comfy Workflow tab alone.
    Tool {
        name: "SwarmUI",
        files: &[],
        scripts: &[
            "[ComfyUI-0/STDERR] !!!",
            "[ComfyUI-1/STDERR] !!!",
            "[ComfyUI-2/STDERR] !!!",
            "[ComfyUI-3/STDERR] !!!",
        ],
        clue: None,
        rows: &[
            (
                "weight-offload",
                said(
                    Target::Program,
                    "Server → Backends → ExtraArgs: --disable-pinned-memory (since November 2025), then --lowvram",
                    "Server → Backends → ExtraArgs：--disable-pinned-memory（2025 年 11 月起），再加 --lowvram",
                ),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller Resolution in the Generate tab, or fewer frames",
                    "在 Generate 页减小 Resolution，或减少帧数",
                ),
            ),
            (
                "vae-tiling",
                said(
                    Target::Program,
                    "VAE Tile Size 512 under Advanced Sampling in the Generate tab",
                    "在 Generate 页的 Advanced Sampling 中启用 VAE Tile Size（512）",
                ),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "smaller-batch",
            "fix-the-shape",
            "chunk-the-operation",
            "activation-offload",
            "detach-logged-tensors",
        ],
    },
    // cryoSPARC, in a browser, with a scheduler of its own that hands a job its GPUs. Seen in its guide, pages
    // Homogeneous Refinement and Extract from Micrographs ("Refinement box size (Voxels)": lower takes less memory;
    // "Fourier-crop to box size"). Its folder was cryosparc-compute, later cryosparc_compute. No sources are public.
    Tool {
        name: "cryoSPARC",
        files: &["/cryosparc-compute/", "/cryosparc_compute/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", CRYOSPARC_BOX),
            ("smaller-images", CRYOSPARC_BOX),
            ("smaller-batch", CRYOSPARC_BOX),
            ("smaller-eval-batch", CRYOSPARC_BOX),
            (
                "other-device",
                said(
                    Target::Program,
                    "another GPU or lane, chosen where the job is queued",
                    "在提交任务（Queue）时另选 GPU 或 lane",
                ),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "chunk-the-operation",
            "gradient-checkpointing",
            "activation-offload",
            "no-grad-in-eval",
            "weight-quantisation",
        ],
    },
    // Blender. Its manual, Preferences → System → Cycles Render Devices, and pages of Cycles' performance (Tile Size,
    // Persistent Data, preset Lower Memory since 3.3) and of Simplify (Texture Limit). Its messages name
    // intern/cycles/device. What is said of scenes stands with the change.
    Tool {
        name: "Blender",
        files: &["/intern/cycles/"],
        scripts: &["blender", "blender.exe"],
        clue: None,
        rows: &[(
            "other-device",
            said(
                Target::Program,
                "Preferences → System → Cycles Render Devices: another GPU, or the CPU",
                "Preferences → System → Cycles Render Devices：选另一块 GPU 或 CPU",
            ),
        )],
        lacks: &[
            "gradient-checkpointing",
            "smaller-batch",
            "smaller-eval-batch",
            "activation-offload",
            "mixed-precision",
            "no-grad-in-eval",
            "weight-quantisation",
            "fewer-workers",
        ],
    },
    // subgen, a container that writes subtitles. Seen in McCloudS/subgen, README.md at fb3a741 (WHISPER_MODEL medium,
    // CONCURRENT_TRANSCRIPTIONS 2, to be lowered to 1 where memory is short, COMPUTE_TYPE auto) and in its line for a
    // file that failed. Whisper itself works on pieces of 30 seconds.
    Tool {
        name: "subgen",
        files: &[],
        scripts: &["subgen.py", "Error processing or transcribing /"],
        clue: None,
        rows: &[
            ("less-at-once", SUBGEN_AT_ONCE),
            ("smaller-batch", SUBGEN_AT_ONCE),
            ("fewer-at-once", SUBGEN_AT_ONCE),
            ("weight-quantisation", SUBGEN_MODEL),
            (
                "other-device",
                said(
                    Target::Program,
                    "another GPU in device_ids of the service in docker-compose.yml",
                    "在 docker-compose.yml 中该服务的 device_ids 里换另一块 GPU",
                ),
            ),
        ],
        lacks: &[
            "shorter-sequences",
            "chunk-the-operation",
            "mixed-precision",
            "no-grad-in-eval",
            "gradient-checkpointing",
            "activation-offload",
            "smaller-images",
        ],
    },
    // MLC LLM's server. Seen in mlc-ai/mlc-llm, python/mlc_llm/cli/serve.py at 01ced33 (--overrides, of parts between
    // semicolons) and python/mlc_llm/interface/help.py (gpu_memory_utilization 0.85 unless set), its issues 3024 and
    // 3027. The check at its start holds weights and temporary buffers, which go with the chunk of a prompt, against
    // that share.
    Tool {
        name: "MLC LLM",
        files: &["/mlc_llm/"],
        scripts: &["mlc_llm", "Insufficient GPU memory error: The available single GPU memory"],
        clue: None,
        rows: &[
            ("raise-engine-memory", MLC_SHARE),
            ("fewer-sequences", MLC_CHUNK),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "a narrower quantisation of the same model, such as q4f16_1",
                    "同一模型更窄的量化，如 q4f16_1",
                ),
            ),
            (
                "more-devices",
                option("mlc_llm serve ... --overrides \"tensor_parallel_shards=<GPUs>\"")
                    .note("a part of the weights on each", "每块 GPU 放一部分权重"),
            ),
        ],
        lacks: &["chunk-the-operation", "gradient-checkpointing", "activation-offload", "no-grad-in-eval"],
    },
    // Purfview's standalone faster-whisper-xxl, an executable whose source is not public. Seen in
    // Purfview/whisper-standalone-win, README.md (--best_of=1, --beam_size=1 and -fallback=None where memory is short,
    // compute_type, --standard, pyannote among its detectors of speech). --ff_vocal_extract works on the whole
    // recording as 32 bit. Its frames have no folder of a machine's: `faster_whisper\roformer_infer.py`.
    Tool {
        name: "faster-whisper-xxl",
        files: &["/faster_whisper/roformer_infer.py", "/whisper-xxl/", "/faster-whisper-xxl/"],
        scripts: &["faster-whisper-xxl.exe", "faster-whisper-xxl", "--ff_vocal_extract"],
        clue: None,
        rows: &[
            ("less-at-once", WHISPER_XXL_FILES),
            ("read-less-at-once", WHISPER_XXL_FILES),
            ("fix-the-shape", WHISPER_XXL_FILES),
            ("shorter-sequences", WHISPER_XXL_FILES),
            ("smaller-batch", option("--best_of=1 --beam_size=1").note("and -fallback=None", "并加 -fallback=None")),
            ("weight-quantisation", option("--compute_type int8").note("or a smaller -m", "或更小的 -m")),
        ],
        lacks: &[
            "chunk-the-operation",
            "mixed-precision",
            "no-grad-in-eval",
            "gradient-checkpointing",
            "activation-offload",
            "no-python-lists-in-dataset",
            "more-devices",
        ],
    },
    // CellBender. Seen in broadinstitute/CellBender, its pull request 103 (--posterior-batch-size), issues 67, 98, 251
    // and 295, and cellbender/remove_background/argparser.py at 97c1d40 (--total-droplets-included,
    // --projected-ambient-count-threshold). A batch of training is some 100 droplets of 35,000 genes; what fails is
    // the posterior, computed after it. It trains in 32 bit, without checkpoints or accumulation.
    Tool {
        name: "CellBender",
        files: &["/cellbender/"],
        scripts: &["cellbender", "--total-droplets-included"],
        clue: None,
        rows: &[
            ("smaller-batch", CELLBENDER_POSTERIOR),
            ("smaller-batch", CELLBENDER_DROPLETS),
            ("smaller-eval-batch", CELLBENDER_POSTERIOR),
            ("less-at-once", CELLBENDER_POSTERIOR),
            ("fix-the-shape", CELLBENDER_POSTERIOR),
            ("chunk-the-operation", CELLBENDER_POSTERIOR),
            ("read-less-at-once", CELLBENDER_DROPLETS),
        ],
        lacks: &[
            "gradient-checkpointing",
            "gradient-accumulation",
            "activation-offload",
            "mixed-precision",
            "fused-attention",
            "eight-bit-optimizer",
            "bf16-states",
            "more-devices",
            "fewer-workers",
        ],
    },
    // AlphaFold 2 in its container. Seen in google-deepmind/alphafold, docker/run_docker.py at 0bab1bf (2021): of the
    // environment it passes on NVIDIA_VISIBLE_DEVICES (--gpu_devices, all unless set), TF_FORCE_UNIFIED_MEMORY=1 and
    // XLA_PYTHON_CLIENT_MEM_FRACTION=4.0 alone: what a shell exports does not reach JAX. What it prints in the
    // container stands behind its own mark, `run_docker.py:247]`. Where unified memory is refused, the host has none.
    Tool {
        name: "AlphaFold 2's run_docker.py",
        files: &["/docker/run_docker.py"],
        scripts: &["run_docker.py", " run_docker.py:"],
        clue: None,
        rows: &[
            ("other-device", option("--gpu_devices=<index>").note("of run_docker.py", "run_docker.py 的选项")),
            (
                "raise-host-limit",
                said(
                    Target::Program,
                    "more RAM: by unified memory it holds what the GPU does not, up to three times the GPU's size",
                    "更多内存：统一内存把显存放不下的部分放在内存中，最多为显存的三倍",
                ),
            ),
            ("less-at-once", ALPHAFOLD_SEQUENCE),
            ("shorter-sequences", ALPHAFOLD_SEQUENCE),
            ("smaller-batch", ALPHAFOLD_SEQUENCE),
        ],
        // In force: weight-offload, raise-memory-fraction, chunk-the-operation. No option: the rest, of which variables
        // would have to be passed on.
        lacks: &[
            "weight-offload",
            "preallocation-fraction",
            "raise-memory-fraction",
            "raise-runtime-limit",
            "pin-memory",
            "chunk-the-operation",
            "fix-the-shape",
            "mixed-precision",
            "weight-quantisation",
            "fused-attention",
            "smaller-images",
            "more-devices",
            "no-grad-in-eval",
        ],
    },
    // VAPOR, a window that draws volumes. Seen in NCAR/VAPOR, lib/render/VolumeRectilinear.cpp (CheckHardwareSupport,
    // whose words these are: nx × ny × nz × 16 bytes) and apps/vaporgui/FidelityWidget.cpp. A level of detail alone
    // keeps the dimensions: it frees nothing. Programs of OpenGL stand in nvidia-smi's own table and in no query.
    Tool {
        name: "VAPOR",
        files: &[],
        scripts: &["vaporgui", "Not enough GPU RAM free"],
        clue: None,
        rows: &[
            ("smaller-batch", VAPOR_REFINEMENT),
            ("less-at-once", VAPOR_REFINEMENT),
            (
                "free-the-device",
                line(Target::Shell, "nvidia-smi")
                    .note("on NVIDIA: its table lists windows too, type G", "NVIDIA：其表格也列出图形程序（类型 G）"),
            ),
        ],
        lacks: &[
            "chunk-the-operation",
            "mixed-precision",
            "weight-quantisation",
            "weight-offload",
            "fix-the-shape",
            "more-devices",
        ],
    },
    // mlx-openai-server. Seen in cubist38/mlx-openai-server at v1.5.1 to v1.8.1: app/cli.py (--context-length,
    // --decode-concurrency since 1.8.0, --max-concurrency gone from 1.7.0), app/models/mlx_lm.py and
    // app/core/handler_process.py (since 1.7.0 MLX's cache is emptied after each piece of a prompt). By its issue 188
    // a newer release cures the count of buffers that grows. Its name is met with and without its ending.
    Tool {
        name: "mlx-openai-server",
        files: &["/mlx_openai_server/"],
        scripts: &["mlx-openai-server", "mlx-openai"],
        clue: None,
        rows: &[
            (
                "evaluate-each-step",
                line(Target::Shell, "pip install -U mlx-openai-server").note(
                    "1.7.0 and later empty MLX's cache after each piece of a prompt",
                    "1.7.0 起每处理一段提示后清空 MLX 的缓存",
                ),
            ),
            ("max-model-len", MLX_CONTEXT),
            ("smaller-batch", MLX_CONTEXT),
            ("less-at-once", MLX_CONTEXT),
            (
                "fewer-sequences",
                option("--decode-concurrency 1").note(
                    "since 1.8.0; before 1.7.0 --max-concurrency 1",
                    "1.8.0 起；1.7.0 之前为 --max-concurrency 1",
                ),
            ),
        ],
        lacks: &["chunk-the-operation", "mixed-precision", "no-grad-in-eval"],
    },
    // CompreFace's embedding-calculator, a container. Seen in exadel-inc/CompreFace, dev/docker-compose-gpu.yml, .env
    // (max_detect_size, uwsgi_processes 2) and embedding-calculator/src/constants.py (GPU_IDX, IMG_LENGTH_LIMIT). A
    // request holds one picture.
    Tool {
        name: "CompreFace",
        files: &["/services/facescan/plugins/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", COMPREFACE_WORKERS),
            ("less-at-once", COMPREFACE_WORKERS),
            ("fewer-at-once", COMPREFACE_WORKERS),
            ("share-one-model", COMPREFACE_WORKERS),
            ("smaller-images", option("max_detect_size=<smaller>").note("in .env", "写在 .env")),
            (
                "other-device",
                option("GPU_IDX=<index>").note("environment of compreface-core", "compreface-core 的环境变量"),
            ),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "no-grad-in-eval", "weight-offload"],
    },
    // CogVideo's script for one film, which its users change themselves. Seen in zai-org/CogVideo,
    // inference/cli_demo.py: at 34dd614 it only moves the pipeline to the device, since f7721c7 it offloads; later it
    // names the three calls (lines 150 to 152). Attention is fused already, and the weights are of 16 bit.
    Tool {
        name: "CogVideo's cli_demo.py",
        files: &["/inference/cli_demo.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("chunk-the-operation", COGVIDEO_OFFLOAD),
            ("weight-offload", COGVIDEO_OFFLOAD),
            ("vae-tiling", COGVIDEO_OFFLOAD),
            ("smaller-batch", COGVIDEO_FRAMES),
            ("less-at-once", COGVIDEO_FRAMES),
            ("smaller-images", COGVIDEO_FRAMES),
            ("fix-the-shape", COGVIDEO_FRAMES),
        ],
        lacks: &["fused-attention", "mixed-precision", "no-grad-in-eval", "gradient-checkpointing"],
    },
    // UMEP's SUEWS in QGIS, a window around SuPy: it is given files of the weather (5 minutes a row by itself) and of
    // the grids. By its issues 371 and 465 a long period is run in years.
    Tool {
        name: "SUEWS in QGIS",
        files: &["/umep/suews/"],
        scripts: &[],
        clue: None,
        rows: &[(
            "read-less-at-once",
            said(
                Target::Program,
                "a shorter period: one year of weather after another, or fewer grids at once",
                "缩短时段：气象数据逐年运行，或每次减少网格数",
            ),
        )],
        lacks: &["mixed-precision", "smaller-batch", "fewer-workers", "find-the-leak"],
    },
    // Geti's application in a container. Seen in open-edge-platform/geti, application/docker/Dockerfile at 05d0842 (its
    // Python lies in /application/backend/.venv) and issue 7373 (16 GB of RAM; the training of a large model on large
    // pictures is killed). Models and parameters of a training are chosen in its pages; none for loaders was seen.
    Tool {
        name: "Geti",
        files: &["/application/backend/.venv/", "/application/backend/app/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                option("docker run --memory=<more> --shm-size=8g ...")
                    .note("of Geti's container; 16 GB are its least", "Geti 的容器；至少 16 GB"),
            ),
            ("shm-size", option("docker run --shm-size=8g ...").note("or --ipc=host", "或 --ipc=host")),
            (
                "read-less-at-once",
                said(
                    Target::Program,
                    "a smaller model, or pictures made smaller before they are uploaded",
                    "选更小的模型，或上传前缩小图片",
                ),
            ),
            ("smaller-images", said(Target::Program, "a smaller input size of the model", "减小模型的输入尺寸")),
            ("smaller-batch", said(Target::Program, "a smaller batch size of the training", "减小训练的批大小")),
        ],
        lacks: &["fewer-workers", "no-python-lists-in-dataset", "chunk-the-operation", "mixed-precision"],
    },
    // Ultimate Vocal Remover. Seen in Anjok07/ultimatevocalremovergui at 5517e0c (2025-03):
    // gui_data/error_handling.py (its advice: a lower segment size), gui_data/constants.py ("SEGMENT SIZE" 256
    // with steps of 32, "Batch Size", "WINDOW SIZE" of the VR models, "GPU Conversion"). It holds parts of
    // Demucs: it stands before it. No options of a command. Line of its own: "The application was unable to
    // allocate enough GPU memory to use this model."
    Tool {
        name: "Ultimate Vocal Remover",
        files: &["/uvr.py", "/gui_data/", "/lib_v5/"],
        scripts: &["UVR.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "a lower SEGMENT SIZE (256 at first) in the window, Batch Size 1 in the advanced settings",
                    "在窗口中调低 SEGMENT SIZE（默认 256），并在高级设置中将 Batch Size 设为 1",
                ),
            ),
            (
                "less-at-once",
                said(
                    Target::Program,
                    "a lower SEGMENT SIZE in the window, or no GPU Conversion",
                    "在窗口中调低 SEGMENT SIZE，或关闭 GPU Conversion",
                ),
            ),
            ("raise-host-limit", UVR_PARTS),
            ("read-less-at-once", UVR_PARTS),
        ],
        lacks: &[
            "mixed-precision",
            "shorter-sequences",
            "weight-quantisation",
            "weight-offload",
            "chunk-the-operation",
            "more-devices",
        ],
    },
    // WanGP (Wan2GP), before Wan's own program, whose files it holds. Seen in deepbeepmeep/Wan2GP at 8681e9f
    // (2026-08): shared/cli_args.py, docs/CLI.md, wgp.py (profiles 1 to 5 with 3+, 4+: 4.5),
    // plugins/configuration/plugin.py ("VAE Tiling", "Transformer Model Quantization": int8 by itself; "VAE
    // Precision").
    Tool {
        name: "WanGP",
        files: &["/wgp.py", "/wan2gp/"],
        scripts: &["wgp.py"],
        clue: None,
        rows: &[
            ("weight-offload", option("--profile 4.5").note("then 5; --preload 0", "再试 5；--preload 0")),
            (
                "vae-tiling",
                option("--vae-config 3")
                    .note("VAE Tiling in the configuration: 6GB+", "配置页的 VAE Tiling：6GB+ 预设"),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "Scaled Int8 at Transformer Model Quantization, in the configuration",
                    "在配置页将 Transformer Model Quantization 设为 Scaled Int8",
                ),
            ),
            (
                "smaller-images",
                said(Target::Program, "a lower resolution, or fewer frames", "更低的分辨率，或更少的帧"),
            ),
            (
                "read-less-at-once",
                option("--profile 5").note("or --perc-reserved-mem-max 0.2", "或 --perc-reserved-mem-max 0.2"),
            ),
            (
                "fused-attention",
                option("--attention sdpa").note("sage and flash where installed", "已安装时可用 sage 与 flash"),
            ),
            ("other-device", option("--gpu cuda:<index>")),
        ],
        // In force: mixed-precision.
        lacks: &["mixed-precision", "smaller-batch", "chunk-the-operation", "no-grad-in-eval", "more-devices"],
    },
    // CodeFormer, whose background is drawn by Real-ESRGAN, which prints its own hint of --tile. Seen in
    // sczhou/CodeFormer at b33cc7d (2025-11): inference_codeformer.py (bg_tile 400, face_upsample, upscale 2,
    // bg_upsampler None unless set; 16 bit but for a GTX 1650 or 1660). It stands before Real-ESRGAN.
    Tool {
        name: "CodeFormer",
        files: &["/inference_codeformer.py"],
        scripts: &["inference_codeformer.py"],
        clue: None,
        rows: &[("smaller-images", CODEFORMER_TILES), ("less-at-once", CODEFORMER_TILES)],
        lacks: &[
            "smaller-batch",
            "mixed-precision",
            "chunk-the-operation",
            "fix-the-shape",
            "shape-bucketing",
            "no-grad-in-eval",
            "weight-quantisation",
        ],
    },
    // waifu2x, Real-ESRGAN, RealSR, Real-CUGAN and SRMD on ncnn. Seen in nihui/waifu2x-ncnn-vulkan at 6491466
    // (2026-02): README.md and src/main.cpp (-t at least 32, 0 or auto by the GPU's memory: 32 to 400; -j
    // load:proc:save 1:2:2; -x is TTA, -g -1 the CPU); by its issues 32 and 92 a smaller tile cures it. The others
    // take -t, -g, -j and -x alike.
    Tool {
        name: "ncnn's upscalers",
        files: &[],
        scripts: &[
            "waifu2x-ncnn-vulkan",
            "waifu2x-ncnn-vulkan.exe",
            "waifu2x",
            "realesrgan-ncnn-vulkan",
            "realesrgan-ncnn-vulkan.exe",
            "realsr-ncnn-vulkan",
            "realsr-ncnn-vulkan.exe",
            "realcugan-ncnn-vulkan",
            "realcugan-ncnn-vulkan.exe",
            "realcugan-ncnn",
            "srmd-ncnn-vulkan",
            "srmd-ncnn-vulkan.exe",
        ],
        clue: None,
        rows: &[
            ("less-at-once", NCNN_TILES),
            ("less-at-once", NCNN_THREADS),
            ("smaller-images", NCNN_TILES),
            ("smaller-batch", NCNN_TILES),
            ("other-device", option("-g <index>").note("-1: the CPU", "-1：CPU")),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "more-devices", "weight-offload", "weight-quantisation"],
    },
    // Mega-NeRF. Seen in cmusatyalab/mega-nerf at 76d8d76 (2022-07): scripts/create_cluster_masks.py (ray_chunk_size
    // 48 × 1024 rays of ray_samples 1000, dist_chunk_size 64 × 1024 × 1024 points of them against grid_dim centroids;
    // its author lowers ray_chunk_size in issue 29), mega_nerf/opts.py (batch_size 1024 rays, model_chunk_size 32 ×
    // 1024, image_pixel_batch_size 64 × 1024, coarse_samples 256, fine_samples 512, train_scale_factor 1; 16 bit
    // unless --no_amp; dataset_type filesystem or memory).
    Tool {
        name: "Mega-NeRF's masks",
        files: &["/create_cluster_masks.py"],
        scripts: &["create_cluster_masks.py"],
        clue: None,
        rows: &[
            ("less-at-once", MEGA_NERF_RAYS),
            ("chunk-the-operation", MEGA_NERF_RAYS),
            ("smaller-batch", MEGA_NERF_RAYS),
            ("fix-the-shape", MEGA_NERF_RAYS),
        ],
        lacks: &["mixed-precision", "smaller-images", "no-grad-in-eval", "fused-attention", "more-devices"],
    },
    Tool {
        name: "Mega-NeRF",
        files: &["/mega_nerf/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--batch_size <half>").note("1024 rays unless set", "默认 1024 条光线").when("trains"),
            ),
            (
                "smaller-batch",
                option("--model_chunk_size 8192").note("32768 unless set", "默认 32768").unless("trains"),
            ),
            (
                "smaller-eval-batch",
                option("--image_pixel_batch_size 16384")
                    .note("65536 unless set; or a larger --val_scale_factor", "默认 65536；或增大 --val_scale_factor"),
            ),
            ("smaller-images", option("--train_scale_factor 2").when("trains")),
            (
                "read-less-at-once",
                option("--dataset_type filesystem")
                    .note("and a larger --num_chunks, 200 unless set", "并增大 --num_chunks，默认 200"),
            ),
        ],
        // In force: mixed-precision, unless --no_amp is given.
        lacks: &["mixed-precision", "gradient-checkpointing", "chunk-the-operation", "eight-bit-optimizer"],
    },
    // whisper-diarization. Seen in MahmoudAshraf97/whisper-diarization at 7348644 (2025-07): diarize.py (--batch-size
    // 8, 0 for one piece after another; --whisper-model, --no-stem leaves out Demucs, --device). What aligns words
    // takes the same batch size (ctc_forced_aligner); speakers are told apart by NeMo, whose files it shows: it
    // stands before it.
    Tool {
        name: "whisper-diarization",
        files: &["/whisper-diarization/"],
        scripts: &["--no-stem", "--whisper-model"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--batch-size 1").note("8 unless set; 0: one after another", "默认 8；0：逐段处理"),
            ),
            (
                "weight-quantisation",
                option("--whisper-model small").note("or base: a smaller model", "或 base：更小的模型"),
            ),
            (
                "less-at-once",
                said(
                    Target::Program,
                    "a recording cut into shorter files; --no-stem leaves out the separation of music",
                    "把录音切成较短的文件；--no-stem 不做人声分离",
                ),
            ),
            (
                "shorter-sequences",
                said(
                    Target::Program,
                    "a recording cut into shorter files; --no-stem leaves out the separation of music",
                    "把录音切成较短的文件；--no-stem 不做人声分离",
                ),
            ),
            ("other-device", option("--device cpu")),
        ],
        lacks: &[
            "mixed-precision",
            "chunk-the-operation",
            "gradient-checkpointing",
            "activation-offload",
            "no-grad-in-eval",
            "smaller-images",
        ],
    },
    // demucs.separate: recordings are split into segments by itself; HTDemucs takes 7.8 seconds at most. On the host
    // the whole recording and all of its stems are kept as 32 bit: by facebookresearch/demucs issue 498 it is cut
    // before (demucs/separate.py at e976d93: -j jobs 0, --segment is of the GPU's memory).
    Tool {
        name: "Demucs",
        files: &["/demucs/separate.py", "/demucs/__main__.py"],
        scripts: &["demucs", "demucs.separate"],
        clue: Some(Clue::SeparatesTracks),
        rows: &[
            (
                "smaller-batch",
                option("--segment 7")
                    .note("seconds of sound at once; -d cpu needs no GPU", "每次处理的秒数；-d cpu 不用 GPU"),
            ),
            (
                "read-less-at-once",
                option("ffmpeg -i <input> -f segment -segment_time 600 -c copy part%03d.flac")
                    .note("then demucs on each part", "再对每段运行 demucs"),
            ),
            ("fewer-at-once", option("-j 0")),
        ],
        lacks: &[
            "mixed-precision",
            "shorter-sequences",
            "weight-quantisation",
            "chunk-the-operation",
            "smaller-buffers",
            "fewer-workers",
        ],
    },
    // Its scripts print the name of the option below the error; they take one picture after another, in 16 bit.
    Tool {
        name: "Real-ESRGAN",
        files: &["/inference_realesrgan.py", "/inference_realesrgan_video.py", "/inference_realesrgan_infer.py"],
        scripts: &["inference_realesrgan.py", "inference_realesrgan_video.py"],
        clue: Some(Clue::NamesTiles),
        rows: &[
            ("smaller-images", option("--tile 400").note("then 200: pieces of a picture", "再试 200：把图片分块")),
            ("read-less-at-once", option("--tile 400").note("then 200: pieces of a picture", "再试 200：把图片分块")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "no-grad-in-eval"],
    },
    Tool {
        name: "GFPGAN",
        files: &["/inference_gfpgan.py"],
        scripts: &["inference_gfpgan.py"],
        clue: None,
        rows: &[("smaller-images", option("--bg_tile 200").note("or --bg_upsampler none", "或 --bg_upsampler none"))],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation"],
    },
    // An evaluation of language models, in which nothing is trained: the command's options are all that there is.
    Tool {
        name: "lm-evaluation-harness",
        files: &["/lm_eval/"],
        scripts: &["lm_eval", "lm-eval"],
        clue: None,
        rows: &[
            ("smaller-eval-batch", option("--batch_size {tried}")),
            ("smaller-batch", option("--batch_size {batch}")),
        ],
        lacks: &["no-grad-in-eval", "chunked-loss", "logits-to-keep", "chunk-the-operation", "mixed-precision"],
    },
    Tool {
        name: "WhisperX's command",
        files: &["/bin/whisperx"],
        scripts: &["whisperx"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch_size 4")),
            ("less-at-once", option("--batch_size 4")),
            ("weight-quantisation", option("--compute_type int8").note("or a smaller --model", "或更小的 --model")),
        ],
        lacks: &["mixed-precision", "shorter-sequences", "smaller-images"],
    },
    // whisper-asr-webservice, a container around Whisper. Seen in ahmetoner/whisper-asr-webservice, app/config.py at
    // 15f4a57 (ASR_MODEL base, ASR_ENGINE openai_whisper, ASR_QUANTIZATION float32 on a GPU, float16 or int8: of
    // faster_whisper).
    Tool {
        name: "whisper-asr-webservice",
        files: &[
            "/app/openai_whisper/core.py",
            "/app/faster_whisper/core.py",
            "/app/asr_models/openai_whisper_engine.py",
            "/app/asr_models/faster_whisper_engine.py",
        ],
        scripts: &["whisper-asr-webservice", "openai-whisper-asr-webservice"],
        clue: None,
        rows: &[
            ("weight-quantisation", WHISPER_ASR_MODEL),
            ("less-at-once", WHISPER_ASR_MODEL),
            ("smaller-batch", WHISPER_ASR_MODEL),
        ],
        lacks: &["shorter-sequences", "mixed-precision", "smaller-images", "chunk-the-operation", "no-grad-in-eval"],
    },
    // Windows of 30 seconds, one after another, in 16 bit: the size of the model decides.
    Tool {
        name: "Whisper's command",
        files: &["/bin/whisper"],
        scripts: &["whisper"],
        clue: None,
        rows: &[
            ("weight-quantisation", option("--model small").note("or base: a smaller model", "或 base：更小的模型")),
            ("less-at-once", option("--model small").note("or base: a smaller model", "或 base：更小的模型")),
        ],
        lacks: &["smaller-batch", "shorter-sequences", "mixed-precision", "smaller-images"],
    },
    Tool {
        name: "CompVis' txt2img",
        files: &["/scripts/txt2img.py"],
        scripts: &["txt2img.py"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--n_samples 1")),
            ("smaller-images", option("--H {shown} --W {shown}").note("multiples of 64", "64 的倍数")),
        ],
        lacks: &["weight-quantisation"],
    },
    // What it draws is as large as the picture that it is given.
    Tool {
        name: "CompVis' img2img",
        files: &["/scripts/img2img.py"],
        scripts: &["img2img.py"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--n_samples 1")),
            (
                "smaller-images",
                said(Target::Program, "a smaller picture for --init-img", "给 --init-img 一张更小的图片"),
            ),
        ],
        lacks: &["weight-quantisation"],
    },
    // Wan's own generate.py: weights in bf16, frames are 4n+1.
    Tool {
        name: "Wan's generate.py",
        files: &["/wan/text2video.py", "/wan/image2video.py", "/wan/textimage2video.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("weight-offload", option("--t5_cpu").note("and --offload_model True", "以及 --offload_model True")),
            ("smaller-images", option("--frame_num 49").note("4n+1; 81 unless set", "形如 4n+1；默认 81")),
        ],
        lacks: &["mixed-precision", "vae-tiling", "chunk-the-operation"],
    },
    // AlphaFold 3. Seen in google-deepmind/alphafold3 at c0f97ed (2026-08): run_alphafold.py
    // (num_diffusion_samples, 5, one hk.vmap over them in model/network/diffusion_head.py; buckets; gpu_device;
    // flash_attention_implementation is triton by itself), model_config.py (bfloat16 is 'all'),
    // docs/performance.md (unified memory, pair_transition_shard_spec, an edit of model_config.py),
    // docker/Dockerfile (it preallocates 95 %). Its script is named as that of AlphaFold 2: only folders tell
    // them apart, so this stands before it. Lines of its own: "Running model inference with seed", "Featurising
    // data with 1 seed(s)...".
    Tool {
        name: "AlphaFold 3",
        files: &["/alphafold3/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("--num_diffusion_samples=1").note("5 unless set, at once", "默认 5 个，同时计算")),
            (
                "weight-offload",
                line(
                    Target::Shell,
                    "export XLA_PYTHON_CLIENT_PREALLOCATE=false TF_FORCE_UNIFIED_MEMORY=true \
                     XLA_CLIENT_MEM_FRACTION=3.2",
                )
                .note("spills into host memory; in its image by ENV or --env", "溢出到主机内存；镜像中用 ENV 或 --env"),
            ),
            (
                "shorter-sequences",
                option("--buckets=<tokens of the input>").note("pads to no larger size", "不再填充到更大的尺寸"),
            ),
            (
                "chunk-the-operation",
                said(
                    Target::Program,
                    "smaller chunks in pair_transition_shard_spec (model_config.py)",
                    "减小 model_config.py 中 pair_transition_shard_spec 的分块",
                ),
            ),
            ("preallocation-fraction", line(Target::Shell, "export XLA_PYTHON_CLIENT_PREALLOCATE=false")),
            (
                "fewer-at-once",
                option("--jackhmmer_max_parallel_shards=1").note("of sharded databases only", "仅用于分片的数据库"),
            ),
            ("other-device", option("--gpu_device=<index>")),
        ],
        // In force: mixed-precision, fused-attention. No option: the rest.
        lacks: &[
            "mixed-precision",
            "fused-attention",
            "more-devices",
            "weight-quantisation",
            "smaller-images",
            "no-grad-in-eval",
        ],
    },
    // ColabFold. Seen in sokrypton/ColabFold at 3b808f0 (2026-07): colabfold/batch.py sets
    // TF_FORCE_UNIFIED_MEMORY=1 and XLA_PYTHON_CLIENT_MEM_FRACTION=4.0 by itself unless
    // --disable-unified-memory; --max-msa is max-seq:max-extra-seq; scripts in pyproject.toml. It runs
    // AlphaFold's package: it stands before AlphaFold 2. Lines of its own: "Running colabfold 1.5.5", "Could
    // not predict NAME. Not Enough GPU memory?".
    Tool {
        name: "ColabFold",
        files: &["/colabfold/"],
        scripts: &["colabfold_batch", "colabfold_search"],
        clue: None,
        rows: &[(
            "smaller-batch",
            option("--max-msa 128:256").note("fewer rows of the alignment at once", "同时使用更少的比对序列"),
        )],
        // In force: weight-offload (unified memory). No option: the rest.
        lacks: &[
            "weight-offload",
            "mixed-precision",
            "weight-quantisation",
            "chunk-the-operation",
            "fused-attention",
            "smaller-images",
            "more-devices",
            "no-grad-in-eval",
        ],
    },
    // AlphaFold 2. Seen in google-deepmind/alphafold at c77e5d2 (2026-04): docker/run_docker.py sets both
    // variables for unified memory by itself, run_alphafold.py does not; flags db_preset and use_gpu_relax
    // (enable_gpu_relax of run_docker.py) have nothing to do with the model's memory;
    // alphafold/model/config.py: subbatch_size 4 (128 in the template embedding), bfloat16 in the multimer's
    // configuration only, neither with a flag. Lines of its own: "Running model model_1_pred_0 on NAME", "Final
    // timings for NAME:".
    Tool {
        name: "AlphaFold 2",
        files: &["/alphafold/model/", "/alphafold/data/", "/alphafold/relax/", "/alphafold/run_alphafold.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("weight-offload", ALPHAFOLD_UNIFIED),
            ("preallocation-fraction", ALPHAFOLD_UNIFIED),
            ("raise-memory-fraction", ALPHAFOLD_UNIFIED),
            ("less-at-once", ALPHAFOLD_SEQUENCE),
            ("shorter-sequences", ALPHAFOLD_SEQUENCE),
            ("smaller-batch", ALPHAFOLD_SEQUENCE),
        ],
        // In force: chunk-the-operation (and mixed-precision for multimers). No option: the rest.
        lacks: &[
            "chunk-the-operation",
            "fix-the-shape",
            "mixed-precision",
            "weight-quantisation",
            "fused-attention",
            "smaller-images",
            "more-devices",
            "no-grad-in-eval",
        ],
    },
    // esm-fold. Seen in facebookresearch/esm at 2b36991 (2023-06, the last): scripts/fold.py, setup.py; the
    // language model inside is 16 bit by itself (esm/esmfold/v1/esmfold.py, self.esm.half()). It runs on
    // OpenFold's modules. Line of its own: "Failed (CUDA out of memory) on sequence NAME of length 1234."
    Tool {
        name: "esm-fold",
        files: &["/esm/scripts/fold.py"],
        scripts: &["esm-fold"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--chunk-size 64").note("then 32; for one long sequence", "再试 32；用于单个长序列"),
            ),
            (
                "smaller-batch",
                option("--max-tokens-per-batch <fewer>")
                    .note("1024 unless set; for short ones", "默认 1024；用于短序列"),
            ),
            ("chunk-the-operation", option("--chunk-size 64").note("then 32", "再试 32")),
            ("weight-offload", option("--cpu-offload").note("or --cpu-only", "或 --cpu-only")),
        ],
        lacks: &["mixed-precision", "weight-quantisation", "more-devices", "smaller-images", "no-grad-in-eval"],
    },
    // esm-extract, scripts/extract.py. Same place: toks_per_batch 4096, truncation_seq_length 1022; names of
    // models in README.md. It computes in 32 bit without an option.
    Tool {
        name: "esm-extract",
        files: &["/esm/scripts/extract.py"],
        scripts: &["esm-extract"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--toks_per_batch 1024").note("4096 unless set", "默认 4096")),
            ("shorter-sequences", option("--truncation_seq_length <smaller>").note("1022 unless set", "默认 1022")),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "a smaller model as the first argument: esm2_t30_150M_UR50D",
                    "第一个参数换成更小的模型：esm2_t30_150M_UR50D",
                ),
            ),
        ],
        lacks: &["mixed-precision", "weight-offload", "more-devices", "chunk-the-operation", "no-grad-in-eval"],
    },
    // OpenFold's own scripts (the package is a library of others). Seen in aqlaboratory/openfold at ce0029e
    // (2025-09): run_pretrained_openfold.py, train_openfold.py (precision bf16 by itself), openfold/config.py
    // (chunk_size 4 in inference; blocks_per_ckpt 1 in training; batch_size 1), docs/source/Inference.md. One
    // target at a time.
    Tool {
        name: "OpenFold's scripts",
        files: &["/run_pretrained_openfold.py", "/train_openfold.py"],
        scripts: &["run_pretrained_openfold.py", "train_openfold.py"],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("--long_sequence_inference")
                    .note("DeepSpeed's attention and offloading", "启用 DeepSpeed 注意力与卸载")
                    .unless("trains"),
            ),
            ("fused-attention", option("--use_deepspeed_evoformer_attention").unless("trains")),
            ("shard-states", option("--deepspeed_config_path deepspeed_config.json").when("trains")),
            ("gradient-accumulation", option("--accumulate_grad_batches <number>").when("trains")),
        ],
        // In force: chunk-the-operation (inference), gradient-checkpointing, mixed-precision (training); batch 1.
        lacks: &[
            "smaller-batch",
            "chunk-the-operation",
            "gradient-checkpointing",
            "mixed-precision",
            "weight-quantisation",
            "smaller-images",
            "more-devices",
            "eight-bit-optimizer",
        ],
    },
    // Boltz. Seen in jwohlwend/boltz at 832486d (2025-09, 2.x): src/boltz/main.py (max_parallel_samples 5,
    // max_msa_seqs 8192, num_workers 2, preprocessing-threads = all cores; precision 32 for boltz1, bf16-mixed
    // for boltz2), model/modules/trunkv2.py chunks by itself; --devices gives whole inputs to each. Since which
    // release --max_parallel_samples exists: not seen. Line of its own: "| WARNING: ran out of memory, skipping
    // batch".
    Tool {
        name: "Boltz",
        files: &["/boltz/main.py", "/boltz/model/", "/boltz/data/"],
        scripts: &["boltz"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--max_parallel_samples 1")
                    .note("5 unless set; or --diffusion_samples 1", "默认 5；或 --diffusion_samples 1"),
            ),
            ("smaller-batch", option("--max_msa_seqs 2048").note("8192 unless set", "默认 8192")),
            ("fewer-workers", option("--num_workers 0")),
            ("fewer-at-once", option("--preprocessing-threads 1").note("all cores unless set", "默认用全部核心")),
        ],
        // In force: chunk-the-operation, mixed-precision (boltz2). No option: the rest.
        lacks: &[
            "chunk-the-operation",
            "mixed-precision",
            "weight-quantisation",
            "weight-offload",
            "more-devices",
            "smaller-images",
            "no-grad-in-eval",
        ],
    },
    // RELION, relion_refine (2D and 3D classification, refinement). Seen in 3dem/relion at 73f0a3c (5.0.1):
    // src/ml_optimiser.cpp (options), src/pipeline_jobs.cpp (names in the window: "Number of pooled particles",
    // "Pre-read all particles into RAM?", "Skip padding?", "Copy particles to scratch directory"),
    // src/acc/cuda/custom_allocator.cuh. A pool is read into RAM together, the device sees one particle for
    // each thread. Line of its own: "ERROR: CudaCustomAllocator out of memory", "[largestContinuousFreeSpace:".
    Tool {
        name: "RELION",
        files: &["/ml_optimiser.cpp", "/ml_optimiser_mpi.cpp", "/acc/cuda/custom_allocator.cuh"],
        scripts: &["relion_refine", "relion_refine_mpi", "relion"],
        clue: None,
        rows: &[
            ("less-at-once", RELION_RANKS),
            ("less-at-once", RELION_PADDING),
            ("less-at-once", RELION_SIGNIFICANT),
            (
                "less-at-once",
                option("--j <fewer>").note(
                    "and fewer ranks on each GPU: --gpu \"0:1:2:3\"",
                    "并减少每个 GPU 上的进程：--gpu \"0:1:2:3\"",
                ),
            ),
            ("smaller-images", RELION_PADDING),
            (
                "read-less-at-once",
                said(
                    Target::Program,
                    "no --preread_images; --scratch_dir <local disk> in its place",
                    "去掉 --preread_images，改用 --scratch_dir <本地磁盘>",
                ),
            ),
            ("read-less-at-once", option("--pool 1")),
            ("fewer-at-once", option("--j <fewer>").note("and fewer ranks (-np of mpirun)", "并减少 mpirun 的 -np")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "weight-offload"],
    },
    // COLMAP. Seen in colmap/colmap at 5d968cf (2026-08, 4.x): src/colmap/controllers/option_manager.cc,
    // doc/faq.rst (what to lower where memory is short; cache_size counts GB). Up to 3.12 the sections were
    // SiftExtraction and SiftMatching (an older version of the same file; that 3.13 renamed them is said by a
    // third project's notes). Line of its own: "Feature matching failed. This is probably caused by
    // insufficient GPU memory." (feature/sift.cc).
    Tool {
        name: "COLMAP",
        files: &["/colmap/src/", "/colmap/mvs/", "/colmap/feature/", "/colmap/controllers/"],
        scripts: &["colmap", "colmap.exe", "colmap.bat"],
        clue: None,
        rows: &[
            (
                "smaller-images",
                option("--PatchMatchStereo.max_image_size 1600")
                    .note("of patch_match_stereo", "用于 patch_match_stereo"),
            ),
            (
                "smaller-images",
                option("--FeatureExtraction.max_image_size 1600").note(
                    "of feature_extractor; up to 3.12 SiftExtraction.…",
                    "用于 feature_extractor；3.12 及以前为 SiftExtraction.…",
                ),
            ),
            (
                "less-at-once",
                option("--FeatureMatching.max_num_matches 8192")
                    .note("of the matchers; up to 3.12 SiftMatching.…", "用于各 matcher；3.12 及以前为 SiftMatching.…"),
            ),
            (
                "less-at-once",
                option("--PatchMatchStereo.max_image_size 1600")
                    .note("or __auto__, 10 in stereo/patch-match.cfg", "或在 stereo/patch-match.cfg 中写 __auto__, 10"),
            ),
            (
                "read-less-at-once",
                option("--PatchMatchStereo.cache_size <GB>")
                    .note("stereo_fusion: --StereoFusion.cache_size", "stereo_fusion 用 --StereoFusion.cache_size"),
            ),
            (
                "fewer-at-once",
                option("--FeatureExtraction.num_threads 2")
                    .note("up to 3.12 SiftExtraction.…", "3.12 及以前为 SiftExtraction.…"),
            ),
            ("other-device", option("--PatchMatchStereo.gpu_index <index>")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "weight-quantisation", "more-devices"],
    },
    // AliceVision and Meshroom. Seen in alicevision/AliceVision at ca8300f (2024-10): src/software/pipeline/
    // main_depthMapEstimation.cpp, main_featureExtraction.cpp, main_meshing.cpp, src/aliceVision/depthMap/
    // DepthMapEstimator.cpp; attributes of the nodes in alicevision/Meshroom,
    // meshroom/nodes/aliceVision/DepthMap.py (labels "Downscale" with 2 unless set, "Width" and "Height" of the
    // tiles with 1024, "Max Nb Neighbour Cameras"). It counts what fits and works in tiles by itself. Line of
    // its own: "Not enough GPU memory to compute a single tile."
    Tool {
        name: "AliceVision (Meshroom)",
        files: &["/alicevision/depthmap/", "/meshroom/core/"],
        scripts: &[
            "aliceVision_depthMapEstimation",
            "aliceVision_featureExtraction",
            "aliceVision_meshing",
            "meshroom_batch",
            "meshroom_photogrammetry",
        ],
        clue: None,
        rows: &[
            (
                "smaller-images",
                option("--downscale 4")
                    .note("in the window: node DepthMap, Downscale 4", "窗口中：DepthMap 节点，Downscale 设为 4"),
            ),
            (
                "less-at-once",
                option("--tileBufferWidth 512 --tileBufferHeight 512").note(
                    "in the window: node DepthMap, tiles of 512 by 512",
                    "窗口中：DepthMap 节点，分块宽高设为 512",
                ),
            ),
            (
                "read-less-at-once",
                option("--maxInputPoints <fewer>")
                    .note("of aliceVision_meshing, and --maxPoints", "用于 aliceVision_meshing，以及 --maxPoints"),
            ),
            (
                "fewer-at-once",
                option("--maxThreads 2").note("of aliceVision_featureExtraction", "用于 aliceVision_featureExtraction"),
            ),
        ],
        // In force: chunk-the-operation. No option: the rest.
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "weight-quantisation"],
    },
    // OpenDroneMap; WebODM shows the same names without hyphens in the options of a task. Seen in
    // OpenDroneMap/ODM at 32cfaac (2026-07): opendm/config.py (max-concurrency: all cores; pc-quality medium;
    // feature-quality high; split), stages/openmvs.py (turns tiles on by itself once it was killed, and falls
    // back to the CPU), stages/odm_app.py. --resize-to and --depthmap-resolution are listed there as
    // deprecated. Line of its own: "Whoops! You ran out of memory! Add more RAM to your computer".
    Tool {
        name: "OpenDroneMap",
        files: &[
            "/opendm/",
            "/stages/odm_app.py",
            "/stages/run_opensfm.py",
            "/opendronemap/src/opensfm/",
            "/superbuild/src/opensfm/",
            "/superbuild/install/bin/opensfm/",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            ("fewer-at-once", option("--max-concurrency 2").note("all cores unless set", "默认用全部核心")),
            ("fewer-workers", option("--max-concurrency 2").note("all cores unless set", "默认用全部核心")),
            (
                "read-less-at-once",
                option("--split 100 --split-overlap 100").note(
                    "pictures in each part, metres; without it: fewer or smaller pictures",
                    "每部分的照片数、重叠米数；旧版没有：减少或缩小照片",
                ),
            ),
            (
                "smaller-images",
                option("--pc-quality low --feature-quality medium")
                    .note("or pictures made smaller before", "或事先缩小照片"),
            ),
            ("less-at-once", option("--pc-quality low").note("or --no-gpu", "或 --no-gpu")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "weight-quantisation", "more-devices"],
    },
    // OpenDroneMap where a program of its own fails, in whose folder (OpenDroneMap/bin) it shows, by its orthophoto: a
    // picture of the model's bounds in one array. Seen in OpenDroneMap/ODM, its issues 225 (800 TB at 20 pixels a
    // metre), 200 (109 GB, made with 1.0), 1085 and 1020 (--orthophoto-resolution in cm a pixel, a larger one is
    // coarser; -resolution is odm_orthophoto's own, in pixels a metre), and 1815 (bounds of 15 by 21 km).
    Tool {
        name: "OpenDroneMap's orthophoto",
        files: &[],
        scripts: &["opendronemap", "odm_orthophoto", "enough memory to render the orthophoto"],
        clue: None,
        rows: &[
            ("less-at-once", ODM_ORTHOPHOTO),
            ("read-less-at-once", ODM_ORTHOPHOTO),
            ("fix-the-shape", ODM_ORTHOPHOTO),
            ("fewer-at-once", option("--max-concurrency 2").note("all cores unless set", "默认用全部核心")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "weight-quantisation", "more-devices"],
    },
    // TotalSegmentator. Seen in wasserth/TotalSegmentator at 0e65a44 (2026-08): README.md (resource
    // requirements), totalsegmentator/bin/TotalSegmentator.py (nr_thr_saving 6, nr_thr_resamp 1). It runs
    // nnU-Net 2: stands before it.
    Tool {
        name: "TotalSegmentator",
        files: &["/totalsegmentator/"],
        scripts: &["TotalSegmentator"],
        clue: None,
        rows: &[
            (
                "smaller-images",
                option("--fast").note("3 mm in place of 1.5; or --body_seg", "3 毫米代替 1.5；或 --body_seg"),
            ),
            (
                "read-less-at-once",
                option("--force_split").note("three parts; of large pictures only", "分三部分；仅用于大图像"),
            ),
            (
                "less-at-once",
                option("--force_split").note("or --fast, --roi_subset <classes>", "或 --fast、--roi_subset <类别>"),
            ),
            ("fewer-workers", option("--nr_thr_saving 1").note("6 unless set", "默认 6")),
            ("fewer-at-once", option("--nr_thr_saving 1").note("6 unless set", "默认 6")),
            ("other-device", option("--device gpu:<index>")),
            ("shm-size", option("docker run --shm-size=16G ...")),
        ],
        lacks: &[
            "smaller-batch",
            "mixed-precision",
            "chunk-the-operation",
            "no-grad-in-eval",
            "weight-quantisation",
            "more-devices",
        ],
    },
    // cellpose's window. Seen in MouseLand/cellpose at 849ca11 (2026-03, 4.x): cellpose/gui/gui.py has a tick
    // "use GPU" and no word of a batch. Weights are bfloat16 by themselves from 4 on (cellpose/models.py,
    // use_bfloat16).
    Tool {
        name: "cellpose's window",
        files: &["/cellpose/gui/"],
        scripts: &[],
        clue: None,
        rows: &[(
            "smaller-images",
            said(
                Target::Program,
                "a smaller or cropped picture, or no tick at \"use GPU\"; the command has --batch_size 1",
                "更小或裁剪后的图片，或取消勾选 use GPU；命令行可用 --batch_size 1",
            ),
        )],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "weight-quantisation", "no-grad-in-eval"],
    },
    // cellpose's command (the package is a library too: its other files are not named here). Same place:
    // cellpose/cli.py (batch_size 8; train_batch_size 1 in 4.x), docs/benchmark.rst. It works in tiles by
    // itself, trains in 32 bit (cellpose/train.py) and has no option for checkpoints of activations.
    Tool {
        name: "cellpose's command",
        files: &["/cellpose/__main__.py", "/cellpose/cli.py"],
        scripts: &["cellpose"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch_size 1").note("8 unless set", "默认 8").unless("trains")),
            ("smaller-batch", option("--train_batch_size {batch}").when("trains")),
            ("smaller-eval-batch", option("--batch_size {tried}")),
            ("other-device", option("--gpu_device <index>")),
        ],
        // In force: chunk-the-operation (tiles). No option: the rest.
        lacks: &[
            "mixed-precision",
            "chunk-the-operation",
            "gradient-checkpointing",
            "gradient-accumulation",
            "weight-quantisation",
            "no-grad-in-eval",
            "more-devices",
        ],
    },
    // Kilosort 4, by its window or by run_kilosort(settings={...}). Seen in MouseLand/Kilosort at d947208
    // (2026-01, 4.1.5): kilosort/parameters.py (batch_size 60000 samples, cluster_downsampling 20 again from
    // 4.1.3 on, max_cluster_subset 25000), docs/hardware.rst (1 s or 0.5 s a batch; dminx),
    // kilosort/gui/run_box.py ("Clear PyTorch Cache"). Lines of its own: "Kilosort version 4.1.5", "Out of
    // memory error, printing performance...".
    Tool {
        name: "Kilosort 4",
        files: &["/kilosort/run_kilosort.py", "/kilosort/clustering_qr.py", "/kilosort/gui/"],
        scripts: &["kilosort"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "batch size (batch_size in settings) 30000: 60000 samples unless set",
                    "batch size（settings 中为 batch_size）设为 30000：默认 60000 个采样",
                ),
            ),
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "a larger cluster downsampling (cluster_downsampling), where clustering fails: 20 unless set",
                    "若在聚类时失败：增大 cluster downsampling（cluster_downsampling），默认 20",
                ),
            ),
            (
                "less-at-once",
                said(
                    Target::Program,
                    "batch size (batch_size in settings) 30000: 60000 samples unless set",
                    "batch size（settings 中为 batch_size）设为 30000：默认 60000 个采样",
                ),
            ),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "smaller-images", "more-devices", "weight-quantisation"],
    },
    // Kilosort 1 to 3 (MATLAB). Seen in cortex-lab/KiloSort at 3011620 (1: fullMPMU.m takes NT × Nfilt at once,
    // configFiles/StandardConfig_MOVEME.m: ops.NT 32*1024 + ops.ntbuff, ops.Nfilt a multiple of 32, 2 to 4 times the
    // channels), and in MouseLand/Kilosort, configFiles/configFile384.m of 2 and 3: ops.NT
    // is the batch, to be lowered where memory is short, a multiple of 32 plus ops.ntbuff; ops.useRAM 0 by
    // itself. Its functions as files of the repository: mainLoop/learnAndSolve8b.m,
    // clustering/template_learning.m (their form in a log of MATLAB, "Error in learnAndSolve8b (line 90)", was
    // not seen).
    Tool {
        name: "Kilosort 1 to 3",
        files: &[
            "/learnandsolve8b.m",
            "/template_learning.m",
            "/configfile384.m",
            "/fullmpmu.m",
            "/fittemplates.m",
            "/master_kilosort.m",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("ops.NT = 32*1024 + ops.ntbuff;")
                    .note("in the configuration; then 16*1024", "写在配置文件中；再试 16*1024"),
            ),
            (
                "less-at-once",
                option("ops.NT = 32*1024 + ops.ntbuff;")
                    .note("in the configuration; then 16*1024", "写在配置文件中；再试 16*1024"),
            ),
            (
                "less-at-once",
                option("ops.Nfilt = 512;")
                    .note("1: a multiple of 32, 2 to 4 times the channels", "1 版：32 的倍数，通道数的 2 至 4 倍"),
            ),
            (
                "other-device",
                option("gpuDevice(<number>)").note("gpuDevice(1) resets the first", "gpuDevice(1) 重置第一块"),
            ),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "smaller-images", "more-devices", "weight-quantisation"],
    },
    // instant-ngp. Seen in NVlabs/instant-ngp at abe236e (2026-02): src/main.cu and scripts/run.py have no
    // option for memory; --network takes a configuration (configs/nerf: base.json 2^19 entries a level,
    // small.json 2^15), docs/nerf_dataset_tips.md (aabb_scale in transforms.json, a power of 2). It trains in
    // 16 bit, without a batch to set. Its issue 182: pictures are kept with 4 channels of 16 bit. Until the end of 2022
    // it was built as testbed; its own allocator names its folder.
    Tool {
        name: "instant-ngp",
        files: &["/instant-ngp/"],
        scripts: &[
            "instant-ngp",
            "instant-ngp.exe",
            "testbed.exe",
            "instant-ngp/dependencies/tiny-cuda-nn",
            "instant-ngp\\dependencies\\tiny-cuda-nn\\include\\tiny-cuda-nn/",
        ],
        clue: None,
        rows: &[
            ("less-at-once", INSTANT_NGP_PICTURES),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "fewer or smaller pictures, or a smaller aabb_scale in transforms.json",
                    "更少或更小的图片，或减小 transforms.json 中的 aabb_scale",
                ),
            ),
            ("less-at-once", option("--network configs/nerf/small.json").note("a smaller table", "更小的哈希表")),
        ],
        lacks: &[
            "smaller-batch",
            "gradient-accumulation",
            "gradient-checkpointing",
            "mixed-precision",
            "weight-offload",
            "more-devices",
            "chunk-the-operation",
        ],
    },
    // private-gpt. Seen in zylon-ai/private-gpt: settings.yaml of 0.x (llm.context_window 3900,
    // llamacpp.llm_hf_model_file, embedding.ingest_mode) and of 1.0.1 (ab89a0d, 2026-08: models stand in a list
    // with context_window and embedding_batch_size; private_gpt/settings/settings.py, PGPT_MAX_WORKERS). From
    // 1.0 on other servers run the models.
    Tool {
        name: "private-gpt",
        files: &["/private_gpt/"],
        scripts: &["private-gpt", "private_gpt"],
        clue: None,
        rows: &[
            (
                "max-model-len",
                option("context_window: <smaller>")
                    .note("settings.yaml, below llm or the model", "settings.yaml，在 llm 或模型之下"),
            ),
            // -1, all of them, stands in private_gpt/components/llm/llm_component.py (0.x).
            (
                "weight-offload",
                said(
                    Target::Program,
                    "n_gpu_layers in model_kwargs of llm_component.py: -1 (all) unless changed",
                    "llm_component.py 的 model_kwargs 中的 n_gpu_layers：默认 -1（全部）",
                ),
            ),
            (
                "weight-quantisation",
                option("llm_hf_model_file: <file of fewer bits>.gguf")
                    .note("settings.yaml, below llamacpp, 0.x", "settings.yaml 的 llamacpp 之下，0.x"),
            ),
            (
                "smaller-batch",
                option("embedding_batch_size: 8")
                    .note("settings.yaml, in the model, from 1.0 on", "settings.yaml 的模型之下，1.0 起"),
            ),
            (
                "fewer-at-once",
                option("ingest_mode: simple").note("settings.yaml, below embedding", "settings.yaml 的 embedding 之下"),
            ),
        ],
        lacks: &["chunk-the-operation", "no-grad-in-eval", "mixed-precision", "lower-engine-memory"],
    },
    // LocalAI. Seen in mudler/LocalAI at 82c191a (2026-08): docs/content/advanced/model-configuration.md and
    // core/config/model_config.go (keys of a model's YAML; gpu_memory_utilization, max_model_len,
    // tensor_parallel_size, swap_space for vLLM; a quantised V cache needs flash_attention),
    // docs/content/reference/cli-reference.md (--max-active-backends, which replaces --single-active-backend;
    // LOCALAI_SINGLE_ACTIVE_BACKEND is read still, and is the one that older releases know). What a backend writes
    // stands behind a mark of its own: "5:32AM DBG GRPC(model-127.0.0.1:43735): stderr ...".
    Tool {
        name: "LocalAI",
        files: &[],
        scripts: &["local-ai", " DBG GRPC(", " INF GRPC("],
        clue: None,
        rows: &[
            ("max-model-len", option("context_size: <smaller>").note("the model's YAML", "模型的 YAML")),
            (
                "weight-offload",
                option("gpu_layers: <fewer>").note("the model's YAML; llama.cpp", "模型的 YAML；llama.cpp"),
            ),
            (
                "kv-cache-dtype",
                option("cache_type_k: q8_0").note(
                    "and cache_type_v: q8_0, which needs flash_attention",
                    "以及 cache_type_v: q8_0（需要 flash_attention）",
                ),
            ),
            (
                "fewer-sequences",
                option("batch: 256")
                    .note("the model's YAML; parallel:1 in options", "模型的 YAML；options 中 parallel:1"),
            ),
            ("lower-engine-memory", option("gpu_memory_utilization: {tried}").note("vLLM", "vLLM")),
            ("raise-engine-memory", option("gpu_memory_utilization: {tried}").note("vLLM", "vLLM")),
            (
                "more-devices",
                option("tensor_split: 1,1")
                    .note("llama.cpp; vLLM: tensor_parallel_size", "llama.cpp；vLLM 用 tensor_parallel_size"),
            ),
            ("fewer-at-once", LOCALAI_ONE_MODEL),
            ("free-the-device", LOCALAI_ONE_MODEL),
            (
                "free-the-device",
                line(Target::Shell, "nvidia-smi --query-compute-apps=pid,used_memory,process_name --format=csv"),
            ),
            (
                "other-device",
                said(
                    Target::Program,
                    "CUDA_VISIBLE_DEVICES=<index> in the environment of its container",
                    "在其容器的环境变量中设置 CUDA_VISIBLE_DEVICES=<index>",
                ),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "a GGUF of fewer bits in the model's YAML",
                    "在模型的 YAML 中使用位数更少的 GGUF",
                ),
            ),
        ],
        lacks: &["chunk-the-operation", "no-grad-in-eval", "smaller-images"],
    },
    // LM Studio. Seen in lmstudio.ai/docs/cli/load (lms load: --gpu, --context-length, --estimate-only) and in
    // lmstudio-ai/lmstudio-bug-tracker #688, #1508, #900, #1753 (names in the window: "GPU Offload", "Context
    // Length", "Evaluation Batch Size" 512, "Offload KV Cache to GPU Memory" since 0.3.16 by #665, "K Cache
    // Quantization Type"). No sources are public. Line of its own: "[LM Studio] Resolved GPU config options:".
    Tool {
        name: "LM Studio",
        files: &["/.cache/lm-studio/"],
        scripts: &["lms"],
        clue: None,
        rows: &[
            (
                "max-model-len",
                said(
                    Target::Program,
                    "a smaller Context Length where the model is loaded (lms load --context-length {shown})",
                    "加载模型时减小 Context Length（lms load --context-length {shown}）",
                ),
            ),
            (
                "weight-offload",
                said(
                    Target::Program,
                    "a lower GPU Offload where the model is loaded (lms load --gpu 0.5)",
                    "加载模型时减小 GPU Offload（lms load --gpu 0.5）",
                ),
            ),
            (
                "kv-cache-dtype",
                said(
                    Target::Program,
                    "K Cache Quantization Type and V Cache Quantization Type Q8_0, with Flash Attention",
                    "K/V Cache Quantization Type 设为 Q8_0，并打开 Flash Attention",
                ),
            ),
            ("fewer-sequences", said(Target::Program, "Evaluation Batch Size 256", "Evaluation Batch Size 设为 256")),
        ],
        lacks: &["lower-engine-memory", "raise-engine-memory", "chunk-the-operation", "no-grad-in-eval"],
    },
    // The loader ExLlamaV2 in text-generation-webui. Seen in oobabooga/text-generation-webui, README.md of 2024:
    // --max_seq_len, --cache_8bit, --cache_4bit, --gpu-split.
    Tool {
        name: "ExLlamaV2 in text-generation-webui",
        files: &["/modules/exllamav2.py", "/modules/exllamav2_hf.py"],
        scripts: &["Insufficient VRAM for model and cache"],
        clue: None,
        rows: &[
            (
                "max-model-len",
                option("--max_seq_len 16384").note("then 8192; in the Model tab", "再试 8192；在 Model 页设置"),
            ),
            ("kv-cache-dtype", option("--cache_4bit").note("or --cache_8bit", "或 --cache_8bit")),
            (
                "weight-quantisation",
                said(Target::Program, "an EXL2 of fewer bits for each weight", "每权重位数更少的 EXL2"),
            ),
            ("more-devices", option("--gpu-split 20,20").note("GiB for each", "每块的 GiB 数")),
        ],
        lacks: &[
            "weight-offload",
            "raise-engine-memory",
            "lower-engine-memory",
            "chunk-the-operation",
            "no-grad-in-eval",
        ],
    },
    // text-generation-webui. Seen in oobabooga/text-generation-webui at 1dcde41 (2026-05, 4.7.3): modules/shared.py.
    // Older names stay as aliases: --n_ctx and --max_seq_len, --cache_type, --n-gpu-layers. --load-in-4bit is of the
    // loader Transformers, --gpu-split and --enable-tp of ExLlamaV3, --gpu-layers, --cpu-moe, --ubatch-size, --parallel
    // of llama.cpp. README.md of 2024: --max_seq_len, --cache_8bit and --cache_4bit of ExLlamaV2. In its container the
    // folder is /app.
    Tool {
        name: "text-generation-webui",
        files: &["/text-generation-webui/", "/app/modules/models.py"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "max-model-len",
                option("--ctx-size {shown}").note("older: --n_ctx, --max_seq_len", "旧版：--n_ctx、--max_seq_len"),
            ),
            (
                "max-model-len",
                said(
                    Target::Program,
                    "ExLlamaV2: max_seq_len 16384, then 8192, in the Model tab, and cache_4bit or cache_8bit",
                    "ExLlamaV2：在 Model 页设 max_seq_len 为 16384，再试 8192，并启用 cache_4bit 或 cache_8bit",
                ),
            ),
            (
                "weight-offload",
                option("--gpu-layers <fewer>").note("llama.cpp; MoE: --cpu-moe", "llama.cpp；MoE 用 --cpu-moe"),
            ),
            (
                "kv-cache-dtype",
                option("--cache-type q8_0").note("llama.cpp; ExLlamaV3: q8", "llama.cpp；ExLlamaV3 用 q8"),
            ),
            (
                "weight-quantisation",
                option("--load-in-4bit").note(
                    "Transformers; else a GGUF or EXL3 of fewer bits",
                    "Transformers；否则换位数更少的 GGUF 或 EXL3",
                ),
            ),
            (
                "fewer-sequences",
                option("--ubatch-size 256").note("1024 unless set; and --parallel 1", "默认 1024；以及 --parallel 1"),
            ),
            (
                "more-devices",
                option("--gpu-split 20,20")
                    .note("ExLlama; llama.cpp: --tensor-split 1,1", "ExLlama；llama.cpp 用 --tensor-split 1,1"),
            ),
            ("fused-attention", option("--attn-implementation flash_attention_2").note("Transformers", "Transformers")),
        ],
        lacks: &["lower-engine-memory", "raise-engine-memory", "chunk-the-operation", "no-grad-in-eval"],
    },
    // TabbyAPI. Seen in theroyallab/tabbyAPI at e632af4 (2026-08): config_sample.yml, section model (cache_size
    // 4096 tokens, a multiple of 256; cache_mode a pair of bits, FP16/Q8/Q6/Q4 before; chunk_size 2048;
    // max_batch_size 32).
    Tool {
        name: "TabbyAPI",
        files: &["/tabbyapi/", "/backends/exllamav3/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "max-model-len",
                option("max_seq_len: {shown}").note("and cache_size, config.yml", "以及 cache_size，config.yml"),
            ),
            ("kv-cache-dtype", option("cache_mode: 8,8").note("older: Q8; then 4,4", "旧版：Q8；再试 4,4")),
            (
                "fewer-sequences",
                option("chunk_size: 512")
                    .note("2048 unless set; and max_batch_size: 1", "默认 2048；以及 max_batch_size: 1"),
            ),
            ("more-devices", option("tensor_parallel: true").note("or gpu_split: [20, 20]", "或 gpu_split: [20, 20]")),
            (
                "weight-offload",
                option("cpu_moe_offload_layers: 999")
                    .note("models with experts only, newest releases", "仅 MoE 模型，较新版本"),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "a model of fewer bits (EXL3) as model_name",
                    "model_name 换成位数更少的 EXL3 模型",
                ),
            ),
        ],
        lacks: &["lower-engine-memory", "raise-engine-memory", "chunk-the-operation", "mixed-precision"],
    },
    // infinity. Seen in michaelfeil/infinity at fcb951c (2025-10): infinity_emb/cli.py, command v2 (batch_size
    // 32, dtype auto with float16, bfloat16, int8, fp8; lengths_via_tokenize; device_id),
    // infinity_emb/primitives.py. Options can be given as INFINITY_… too. A library of others as well: only its
    // server's file, its command and the folder of its image are named.
    Tool {
        name: "infinity_emb",
        files: &["/infinity_emb/infinity_server.py", "/infinity_emb/cli.py", "/app/infinity_emb/"],
        scripts: &["infinity_emb"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch-size 8").note("32 unless set", "默认 32")),
            ("fewer-sequences", option("--batch-size 8").note("32 unless set", "默认 32")),
            ("mixed-precision", option("--dtype float16")),
            ("weight-quantisation", option("--dtype int8").note("or a smaller --model-id", "或更小的 --model-id")),
            ("other-device", option("--device-id <index>")),
        ],
        lacks: &[
            "shorter-sequences",
            "max-model-len",
            "kv-cache-dtype",
            "weight-offload",
            "lower-engine-memory",
            "raise-engine-memory",
            "chunk-the-operation",
        ],
    },
    // text-embeddings-inference. Seen in huggingface/text-embeddings-inference at 0d124dc (2026-07, 1.9.3):
    // router/src/main.rs (max_batch_tokens 16384, max_batch_requests, max_client_batch_size 32,
    // max_concurrent_requests 512, auto_truncate true; dtype), backends (Float16, Float32, Bfloat16). Longer
    // inputs than max-batch-tokens are cut while it is true.
    Tool {
        name: "text-embeddings-inference",
        files: &["/text_embeddings_server/"],
        scripts: &["text-embeddings-router"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--max-batch-tokens 4096").note("16384 unless set", "默认 16384")),
            (
                "fewer-sequences",
                option("--max-batch-tokens 4096")
                    .note("16384 unless set; or --max-batch-requests 4", "默认 16384；或 --max-batch-requests 4"),
            ),
            ("mixed-precision", option("--dtype float16")),
            ("fewer-at-once", option("--tokenization-workers 2").note("host memory", "主机内存")),
        ],
        lacks: &[
            "weight-quantisation",
            "weight-offload",
            "kv-cache-dtype",
            "more-devices",
            "max-model-len",
            "lower-engine-memory",
            "raise-engine-memory",
            "chunk-the-operation",
        ],
    },
    // Xinference where a model embeds or ranks: the same place. What it holds beside its weights are one request's
    // texts. --gpu-idx names the GPUs that a model may use, --replica starts it more than once; --n-gpu, quantised
    // files and vLLM's options are of the models that generate.
    Tool {
        name: "Xinference's embedding models",
        files: &["/xinference/model/embedding/", "/xinference/model/rerank/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", SHORTER_REQUESTS),
            ("less-at-once", SHORTER_REQUESTS),
            ("shorter-sequences", SHORTER_REQUESTS),
            ("other-device", option("--gpu-idx <index>").note("of xinference launch", "用于 xinference launch")),
        ],
        lacks: &[
            "more-devices",
            "weight-offload",
            "weight-quantisation",
            "kv-cache-dtype",
            "max-model-len",
            "chunk-the-operation",
            "no-grad-in-eval",
            "mixed-precision",
            "lower-engine-memory",
            "raise-engine-memory",
        ],
    },
    // Xinference. Seen in xorbitsai/inference at 7ecec16 (2026-08): xinference/deploy/cmdline.py (launch:
    // --quantization, --n-gpu, --replica; unknown options are passed on),
    // doc/source/getting_started/using_xinference.rst (--gpu_memory_utilization 0.9 reaches vLLM),
    // xinference/model/llm/vllm/core.py (VLLMModelConfig: max_model_len, max_num_seqs, tensor_parallel_size;
    // 0.90 by itself). kv_cache_dtype is not in that list.
    Tool {
        name: "Xinference",
        files: &["/xinference/core/", "/xinference/model/", "/xinference/deploy/"],
        scripts: &["xinference", "xinference-local", "xinference-worker", "xinference-supervisor"],
        clue: None,
        rows: &[
            (
                "max-model-len",
                option("--max_model_len {shown}").note("of xinference launch; vLLM", "用于 xinference launch；vLLM"),
            ),
            (
                "lower-engine-memory",
                option("--gpu_memory_utilization {tried}")
                    .note("of xinference launch; vLLM", "用于 xinference launch；vLLM"),
            ),
            (
                "raise-engine-memory",
                option("--gpu_memory_utilization {tried}")
                    .note("of xinference launch; vLLM", "用于 xinference launch；vLLM"),
            ),
            (
                "fewer-sequences",
                option("--max_num_seqs <fewer>").note("of xinference launch; vLLM", "用于 xinference launch；vLLM"),
            ),
            ("more-devices", option("--n-gpu <number>").note("of xinference launch", "用于 xinference launch")),
            ("other-device", option("--gpu-idx <index>").note("of xinference launch", "用于 xinference launch")),
            (
                "weight-quantisation",
                option("--quantization <bits>")
                    .note("of xinference launch, with --model-format", "用于 xinference launch，配合 --model-format"),
            ),
        ],
        lacks: &["chunk-the-operation", "no-grad-in-eval", "mixed-precision", "smaller-images"],
    },
    // GPUStack. Seen in gpustack/gpustack at 47277d7 (2026-08): docs/faq.md (Edit Model → Advanced → Backend
    // Parameters takes the engine's own options; --max-model-len is 8192 by itself, 90 % of the memory must be
    // free), docs/tutorials/inference-on-cpus.md ("Allow CPU Offloading"). What is listed is vLLM's.
    Tool {
        name: "GPUStack",
        files: &["/gpustack/worker/", "/gpustack/server/", "/gpustack/scheduler/"],
        scripts: &["gpustack"],
        clue: None,
        rows: &[
            (
                "max-model-len",
                option("--max-model-len={shown}")
                    .note("Edit Model → Advanced → Backend Parameters", "Edit Model → Advanced → Backend Parameters"),
            ),
            (
                "lower-engine-memory",
                option("--gpu-memory-utilization={tried}")
                    .note("Edit Model → Advanced → Backend Parameters", "Edit Model → Advanced → Backend Parameters"),
            ),
            (
                "raise-engine-memory",
                option("--gpu-memory-utilization={tried}")
                    .note("Edit Model → Advanced → Backend Parameters", "Edit Model → Advanced → Backend Parameters"),
            ),
            (
                "weight-offload",
                said(
                    Target::Program,
                    "tick Allow CPU Offloading in the model's advanced settings, where the engine can",
                    "在模型的高级设置中勾选 Allow CPU Offloading（引擎需支持）",
                ),
            ),
        ],
        lacks: &["chunk-the-operation", "no-grad-in-eval", "smaller-batch"],
    },
    // Fooocus. Seen in lllyasviel/Fooocus at 59f183a (2025-01): ldm_patched/modules/args_parser.py,
    // args_manager.py. It lowers its use by itself (Fooocus issue #1984: a low-VRAM mode where little is free),
    // and draws one picture after another ("Image Number"). Names of releases before were not seen. Lines of
    // its own: "Fooocus version: 2.5.5", "[System ARGV]".
    Tool {
        name: "Fooocus",
        files: &["/fooocus/modules/", "/fooocus/webui.py", "/fooocus/ldm_patched/", "/fooocus/extras/"],
        scripts: &["entry_with_update.py"],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("--always-low-vram").note(
                    "then --always-no-vram; more RAM or swap may be short",
                    "再试 --always-no-vram；内存或交换空间可能不足",
                ),
            ),
            ("vae-tiling", option("--vae-in-cpu").note("tiles it tries by itself", "分块会自动尝试")),
            ("fused-attention", option("--attention-split").note("or --attention-pytorch", "或 --attention-pytorch")),
            ("weight-quantisation", option("--unet-in-fp8-e4m3fn --clip-in-fp8-e4m3fn")),
            (
                "smaller-images",
                said(Target::Program, "a smaller size at Aspect Ratios", "在 Aspect Ratios 中选更小的尺寸"),
            ),
            ("other-device", option("--gpu-device-id <index>")),
        ],
        // In force: mixed-precision. No option: the rest.
        lacks: &["mixed-precision", "smaller-batch", "chunk-the-operation", "no-grad-in-eval", "more-devices"],
    },
    // InvokeAI up to 2.3, in ldm/invoke/: options of its command, which invoke.sh reads from invokeai.init as well.
    // Seen in invoke-ai/InvokeAI: ldm/invoke/args.py of 2.1 (--free_gpu_mem, --precision, --max_loaded_models 2,
    // --no_restore, --no_upscale, -W, -H), ldm/invoke/globals.py (always_use_cpu; the option as --always_use_cpu in
    // ldm/invoke/app/api/dependencies.py of 2.3).
    Tool {
        name: "InvokeAI up to 2.3",
        files: &["/ldm/invoke/"],
        scripts: &["invoke.sh", "invoke.bat"],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("--free_gpu_mem").note(
                    "in invokeai.init; and --max_loaded_models 1",
                    "写入 invokeai.init；以及 --max_loaded_models 1",
                ),
            ),
            (
                "more-devices",
                option("--always_use_cpu")
                    .note("in invokeai.init; else 4 GB are its least", "写入 invokeai.init；否则至少 4 GB"),
            ),
            ("other-device", option("--always_use_cpu").note("in invokeai.init", "写入 invokeai.init")),
            ("mixed-precision", option("--precision float16").note("in invokeai.init", "写入 invokeai.init")),
            ("smaller-images", option("-W 512 -H 512").note("multiples of 64", "64 的倍数")),
            ("smaller-batch", option("--no_restore --no_upscale").note("in invokeai.init", "写入 invokeai.init")),
            ("less-at-once", INVOKEAI_MODELS),
            ("read-less-at-once", INVOKEAI_MODELS),
            ("raise-host-limit", INVOKEAI_MODELS),
            ("raise-host-limit", said(Target::Program, "or a machine with more RAM", "或内存更大的机器")),
        ],
        lacks: &["chunk-the-operation", "no-grad-in-eval", "weight-quantisation"],
    },
    // InvokeAI. Seen in invoke-ai/InvokeAI at 8e71a8a (6.14 alpha):
    // invokeai/app/services/config/config_default.py, docs/.../configuration/low-vram-mode.mdx (keys of
    // invokeai.yaml; from 5.6.0 on caches have no fixed size and the keys ram and vram are dead;
    // enable_partial_loading is true by itself in this version, it was not at first: since which release was
    // not seen). invokeai-web takes --root and --config only.
    Tool {
        name: "InvokeAI",
        files: &["/invokeai/app/", "/invokeai/backend/"],
        scripts: &["invokeai-web"],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("enable_partial_loading: true").note("invokeai.yaml, 5.6 or newer", "invokeai.yaml，5.6 及以后"),
            ),
            (
                "weight-offload",
                option("device_working_mem_gb: 4").note(
                    "invokeai.yaml: 3 unless set; more room for steps",
                    "invokeai.yaml：默认 3；给计算留更多空间",
                ),
            ),
            ("vae-tiling", option("force_tiled_decode: true").note("invokeai.yaml", "invokeai.yaml")),
            (
                "smaller-batch",
                option("sequential_guidance: true")
                    .note("invokeai.yaml: guidance one after another", "invokeai.yaml：逐次计算引导"),
            ),
            ("mixed-precision", option("precision: float16").note("invokeai.yaml", "invokeai.yaml")),
            (
                "read-less-at-once",
                option("max_cache_ram_gb: <GB>").note(
                    "invokeai.yaml; or keep_ram_copy_of_weights: false",
                    "invokeai.yaml；或 keep_ram_copy_of_weights: false",
                ),
            ),
            ("smaller-images", said(Target::Program, "width {shown}, height {shown}", "宽 {shown}，高 {shown}")),
        ],
        lacks: &["chunk-the-operation", "no-grad-in-eval", "more-devices"],
    },
    // Forge. Seen in lllyasviel/stable-diffusion-webui-forge at dfdcbab (2025-06): backend/args.py (its own
    // switches in place of --medvram and --lowvram, which are still parsed), modules_forge/main_entry.py ("GPU
    // Weights (MB)", "Diffusion in Low Bits"), extensions-builtin/sd_forge_neveroom ("Enabled for VAE (always
    // tiled)"). It stands before the older UI. Line of its own: "[Low VRAM Warning] To solve the problem, you
    // can set the 'GPU Weights'".
    Tool {
        name: "Forge's web UI",
        files: &["/stable-diffusion-webui-forge/", "/modules_forge/", "/webui_forge_"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "weight-offload",
                said(
                    Target::Program,
                    "a lower GPU Weights (MB), at the top of the page",
                    "调低页面顶部的 GPU Weights (MB)",
                ),
            ),
            (
                "weight-offload",
                option("--always-low-vram")
                    .note("in COMMANDLINE_ARGS; then --always-no-vram", "写入 COMMANDLINE_ARGS；再试 --always-no-vram"),
            ),
            (
                "vae-tiling",
                said(
                    Target::Program,
                    "Never OOM Integrated: Enabled for VAE (always tiled)",
                    "Never OOM Integrated：勾选 Enabled for VAE (always tiled)",
                ),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "Diffusion in Low Bits, at the top of the page",
                    "页面顶部的 Diffusion in Low Bits",
                ),
            ),
            ("smaller-batch", said(Target::Program, "Batch size 1", "Batch size 设为 1")),
            ("smaller-images", said(Target::Program, "Width {shown}, Height {shown}", "Width {shown}，Height {shown}")),
            ("fused-attention", option("--attention-split").note("in COMMANDLINE_ARGS", "写入 COMMANDLINE_ARGS")),
            ("other-device", option("--gpu-device-id <index>")),
        ],
        // In force: mixed-precision.
        lacks: &["mixed-precision", "chunk-the-operation", "no-grad-in-eval", "more-devices"],
    },
    // AUTOMATIC1111's web UI. Seen in AUTOMATIC1111/stable-diffusion-webui: modules/cmd_args.py,
    // modules/shared_options.py (stored versions of 1.6 to 1.7; "Maximum number of checkpoints loaded at the
    // same time", "FP8 weight" in later ones). --medvram-sdxl by Forge's copy of the same file. Options go into
    // COMMANDLINE_ARGS of webui-user.bat or .sh. On a Mac the watermark may lie above what the card has (Fooocus' issue
    // 1152: 6.80 GB allowed on a Radeon of 4 GB), so that fewer parts of the model on it come beside a higher one.
    Tool {
        name: "AUTOMATIC1111's web UI",
        files: &["/stable-diffusion-webui/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("--medvram").note(
                    "in COMMANDLINE_ARGS; SDXL alone: --medvram-sdxl; then --lowvram",
                    "写入 COMMANDLINE_ARGS；仅 SDXL：--medvram-sdxl；再试 --lowvram",
                ),
            ),
            (
                "mps-watermark",
                option("--medvram").note(
                    "in COMMANDLINE_ARGS; then --lowvram, and a smaller Width and Height",
                    "写入 COMMANDLINE_ARGS；再试 --lowvram，并减小 Width 与 Height",
                ),
            ),
            (
                "mps-watermark",
                line(Target::Shell, "export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0")
                    .note("no limit: save your work first", "取消上限：请先保存工作"),
            ),
            (
                "fused-attention",
                option("--xformers").note(
                    "or --opt-sdp-attention; least: --opt-sub-quad-attention",
                    "或 --opt-sdp-attention；最省：--opt-sub-quad-attention",
                ),
            ),
            (
                "vae-tiling",
                said(
                    Target::Program,
                    "Settings → VAE: VAE type for decode TAESD; tiles need an extension",
                    "Settings → VAE：VAE type for decode 选 TAESD；分块需要扩展",
                ),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "Settings → Optimizations: FP8 weight, where the release has it",
                    "Settings → Optimizations：FP8 weight（若该版本有）",
                ),
            ),
            ("smaller-batch", said(Target::Program, "Batch size 1", "Batch size 设为 1")),
            ("smaller-images", said(Target::Program, "Width {shown}, Height {shown}", "Width {shown}，Height {shown}")),
            ("other-device", option("--device-id <index>")),
        ],
        // In force: mixed-precision, unless --no-half or --precision full is given.
        lacks: &["mixed-precision", "chunk-the-operation", "no-grad-in-eval", "more-devices"],
    },
    // FramePack. Seen in lllyasviel/FramePack at 97fe5db (2025-10): demo_gradio.py (options are only share,
    // server, port, inbrowser; the slider "GPU Inference Preserved Memory (GB) (larger means slower)", 6 and
    // more; up to 60 GB free it tiles the VAE and offloads by itself; weights in 16 bit). The length of a video
    // hardly matters to it. Lines of its own: "High-VRAM Mode: False", "Free VRAM 11.0 GB".
    Tool {
        name: "FramePack",
        files: &["/demo_gradio_f1.py", "/framepack/"],
        scripts: &["demo_gradio_f1.py"],
        clue: None,
        rows: &[(
            "weight-offload",
            said(
                Target::Program,
                "a larger GPU Inference Preserved Memory (GB) in the window",
                "在窗口中调大 GPU Inference Preserved Memory (GB)",
            ),
        )],
        // In force: vae-tiling (below 60 GB), mixed-precision. No option: the rest.
        lacks: &[
            "vae-tiling",
            "mixed-precision",
            "smaller-batch",
            "weight-quantisation",
            "chunk-the-operation",
            "no-grad-in-eval",
            "more-devices",
            "shorter-sequences",
        ],
    },
    // ProPainter. Seen in sczhou/ProPainter at e870e79 (2025-02): inference_propainter.py, README.md
    // (memory-efficient inference; subvideo_length 80, neighbor_length 10, ref_stride 10). 32 bit unless
    // --fp16.
    Tool {
        name: "ProPainter",
        files: &["/inference_propainter.py"],
        scripts: &["inference_propainter.py"],
        clue: None,
        rows: &[
            (
                "smaller-images",
                option("--resize_ratio 0.5").note("or --width 576 --height 320", "或 --width 576 --height 320"),
            ),
            ("mixed-precision", option("--fp16")),
            (
                "smaller-batch",
                option("--subvideo_length 40").note(
                    "80 unless set; and --neighbor_length 5 --ref_stride 20",
                    "默认 80；以及 --neighbor_length 5 --ref_stride 20",
                ),
            ),
            ("shorter-sequences", option("--subvideo_length 40").note("80 unless set", "默认 80")),
        ],
        lacks: &["weight-quantisation", "weight-offload", "chunk-the-operation", "no-grad-in-eval", "more-devices"],
    },
    // Open-Sora 2. Seen in hpcaitech/Open-Sora at 7ad6a96 (2026-04): configs/diffusion/inference/256px.py
    // (batch_size 1, bf16, use_spatial_tiling True, use_temporal_tiling False),
    // configs/diffusion/inference/plugins/sp.py, tp.py, configs/diffusion/ train/image.py (plugin zero2,
    // bucket_config, accumulation_steps, num_workers, grad_ckpt_settings), docs/train.md
    // (grad_ckpt_buffer_size), README.md (--offload True; the code reads offload_model: both are named).
    Tool {
        name: "Open-Sora",
        files: &["/opensora/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "weight-offload",
                option("--offload_model True")
                    .note("README: --offload True; of t2i2v", "README 写作 --offload True；用于 t2i2v")
                    .unless("trains"),
            ),
            (
                "smaller-images",
                option("--num_frames <fewer>")
                    .note("4n+1, 129 unless set; or 256px.py", "形如 4n+1，默认 129；或用 256px.py")
                    .unless("trains"),
            ),
            (
                "vae-tiling",
                said(
                    Target::Program,
                    "use_temporal_tiling=True of the model ae in the configuration",
                    "在配置的 ae 中设 use_temporal_tiling=True",
                ),
            ),
            (
                "more-devices",
                said(
                    Target::Program,
                    "configs/diffusion/inference/768px.py or 256px_tp.py with torchrun --nproc_per_node <GPUs>",
                    "用 torchrun --nproc_per_node <GPU 数> 运行 configs/diffusion/inference/768px.py 或 \
                     256px_tp.py",
                )
                .unless("trains"),
            ),
            (
                "smaller-batch",
                said(Target::Program, "smaller batches in bucket_config", "减小 bucket_config 中的批大小")
                    .when("trains"),
            ),
            (
                "gradient-accumulation",
                option("accumulation_steps = <number>").note("in the configuration", "写在配置中").when("trains"),
            ),
            (
                "gradient-checkpointing",
                option("grad_ckpt_settings = (100, 100)").note("all layers", "所有层").when("trains"),
            ),
            (
                "fewer-workers",
                option("num_workers = {tried}").note("in the configuration", "写在配置中").when("trains"),
            ),
        ],
        // In force: mixed-precision, shard-states (zero2).
        lacks: &["mixed-precision", "weight-quantisation", "chunk-the-operation", "eight-bit-optimizer"],
    },
    // nougat. Seen in facebookresearch/nougat at 5a92920 (2025-02): predict.py (batchsize by the GPU's size,
    // nougat/utils/ device.py; bfloat16 unless --full-precision; model 0.1.0-small by itself), app.py
    // (NOUGAT_BATCHSIZE), setup.py. Line of its own: "GPU VRAM is too small. Computing on CPU."
    Tool {
        name: "nougat",
        files: &["/bin/nougat", "/bin/nougat_api"],
        scripts: &["nougat", "nougat_api"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("-b 1").note(
                    "by the GPU's size unless set; NOUGAT_BATCHSIZE=1 nougat_api",
                    "默认按 GPU 大小；NOUGAT_BATCHSIZE=1 nougat_api",
                ),
            ),
            (
                "weight-quantisation",
                option("--model 0.1.0-small").note("the default; 0.1.0-base is larger", "默认值；0.1.0-base 更大"),
            ),
        ],
        // In force: mixed-precision, unless --full-precision is given.
        lacks: &[
            "mixed-precision",
            "weight-offload",
            "smaller-images",
            "shorter-sequences",
            "chunk-the-operation",
            "more-devices",
        ],
    },
    // marker's commands (a library too). Seen in datalab-to/marker at 2f7f197 (1.8.2):
    // marker/scripts/convert.py (workers by the GPU's size), marker/config/printer.py (attributes of its parts
    // are options of the same name), marker/builders and marker/processors (recognition_batch_size,
    // layout_batch_size, detection_batch_size, table_rec_batch_size), README.md (fewer workers or parts of a
    // PDF where memory is short; about 5 GB a worker). Before surya, which it runs.
    Tool {
        name: "marker",
        files: &["/marker/scripts/"],
        scripts: &["marker", "marker_single", "marker_chunk_convert", "marker_server", "marker_gui"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--recognition_batch_size 16").note(
                    "and --layout_batch_size 4 --detection_batch_size 4",
                    "以及 --layout_batch_size 4 --detection_batch_size 4",
                ),
            ),
            (
                "fewer-at-once",
                option("--workers 1").note(
                    "of marker; NUM_WORKERS=1 marker_chunk_convert",
                    "用于 marker；NUM_WORKERS=1 marker_chunk_convert",
                ),
            ),
            (
                "fewer-workers",
                option("--workers 1").note(
                    "of marker; NUM_WORKERS=1 marker_chunk_convert",
                    "用于 marker；NUM_WORKERS=1 marker_chunk_convert",
                ),
            ),
            ("read-less-at-once", option("--page_range 0-49").note("then the next pages", "再处理后面的页")),
        ],
        // In force: mixed-precision (on a GPU).
        lacks: &["mixed-precision", "chunk-the-operation", "no-grad-in-eval", "weight-offload", "more-devices"],
    },
    // surya's commands (a library too). Seen in datalab-to/surya at 99c59b1 (0.14.7): surya/settings.py
    // (variables of the environment, 16 bit on a GPU), README.md (40 MB each at recognition and 512 by itself,
    // 440 MB at detection and 36, 220 MB at layout and 32, 150 MB at tables and 64). The variables hold where
    // other programs call it, too.
    Tool {
        name: "surya",
        files: &["/surya/scripts/"],
        scripts: &["surya_ocr", "surya_detect", "surya_layout", "surya_table", "surya_latex_ocr", "surya_gui"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                line(Target::Shell, "export RECOGNITION_BATCH_SIZE=32 DETECTOR_BATCH_SIZE=4").note(
                    "512 and 36 unless set; LAYOUT_BATCH_SIZE, TABLE_REC_BATCH_SIZE",
                    "默认 512 与 36；另有 LAYOUT_BATCH_SIZE、TABLE_REC_BATCH_SIZE",
                ),
            ),
            ("weight-quantisation", line(Target::Shell, "export RECOGNITION_MODEL_QUANTIZE=true")),
        ],
        // In force: mixed-precision (on a GPU).
        lacks: &["mixed-precision", "chunk-the-operation", "no-grad-in-eval", "weight-offload", "more-devices"],
    },
    // docling's command (a library too). Seen in docling-project/docling at e1cb2b2 (2.121):
    // docling/cli/main.py (page-batch-size 4, num-threads 4, device, page-range), docling/datamodel/settings.py
    // (DOCLING_PERF_PAGE_BATCH_SIZE by env_prefix and delimiter). The sizes of the stages (layout_batch_size,
    // ocr_batch_size, table_batch_size) have no option.
    Tool {
        name: "docling",
        files: &["/docling/cli/", "/bin/docling"],
        scripts: &["docling"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--page-batch-size 1").note("4 unless set", "默认 4")),
            ("read-less-at-once", option("--page-range 1-50").note("then the next pages", "再处理后面的页")),
            ("fewer-workers", option("--num-threads 1").note("4 unless set", "默认 4")),
        ],
        lacks: &[
            "mixed-precision",
            "weight-quantisation",
            "weight-offload",
            "chunk-the-operation",
            "no-grad-in-eval",
            "more-devices",
        ],
    },
    // easyocr's command; readtext() is a library, whose parameters of the same names (batch_size, canvas_size,
    // mag_ratio, workers) stand in the user's own script. Seen in JaidedAI/EasyOCR at c4f3cd7 (2024-09):
    // easyocr/cli.py (batch_size 1, canvas_size 2560, workers 0). Quantisation is on by itself, for the CPU.
    Tool {
        name: "easyocr's command",
        files: &["/easyocr/cli.py", "/bin/easyocr"],
        scripts: &["easyocr"],
        clue: None,
        rows: &[
            ("smaller-images", option("--canvas_size 1280").note("2560 unless set", "默认 2560")),
            ("smaller-batch", option("--batch_size 1")),
            ("fewer-workers", option("--workers 0")),
        ],
        lacks: &["mixed-precision", "weight-quantisation", "weight-offload", "chunk-the-operation", "no-grad-in-eval"],
    },
    // whisper.cpp. Seen in ggml-org/whisper.cpp at 233fe1f (1.9.3): examples/cli/cli.cpp (flash attention on by
    // itself; -bs, -bo, -ac, -ng, -dev, -p), README.md (memory of each model, quantised files),
    // examples/deprecation-warning/README.md (the command was main up to December 2024). Windows of 30 seconds,
    // one after another; 16 bit unless quantised.
    Tool {
        name: "whisper.cpp",
        files: &["/whisper.cpp/"],
        scripts: &["whisper-cli", "whisper-cli.exe", "whisper-server", "whisper-stream"],
        clue: None,
        rows: &[
            (
                "weight-quantisation",
                option("-m models/ggml-small-q5_1.bin")
                    .note("a smaller or quantised model; or -ng without the GPU", "更小或量化的模型；或 -ng 不用 GPU"),
            ),
            ("less-at-once", option("-bs 1 -bo 1").note("5 unless set; and -p 1", "默认 5；以及 -p 1")),
            ("smaller-batch", option("-bs 1 -bo 1").note("5 unless set; and -p 1", "默认 5；以及 -p 1")),
            ("other-device", option("-dev <index>")),
        ],
        // In force: mixed-precision, fused-attention. No option: the rest.
        lacks: &[
            "mixed-precision",
            "fused-attention",
            "shorter-sequences",
            "smaller-images",
            "weight-offload",
            "more-devices",
        ],
    },
    // vibe. Seen in thewh1teagle/vibe at fb5fbab (2026-08): i18n/translations/en-US/desktop.json ("Use GPU",
    // "GPU Device number", "Beam size" 5, "Select Model", "Model Options"), README.md (whisper.cpp inside). It
    // has no setting for a batch. It goes to the CPU by itself if the GPU fails to load a model ("Falling back
    // to CPU"). The folder of its data bears the identifier of desktop/src-tauri/tauri.conf.json; that it shows
    // in a log was not seen.
    Tool {
        name: "vibe",
        files: &["/github.com.thewh1teagle.vibe/"],
        scripts: &["vibe", "vibe.exe"],
        clue: None,
        rows: &[
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "a smaller or quantised model in the settings, or no Use GPU",
                    "在设置中选更小或量化的模型，或关闭 Use GPU",
                ),
            ),
            (
                "less-at-once",
                said(
                    Target::Program,
                    "Beam size 1, or Greedy, in Model Options",
                    "在 Model Options 中将 Beam size 设为 1，或用 Greedy",
                ),
            ),
        ],
        lacks: &[
            "smaller-batch",
            "mixed-precision",
            "shorter-sequences",
            "smaller-images",
            "weight-offload",
            "more-devices",
        ],
    },
    // whisper-ctranslate2, the command around faster-whisper (which is a library: its batch_size, beam_size,
    // compute_type stand in the user's own script). Seen in Softcatala/whisper-ctranslate2 at 2cb4452 (0.5.6):
    // commandline.py (compute_type auto, batched False, batch_size), setup.py. Without --batched windows come
    // one after another.
    Tool {
        name: "whisper-ctranslate2",
        files: &["/whisper_ctranslate2/", "/bin/whisper-ctranslate2"],
        scripts: &["whisper-ctranslate2"],
        clue: None,
        rows: &[
            (
                "weight-quantisation",
                option("--compute_type int8")
                    .note("or a smaller --model; int8_float16 on a GPU", "或更小的 --model；GPU 上用 int8_float16"),
            ),
            (
                "smaller-batch",
                option("--batch_size 2").note("with --batched; or no --batched", "配合 --batched；或去掉 --batched"),
            ),
            ("less-at-once", option("--beam_size 1").note("and no --batched", "并去掉 --batched")),
            ("other-device", option("--device_index <index>")),
        ],
        lacks: &["mixed-precision", "shorter-sequences", "smaller-images", "weight-offload", "chunk-the-operation"],
    },
    // spleeter's command (a library too). Seen in deezer/spleeter at 64daa5a (2025-04): spleeter/options.py
    // (duration 600, offset), spleeter/separator.py and __main__.py (per_process_gpu_memory_fraction 0.7, in
    // training 0.45, fixed), pyproject.toml. A recording is separated as a whole: it is cut by --offset and
    // --duration, run after run.
    Tool {
        name: "spleeter's command",
        files: &["/spleeter/__main__.py", "/bin/spleeter"],
        scripts: &["spleeter"],
        clue: None,
        rows: &[
            (
                "shorter-sequences",
                option("--duration 120")
                    .note("600 unless set; --offset 120 for the next part", "默认 600；后一段用 --offset 120"),
            ),
            ("less-at-once", option("--duration 120").note("then --offset 120 …", "再用 --offset 120 …")),
            ("read-less-at-once", option("--duration 120").note("then --offset 120 …", "再用 --offset 120 …")),
        ],
        // In force: preallocation-fraction (70 %). No option: the rest.
        lacks: &[
            "smaller-batch",
            "mixed-precision",
            "weight-quantisation",
            "weight-offload",
            "preallocation-fraction",
            "chunk-the-operation",
        ],
    },
    // rembg's command (a library too). Seen in danielgatis/rembg at 684f8e9 (2026-07): rembg/commands/*.py
    // (model, alpha-matting; threads of the server s), rembg/session_factory.py (OMP_NUM_THREADS only),
    // README.md (u2netp and silueta are the small models). Networks take pictures of a fixed size; alpha
    // matting works on the whole picture in RAM.
    Tool {
        name: "rembg's command",
        files: &["/rembg/commands/", "/bin/rembg"],
        scripts: &["rembg"],
        clue: None,
        rows: &[
            ("weight-quantisation", option("-m u2netp").note("or silueta: small models", "或 silueta：小模型")),
            ("less-at-once", option("-m u2netp").note("or silueta: small models", "或 silueta：小模型")),
            (
                "read-less-at-once",
                said(
                    Target::Program,
                    "no -a (alpha matting), or a smaller picture",
                    "去掉 -a（alpha matting），或用更小的图片",
                ),
            ),
            ("fewer-at-once", option("--threads 1").note("of rembg s", "用于 rembg s")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "no-grad-in-eval", "more-devices"],
    },
    // Frigate. Seen in blakeblackshear/frigate at e3fa701 (2026-07): docs/docs/frigate/installation.md (64 MB
    // by Docker, 128 MB for two cameras of 720p, logs take up to 40 MB of it; no size per app under Home
    // Assistant), docs/docs/troubleshooting/ common_errors.md (SHM_MAX_FRAMES in place of a larger one),
    // frigate/util/services.py (50 unless set). Line of its own: "Fatal Python error: Bus error" below paths of
    // /opt/frigate/frigate/.
    Tool {
        name: "Frigate",
        files: &["/opt/frigate/"],
        scripts: &["frigate"],
        clue: None,
        rows: &[
            (
                "shm-size",
                option("shm_size: \"512mb\"")
                    .note("below the service in docker-compose.yml", "docker-compose.yml 的服务之下"),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a stream of a lower resolution for the role detect",
                    "为 detect 角色使用分辨率更低的视频流",
                ),
            ),
            (
                "read-less-at-once",
                line(Target::Shell, "SHM_MAX_FRAMES=20")
                    .note("50 unless set; environment of the container", "默认 50；容器的环境变量"),
            ),
        ],
        lacks: &[
            "smaller-batch",
            "mixed-precision",
            "weight-quantisation",
            "chunk-the-operation",
            "fewer-workers",
            // /dev/shm is a container's own and new at each start: nobody's leftovers.
            "clear-shared-files",
        ],
    },
    // immich's machine learning. Seen in immich-app/immich: docs/docs/install/environment-variables.md,
    // machine-learning/ immich_ml/config.py (app/config.py before): workers 1, request_threads all cores,
    // model_ttl 300, max_batch_size facial_recognition (none at first; OCR 6 in newer releases). A worker holds
    // its own copy of the models.
    Tool {
        name: "immich's machine learning",
        files: &["/immich_ml/"],
        scripts: &["immich_ml"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("MACHINE_LEARNING_MAX_BATCH_SIZE__FACIAL_RECOGNITION=1")
                    .note("of the container; …__OCR=1 in newer ones", "容器环境变量；新版还有 …__OCR=1"),
            ),
            (
                "fewer-at-once",
                option("MACHINE_LEARNING_REQUEST_THREADS=1").note(
                    "all cores unless set; and MACHINE_LEARNING_WORKERS=1",
                    "默认全部核心；以及 MACHINE_LEARNING_WORKERS=1",
                ),
            ),
            ("less-at-once", option("MACHINE_LEARNING_REQUEST_THREADS=1").note("all cores unless set", "默认全部核心")),
            ("weight-quantisation", IMMICH_CLIP),
            ("load-weights-once", IMMICH_CLIP),
            ("raise-host-limit", IMMICH_CLIP),
            (
                "raise-host-limit",
                said(Target::Program, "more memory for the container of machine learning", "给机器学习容器更多内存"),
            ),
            ("other-device", option("MACHINE_LEARNING_DEVICE_ID=<index>")),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "no-grad-in-eval", "weight-offload", "more-devices"],
    },
    // Home Assistant's Ollama integration: the server of Ollama runs elsewhere. Seen in home-assistant/core,
    // homeassistant/components/ollama/strings.json ("Context window size", "Keep alive", "Max history
    // messages", "Model"), const.py (8192 tokens, at least 2048; keep_alive -1: for ever).
    Tool {
        name: "Home Assistant's Ollama integration",
        files: &["/homeassistant/components/ollama/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "max-model-len",
                said(
                    Target::Program,
                    "a smaller Context window size in the integration's options (8192 at first, 2048 at least)",
                    "在集成选项中减小 Context window size（默认 8192，最小 2048）",
                ),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "a smaller Model, or a tag of fewer bits, in the integration",
                    "在集成中选更小的 Model 或位数更少的标签",
                ),
            ),
        ],
        lacks: &["kv-cache-dtype", "weight-offload", "fewer-sequences", "smaller-batch", "more-devices"],
    },
    // napari's button for a new layer of labels. Seen in napari/napari, its issues 1407 (0.3.5 makes zeros of the
    // world's extent in voxels: a scale of 300 makes them terabytes), 1360 (which took the layers' spacing for it) and
    // 1513. An array of labels that is given has its own shape.
    Tool {
        name: "napari's button for labels",
        files: &["/napari/_qt/qt_viewer_buttons.py"],
        scripts: &[],
        clue: None,
        rows: &[("read-less-at-once", NAPARI_LABELS), ("fix-the-shape", NAPARI_LABELS)],
        lacks: &["chunk-the-operation", "no-python-lists-in-dataset", "fewer-workers"],
    },
    // to_hf_weights.py of mesh-transformer-jax and its forks, which makes Hugging Face's weights of a checkpoint: there
    // is no text and no batch. Seen in kingoflolz/mesh-transformer-jax (at 451c217: --cpu, --debug; it switches JAX's
    // preallocation off itself) and henk717/mesh-transformer-jax (--dtype, fp16 unless set; --cpu runs the resharding
    // there "instead of searching for jax device").
    Tool {
        name: "to_hf_weights.py",
        files: &[],
        scripts: &["to_hf_weights.py"],
        clue: None,
        rows: &[("other-device", HF_WEIGHTS_ON_THE_CPU), ("load-to-cpu", HF_WEIGHTS_ON_THE_CPU)],
        // In force: 16 bit, and no preallocation.
        lacks: &[
            "less-at-once",
            "smaller-batch",
            "smaller-eval-batch",
            "smaller-images",
            "shorter-sequences",
            "mixed-precision",
            "preallocation-fraction",
            "gradient-checkpointing",
            "activation-offload",
            "chunk-the-operation",
        ],
    },
    // SimBA, a window that trains forests of scikit-learn. Seen in sgoldenlab/simba, its issue 24 (ten files, 600 000
    // frames, refused where the table is copied) and under_sample_ratio in project_config.ini, which is applied behind
    // that copy.
    Tool {
        name: "SimBA",
        files: &["/train_multiple_models_from_meta.py", "/site-packages/simba/"],
        scripts: &[],
        clue: None,
        rows: &[("raise-host-limit", SIMBA_FRAMES), ("read-less-at-once", SIMBA_FRAMES)],
        lacks: &[
            "stream-the-data",
            "no-python-lists-in-dataset",
            "fewer-workers",
            "smaller-batch",
            "mixed-precision",
            "chunk-the-operation",
        ],
    },
];
