//! Training and use of what draws: diffusion, faces, scenes, films.

use super::{Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, said};

/// Rays and points that nerf-pytorch works on at once.
const RAYS_AT_ONCE: Line =
    option("--chunk 4096 --netchunk 8192").note("32768 and 65536 unless set", "默认 32768 与 65536");

const DAIN_FRAMES: Line = said(
    Target::Program,
    "smaller frames in --frame_input_dir, or tiles of them with a margin, put together afterwards",
    "缩小 --frame_input_dir 中的帧，或切成带边缘重叠的小块，之后再拼合",
);

const MINDONE_FRAMES: Line =
    option("--num_frames <fewer>").note("and a smaller --image_size: height and width", "并减小 --image_size：高与宽");

const COGVIDEO_CONTROLNET_FRAMES: Line = option("--max_num_frames 25")
    .note("49 unless set; then a smaller --height and --width", "默认 49；再减小 --height 与 --width");

const NERFSTUDIO_RAYS: Line = option("--pipeline.datamanager.train-num-rays-per-batch 2048").note(
    "4096 unless set; instant-ngp: --pipeline.target-num-samples 131072",
    "默认 4096；instant-ngp 用 --pipeline.target-num-samples 131072",
);

const NEURAL_STYLE_ADAM: Line = option("-optimizer adam").note(
    "lbfgs unless set, which keeps more; -backend cudnn; then a smaller -image_size, or NIN by -model_file",
    "默认 lbfgs，占用更多；-backend cudnn；再减小 -image_size，或用 -model_file 换成 NIN",
);

/// A network of far fewer weights than VGG-19.
const NEURAL_STYLE_NIN: Line =
    option("-model_file models/nin_imagenet_conv.caffemodel -proto_file models/train_val.prototxt").note(
        "NIN in place of VGG-19, with -content_layers and -style_layers relu0,relu3,relu7,relu12",
        "用 NIN 代替 VGG-19，并设 -content_layers 与 -style_layers 为 relu0,relu3,relu7,relu12",
    );

const FLOWFRAMES_SIZE: Line = said(
    Target::Program,
    "in Flowframes' settings, General: a smaller Maximum Video Size; then RIFE (NCNN) as AI, without CUDA",
    "Flowframes 设置的 General：减小 Maximum Video Size；再把 AI 换成不用 CUDA 的 RIFE (NCNN)",
);

const NEURALART_SIZE: Line = option("--size 300").note(
    "500 unless set: the long edge; before it --backend cudnn --optimizer sgd",
    "默认 500：长边；先试 --backend cudnn --optimizer sgd",
);

const SERANET_BATCH: Line = option("--batchsize 1").note("5 unless set (-B)", "默认 5（-B）");

const SERANET_ON_THE_HOST: Line = option("--batchsize 1").note(
    "5 unless set (-B); a Python of 32 bits has 2 to 4 GB, whatever the RAM",
    "默认 5（-B）；32 位 Python 无论内存多大都只有 2 至 4 GB",
);

const ADAPTIVE_STYLE_SIZE: Line =
    option("--image_size={shown}").note("768 unless set: the side of the crops", "默认 768：裁剪的边长");

pub(super) const TOOLS: &[Tool] = &[
    // neuralart. Seen in kaishengtai/neuralart, main.lua at 091e55d: --size 500, --backend cunn, --optimizer lbfgs,
    // --cpu with VGG alone. It works on one picture.
    Tool {
        name: "neuralart",
        files: &[],
        scripts: &["--style_factor"],
        clue: None,
        rows: &[
            ("less-at-once", NEURALART_SIZE),
            ("smaller-batch", NEURALART_SIZE),
            ("smaller-images", NEURALART_SIZE),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "weight-quantisation", "chunk-the-operation"],
    },
    // adaptive-style-transfer. Seen in CompVis/adaptive-style-transfer, main.py at 013312e: --image_size 768,
    // --batch_size 1, and allow_growth is true: its pool takes nothing beforehand.
    Tool {
        name: "adaptive-style-transfer",
        files: &["/adaptive-style-transfer/"],
        scripts: &["--ptcd", "--ptad"],
        clue: None,
        rows: &[
            ("smaller-images", ADAPTIVE_STYLE_SIZE),
            ("smaller-batch", option("--batch_size={batch}").note("1 unless set", "默认 1")),
        ],
        lacks: &["preallocation-fraction", "mixed-precision", "gradient-checkpointing", "chunk-the-operation"],
    },
    // SeRanet, in Chainer. Seen in corochann/SeRanet, src/train.py at 1ccf25d: --batchsize (-B) 5, --gpu -1 for the
    // CPU.
    Tool {
        name: "SeRanet",
        files: &["/src/arch/seranet_v1.py", "/src/arch/seranet.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", SERANET_BATCH),
            ("less-at-once", SERANET_BATCH),
            ("raise-host-limit", SERANET_ON_THE_HOST),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "chunk-the-operation", "no-python-lists-in-dataset"],
    },
    // Flowframes, a window around RIFE. Seen in n00mkrad/flowframes, README.md at 021bd0e (General: Maximum Video Size;
    // AI Specific Settings: GPU IDs); issue 238: RIFE NCNN in place of CUDA. There is no command to put a variable
    // before.
    Tool {
        name: "Flowframes",
        files: &["/flowframesdata/pkgs/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", FLOWFRAMES_SIZE),
            ("smaller-batch", FLOWFRAMES_SIZE),
            ("smaller-images", FLOWFRAMES_SIZE),
            (
                "other-device",
                said(
                    Target::Program,
                    "in Flowframes' settings, AI Specific Settings: another number as GPU ID",
                    "Flowframes 设置的 AI Specific Settings：换一个 GPU ID",
                ),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "chunk-the-operation",
            "no-grad-in-eval",
            "gradient-checkpointing",
            "shorter-sequences",
        ],
    },
    // TheDenk's training of control networks for CogVideoX, whose script has the name of diffusers' own. Seen in
    // TheDenk/cogvideox-controlnet, training/train_controlnet.py and finetune_single_rank.sh at 784f9c0:
    // --max_num_frames 49, --train_batch_size 4, --controlnet_transformer_num_layers 2 (8 in that command, which gives
    // --mixed_precision bf16 and --gradient_checkpointing too), --use_8bit_adam with AdamW alone.
    Tool {
        name: "CogVideoX-ControlNet",
        files: &["/training/train_controlnet.py"],
        scripts: &["--controlnet_transformer_num_layers"],
        clue: None,
        rows: &[
            ("less-at-once", COGVIDEO_CONTROLNET_FRAMES),
            ("smaller-images", COGVIDEO_CONTROLNET_FRAMES),
            (
                "smaller-batch",
                option("--train_batch_size 1")
                    .note("4 unless set; then --max_num_frames 25", "默认 4；再试 --max_num_frames 25"),
            ),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            (
                "eight-bit-optimizer",
                option("--use_8bit_adam").note("beside --optimizer AdamW", "与 --optimizer AdamW 同用"),
            ),
            ("vae-tiling", option("--enable_tiling").note("and --enable_slicing", "并加 --enable_slicing")),
            (
                "freeze-layers",
                option("--controlnet_transformer_num_layers 2").note("8 in its own command", "其示例命令为 8"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "activation-offload",
            "chunk-the-operation",
            "detach-logged-tensors",
            "fused-attention",
            "fewer-workers",
        ],
    },
    // MindSpore's Open-Sora Seen in mindspore-lab/mindone,
    // examples/opensora_hpcai/scripts/inference.py at 019fb6b: image_size, num_frames 16, batch_size 4,
    // enable_flash_attention False, dtype and vae_dtype fp32, vae_micro_batch_size None, use_vae_decode True (else
    // infer_vae_decode.py decodes what was saved). That fewer frames or sequence parallel fit: its issue 820.
    Tool {
        name: "MindONE's Open-Sora",
        files: &["/opensora_hpcai/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-images", MINDONE_FRAMES),
            ("smaller-batch", option("--batch_size 1").note("4 unless set", "默认 4").unless("trains")),
            ("smaller-batch", option("--batch_size {batch}").when("trains")),
            ("fix-the-shape", MINDONE_FRAMES),
            ("less-at-once", option("--num_frames <fewer> --image_size <smaller>").note("height and width", "高与宽")),
            (
                "chunk-the-operation",
                option("--enable_flash_attention True --vae_micro_batch_size 1")
                    .note("both off unless set", "两者默认关闭"),
            ),
            ("fused-attention", option("--enable_flash_attention True")),
            ("mixed-precision", option("--dtype bf16 --vae_dtype bf16").note("fp32 unless set", "默认 fp32")),
            (
                "vae-tiling",
                option("--use_vae_decode False")
                    .note("then scripts/infer_vae_decode.py", "之后运行 scripts/infer_vae_decode.py"),
            ),
        ],
        lacks: &["weight-quantisation", "eight-bit-optimizer", "no-grad-in-eval"],
    },
    // DAIN. Seen in baowenbo/DAIN at 7c727ac (2023-02): my_args.py and colab_interpolate.py, which turns gradients off
    // and has no option for a frame's size, tiles or 16 bit: --batch_size is of training. By its issue 92 and its pull
    // request 76 frames in tiles with a margin fit.
    Tool {
        name: "DAIN",
        files: &["/networks/dain.py", "/networks/dain_slowmotion.py", "/colab_interpolate.py"],
        scripts: &["colab_interpolate.py", "demo_MiddleBury.py", "demo_MiddleBury_slowmotion.py"],
        clue: None,
        rows: &[("smaller-images", DAIN_FRAMES), ("less-at-once", DAIN_FRAMES), ("chunk-the-operation", DAIN_FRAMES)],
        lacks: &["fix-the-shape", "mixed-precision", "smaller-batch", "no-grad-in-eval", "more-devices"],
    },
    // kohya-ss/sd-scripts at 48d368f (2026-02): library/train_util.py, train_network.py. --network_train_unet_only
    // and --cache_latents stand in the first train_network.py (2023) too; --sdpa, --full_bf16 and --blocks_to_swap
    // came later.
    Tool {
        name: "kohya's sd-scripts",
        files: &["/sd-scripts/", "/library/train_util.py"],
        scripts: &[
            "train_network.py",
            "sdxl_train_network.py",
            "sdxl_train.py",
            "train_db.py",
            "flux_train_network.py",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("mixed-precision", option("--mixed_precision=bf16").unless("before-ampere")),
            ("mixed-precision", option("--mixed_precision=fp16").when("before-ampere")),
            ("eight-bit-optimizer", option("--optimizer_type=AdamW8bit")),
            ("smaller-images", option("--resolution={shown},{shown}")),
            ("fewer-workers", option("--max_data_loader_n_workers={tried}")),
            (
                "freeze-layers",
                option("--network_train_unet_only")
                    .note("train_network.py: no text encoder on the GPU", "train_network.py：不训练文本编码器"),
            ),
            (
                "weight-offload",
                option("--cache_latents").note(
                    "the VAE leaves the GPU; Flux, SD3: --blocks_to_swap 18",
                    "VAE 不再占显存；Flux、SD3 用 --blocks_to_swap 18",
                ),
            ),
            ("fused-attention", option("--xformers").note("or --sdpa", "或 --sdpa")),
            ("lighter-optimizer", option("--optimizer_type=Adafactor")),
            (
                "bf16-states",
                option("--full_bf16")
                    .note("with --mixed_precision=bf16", "配合 --mixed_precision=bf16")
                    .unless("before-ampere"),
            ),
            ("load-to-cpu", option("--lowram").note("loads weights to the GPU at once", "权重直接载入显存")),
        ],
        lacks: &["activation-offload", "chunk-the-operation", "detach-logged-tensors"],
    },
    // The example scripts for training in the repository of diffusers.
    Tool {
        name: "diffusers' training scripts",
        files: &[
            "/train_text_to_image.py",
            "/train_text_to_image_sdxl.py",
            "/train_text_to_image_lora.py",
            "/train_text_to_image_lora_sdxl.py",
            "/train_dreambooth.py",
            "/train_dreambooth_lora.py",
            "/train_dreambooth_lora_sdxl.py",
            "/train_dreambooth_flux.py",
            "/train_dreambooth_lora_flux.py",
            "/train_controlnet.py",
            "/train_controlnet_sdxl.py",
        ],
        scripts: &[
            "train_text_to_image.py",
            "train_text_to_image_sdxl.py",
            "train_text_to_image_lora.py",
            "train_text_to_image_lora_sdxl.py",
            "train_dreambooth.py",
            "train_dreambooth_lora.py",
            "train_dreambooth_lora_sdxl.py",
            "train_dreambooth_flux.py",
            "train_dreambooth_lora_flux.py",
            "train_controlnet.py",
            "train_controlnet_sdxl.py",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("mixed-precision", option("--mixed_precision=bf16").unless("before-ampere")),
            ("mixed-precision", option("--mixed_precision=fp16").when("before-ampere")),
            ("eight-bit-optimizer", option("--use_8bit_adam")),
            ("fused-attention", option("--enable_xformers_memory_efficient_attention")),
            ("smaller-images", option("--resolution={shown}")),
            ("fewer-workers", option("--dataloader_num_workers={tried}")),
        ],
        lacks: &["activation-offload", "chunk-the-operation", "detach-logged-tensors"],
    },
    // toolkit/config_modules.py, config/examples/*.yaml, toolkit/optimizer.py and
    // ui/src/app/jobs/new/SimpleJob.tsx, August 2026: keys of its YAML file, sections in the notes.
    // gradient_checkpointing is true unless it is turned off. Layer offloading is recent. Its own line: "#
    // OOM during training step, skipping batch 1/3 #" (jobs/process/BaseSDTrainProcess.py).
    Tool {
        name: "ai-toolkit",
        files: &["/ai-toolkit/", "/extensions_built_in/sd_trainer/", "/jobs/process/basesdtrainprocess.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("batch_size: {batch}").note("section train", "train 一节")),
            ("smaller-batch", option("gradient_accumulation: {steps}").note("section train", "train 一节")),
            ("gradient-accumulation", option("gradient_accumulation: {steps}").note("section train", "train 一节")),
            ("mixed-precision", option("dtype: bf16").note("section train", "train 一节").unless("before-ampere")),
            ("eight-bit-optimizer", option("optimizer: \"adamw8bit\"").note("section train", "train 一节")),
            ("lighter-optimizer", option("optimizer: \"adafactor\"").note("section train", "train 一节")),
            (
                "smaller-images",
                option("resolution: [ 512 ]")
                    .note("section datasets; fewer num_frames for video", "datasets 一节；视频则减少 num_frames"),
            ),
            (
                "weight-quantisation",
                option("quantize: true")
                    .note("and quantize_te: true, section model", "以及 quantize_te: true，model 一节"),
            ),
            (
                "weight-offload",
                option("low_vram: true").note(
                    "section model; layer_offloading: true in recent versions",
                    "model 一节；较新版本有 layer_offloading: true",
                ),
            ),
            ("lora", option("type: \"lora\"").note("section network", "network 一节")),
            (
                "bound-the-cache",
                option("cache_latents_to_disk: true").note("in place of cache_latents", "代替 cache_latents"),
            ),
            ("fewer-workers", option("num_workers: {tried}").note("section datasets", "datasets 一节")),
        ],
        lacks: &["gradient-checkpointing", "chunk-the-operation", "shorter-sequences", "group-by-length"],
    },
    // modules/ui/Base{Training,Model,Train}*View.py, modules/util/config/TrainConfig.py,
    // modules/util/enum/Optimizer.py, docs/CliTraining.md, August 2026. Labels of its window; on the
    // command line the same stands as keys in the .json file of scripts/train.py. Gradient Checkpointing
    // was OFF, ON or CPU_OFFLOADED with one "Layer Offload Fraction" before a migration to switches for
    // each component; layers of text encoders 1 and 2 are not offloaded.
    Tool {
        name: "OneTrainer",
        files: &["/onetrainer/", "/modules/trainer/generictrainer.py", "/modules/modelsetup/"],
        scripts: &["train_ui.py", "train_ui_ctk.py", "train_ui_qt.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "tab training: Local Batch Size {batch}, Accumulation Steps {steps}",
                    "training 标签页：Local Batch Size 设为 {batch}，Accumulation Steps 设为 {steps}",
                ),
            ),
            (
                "gradient-accumulation",
                said(
                    Target::Program,
                    "tab training: Accumulation Steps {steps}",
                    "training 标签页：Accumulation Steps 设为 {steps}",
                ),
            ),
            (
                "gradient-checkpointing",
                said(
                    Target::Program,
                    "tab training: Gradient Checkpointing on",
                    "training 标签页：打开 Gradient Checkpointing",
                ),
            ),
            (
                "activation-offload",
                said(
                    Target::Program,
                    "tab training: Offload Activations on (CPU_OFFLOADED in older versions)",
                    "training 标签页：打开 Offload Activations（旧版本选 CPU_OFFLOADED）",
                ),
            ),
            (
                "weight-offload",
                said(
                    Target::Program,
                    "tab training: Layer Offload Fraction 0.5, or more",
                    "training 标签页：Layer Offload Fraction 设为 0.5 或更大",
                ),
            ),
            (
                "mixed-precision",
                said(
                    Target::Program,
                    "tab training: Train Data Type bfloat16",
                    "training 标签页：Train Data Type 选 bfloat16",
                )
                .unless("before-ampere"),
            ),
            (
                "mixed-precision",
                said(
                    Target::Program,
                    "tab training: Train Data Type float16",
                    "training 标签页：Train Data Type 选 float16",
                )
                .when("before-ampere"),
            ),
            (
                "eight-bit-optimizer",
                said(Target::Program, "tab training: Optimizer ADAMW_8BIT", "training 标签页：Optimizer 选 ADAMW_8BIT"),
            ),
            (
                "lighter-optimizer",
                said(Target::Program, "tab training: Optimizer ADAFACTOR", "training 标签页：Optimizer 选 ADAFACTOR"),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "tab training: Resolution {shown} (fewer Frames for video)",
                    "training 标签页：Resolution 设为 {shown}（视频则减少 Frames）",
                ),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "tab model: float8 (W8) or nfloat4 as the data type of the transformer or UNet",
                    "model 标签页：transformer 或 UNet 的数据类型选 float8 (W8) 或 nfloat4",
                ),
            ),
            (
                "lora",
                said(
                    Target::Program,
                    "LoRA in place of Fine Tune in the list of the top bar",
                    "在顶栏的下拉列表中选 LoRA，而不是 Fine Tune",
                ),
            ),
            (
                "freeze-layers",
                said(
                    Target::Program,
                    "tab training: Train Text Encoder off",
                    "training 标签页：关闭 Train Text Encoder",
                ),
            ),
            (
                "fewer-workers",
                said(
                    Target::Program,
                    "tab general: Dataloader Threads {tried}",
                    "general 标签页：Dataloader Threads 设为 {tried}",
                ),
            ),
        ],
        lacks: &["chunk-the-operation", "group-by-length"],
    },
    // lib/cli/args_train.py, lib/cli/args_extract_convert.py, plugins/train/train_config.py and
    // model/*_defaults.py, lib/training/train.py, lib/infer/handler.py of faceswap, June 2026. Its own
    // line: "You do not have enough GPU memory available to train the selected model at the selected
    // settings." Sizes of a model, lowmem and the optimizer are fixed when a model is made. Batch sizes of
    // extraction stand in config/extract.ini.
    Tool {
        name: "faceswap",
        files: &["/faceswap/", "/lib/training/train.py", "/plugins/train/model/"],
        scripts: &["faceswap.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("-b {batch}").note("Batch Size in the window", "窗口中为 Batch Size").when("trains"),
            ),
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "a smaller batch size of the plugin in the settings of extraction (config/extract.ini)",
                    "在提取设置（config/extract.ini）中减小插件的 batch size",
                )
                .unless("trains"),
            ),
            (
                "mixed-precision",
                said(
                    Target::Program,
                    "Mixed Precision on in the settings of training (menu Settings, or the folder config)",
                    "在训练设置中打开 Mixed Precision（Settings 菜单或 config 文件夹）",
                )
                .when("trains"),
            ),
            (
                "lighter-optimizer",
                said(
                    Target::Program,
                    "a new model with the optimizer lion in the settings of training",
                    "新建模型，在训练设置中选优化器 lion",
                ),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a new model with a smaller output size, or with its lowmem option",
                    "新建模型：减小输出尺寸，或打开它的 lowmem 选项",
                )
                .when("trains"),
            ),
            (
                "freeze-layers",
                option("--freeze-weights").note("or -t lightweight for a new model", "新建模型可用 -t lightweight"),
            ),
            ("fewer-workers", option("-j {tried}").note("faceswap.py convert", "faceswap.py convert").unless("trains")),
            ("fewer-at-once", option("-j {tried}").note("faceswap.py convert", "faceswap.py convert").unless("trains")),
        ],
        lacks: &["gradient-checkpointing", "gradient-accumulation", "eight-bit-optimizer", "chunk-the-operation"],
    },
    // models/Model_{SAEHD,AMP}/Model.py, models/ModelBase.py, mainscripts/Merger.py, main.py of
    // DeepFaceLab, April 2023: it asks for its settings. Press Enter within 2 seconds of the start to be
    // asked again; Resolution and dimensions are asked once, for a new model. 16 bit is commented out.
    // Quick96 asks for none of this.
    Tool {
        name: "DeepFaceLab",
        files: &[
            "/deepfacelab/",
            "/models/model_saehd/model.py",
            "/models/model_amp/model.py",
            "/core/leras/",
            "/mainscripts/trainer.py",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "Enter within 2 seconds of the start, then Batch_size: {batch}",
                    "启动后 2 秒内按 Enter，然后 Batch_size 输入 {batch}",
                )
                .when("trains"),
            ),
            (
                "cpu-offload",
                said(
                    Target::Program,
                    "Enter within 2 seconds of the start, then Place models and optimizer on GPU: n",
                    "启动后 2 秒内按 Enter，然后 Place models and optimizer on GPU 输入 n",
                )
                .when("trains"),
            ),
            (
                "lighter-optimizer",
                said(
                    Target::Program,
                    "Enter within 2 seconds of the start, then Use AdaBelief optimizer: n (SAEHD)",
                    "启动后 2 秒内按 Enter，然后 Use AdaBelief optimizer 输入 n（SAEHD）",
                )
                .when("trains"),
            ),
            (
                "smaller-images",
                said(Target::Program, "a new model with a smaller Resolution", "新建模型，Resolution 输入更小的值")
                    .when("trains"),
            ),
            (
                "freeze-layers",
                said(
                    Target::Program,
                    "a new model with fewer dimensions; of 2019 (H64, H128): Use lightweight autoencoder? y",
                    "新建模型，减小各 dimensions；2019 年的 H64、H128：Use lightweight autoencoder? 输入 y",
                )
                .when("trains"),
            ),
            (
                "fewer-workers",
                said(
                    Target::Program,
                    "fewer at Number of workers, where faces are merged",
                    "合成时 Number of workers 输入更小的值",
                )
                .unless("trains"),
            ),
            ("other-device", option("--cpu-only")),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "gradient-accumulation",
            "eight-bit-optimizer",
            "shorter-sequences",
            "chunk-the-operation",
        ],
    },
    // 3D Gaussian Splatting, the first program, and forks that keep its folders. Seen in
    // graphdeco-inria/gaussian-splatting: arguments/__init__.py (densify_until_iter 15000,
    // densify_grad_threshold 0.0002; data_device in README.md, a shortened data_on_cpu in one stored version),
    // README.md (FAQ: 24 GB). No batch, no layers; 32 bit throughout. Lines of its own: "Optimizing output/…",
    // "[ITER 7000] Evaluating test: L1 … PSNR …".
    Tool {
        name: "3D Gaussian Splatting",
        files: &["/gaussian_renderer/__init__.py", "/scene/gaussian_model.py", "/gaussian-splatting/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-images",
                option("--resolution 2").note("or -r 2: half; 4: a quarter", "或 -r 2：一半；4：四分之一"),
            ),
            ("smaller-eval-batch", option("--test_iterations -1").note("no tests in between", "训练中不做测试")),
        ],
        lacks: &[
            "smaller-batch",
            "gradient-accumulation",
            "gradient-checkpointing",
            "mixed-precision",
            "eight-bit-optimizer",
            "lighter-optimizer",
            "cpu-offload",
            "shard-states",
            "more-devices",
            "freeze-layers",
        ],
    },
    // nerfstudio. Seen in nerfstudio-project/nerfstudio at 50e0e3c (1.1.5): data/datamanagers/base_datamanager.py,
    // full_images_datamanager.py (cache_images gpu, disk is the newest value), models/splatfacto.py
    // (densify_grad_thresh 0.0008, stop_split_at 15000), models/base_model.py, configs/method_configs.py (rays 4096; 16
    // bit by itself but for splatfacto), docs/quickstart/installation.md (--shm-size=12gb), pipelines/dynamic_batch.py
    // (of instant-ngp: the rays follow from target_num_samples, 262144). Its command writes names with hyphens.
    // Splatfacto has no rays.
    Tool {
        name: "nerfstudio",
        files: &["/nerfstudio/engine/", "/nerfstudio/scripts/", "/nerfstudio/data/datamanagers/"],
        scripts: &["ns-train", "ns-eval", "ns-render", "ns-export", "ns-viewer"],
        clue: None,
        rows: &[
            (
                "fewer-gaussians",
                option("--pipeline.model.densify-grad-thresh 0.0016")
                    .note("0.0008 unless set", "默认 0.0008")
                    .when("trains"),
            ),
            (
                "fewer-gaussians",
                option("--pipeline.model.stop-split-at 10000").note("15000 unless set", "默认 15000").when("trains"),
            ),
            ("smaller-batch", NERFSTUDIO_RAYS.when("trains")),
            ("less-at-once", NERFSTUDIO_RAYS),
            (
                "smaller-eval-batch",
                option("--pipeline.model.eval-num-rays-per-chunk 8192")
                    .note("32768 in nerfacto", "nerfacto 默认 32768"),
            ),
            (
                "smaller-images",
                option("--pipeline.datamanager.camera-res-scale-factor 0.5")
                    .note("half the size", "尺寸减半")
                    .when("trains"),
            ),
            (
                "weight-offload",
                option("--pipeline.datamanager.cache-images cpu")
                    .note("of Splatfacto", "用于 Splatfacto")
                    .when("trains"),
            ),
            (
                "read-less-at-once",
                option("--pipeline.datamanager.cache-images disk")
                    .note("Splatfacto, newest releases", "Splatfacto，较新版本")
                    .when("trains"),
            ),
            (
                "read-less-at-once",
                option("--pipeline.datamanager.train-num-images-to-sample-from 40")
                    .note("of nerfacto", "用于 nerfacto")
                    .when("trains"),
            ),
            ("fewer-workers", option("--pipeline.datamanager.dataloader-num-workers {tried}").when("trains")),
            ("shm-size", option("docker run --shm-size=12gb ...").note("or --ipc=host", "或 --ipc=host")),
        ],
        // In force: mixed-precision (not for Splatfacto, which gains nothing). No option: the rest.
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "shard-states",
            "cpu-offload",
            "more-devices",
            "shorter-sequences",
        ],
    },
    // BasicSR at 8d56e3a (2024-05), options/train/*.yml and docs/Config.md: batch_size_per_gpu, gt_size,
    // num_worker_per_gpu and prefetch_mode of datasets/train; SwinIR's network_g takes use_checkpoint. Before 2020
    // (BasicSR and MMSR) the same are batch_size, GT_size and n_workers. It trains in 32 bit. Line of its own: "Start
    // training from epoch: 0, iter: 0".
    Tool {
        name: "BasicSR",
        files: &["/basicsr/train.py", "/basicsr/models/", "/mmsr/codes/"],
        scripts: &["-opt"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("batch_size_per_gpu: <half>")
                    .note(
                        "datasets/train of the .yml; batch_size in older ones",
                        ".yml 的 datasets/train；旧版为 batch_size",
                    )
                    .when("trains"),
            ),
            (
                "smaller-images",
                option("gt_size: <half>")
                    .note("datasets/train of the .yml; once GT_size", ".yml 的 datasets/train；旧版为 GT_size"),
            ),
            (
                "gradient-checkpointing",
                option("use_checkpoint: true").note("network_g, of SwinIR alone", "network_g，仅 SwinIR"),
            ),
            (
                "fewer-workers",
                option("num_worker_per_gpu: {tried}")
                    .note("datasets/train of the .yml; once n_workers", ".yml 的 datasets/train；旧版为 n_workers"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "eight-bit-optimizer",
            "activation-offload",
            "fused-attention",
            "shorter-sequences",
        ],
    },
    // SimpleTuner at bc8e6ab (2026-08), documentation/OPTIONS.md: options or keys of config.json. Saving quantised
    // weights takes more: --offload_during_save. --musubi_blocks_to_swap is skipped while gradients are on.
    Tool {
        name: "SimpleTuner",
        files: &["/simpletuner/"],
        scripts: &["simpletuner"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-accumulation", option("--gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("weight-quantisation", option("--base_model_precision=int8-quanto").note("or nf4-bnb", "或 nf4-bnb")),
            ("eight-bit-optimizer", option("--optimizer=bnb-adamw8bit")),
            ("lighter-optimizer", option("--optimizer=optimi-lion")),
            (
                "weight-offload",
                option("--enable_group_offload").note("and --offload_during_startup", "以及 --offload_during_startup"),
            ),
            ("sharded-checkpoint", option("--offload_during_save").note("quantised weights", "量化的权重")),
            ("smaller-images", option("--resolution=512").note("1024 unless set", "默认 1024")),
        ],
        lacks: &["chunk-the-operation", "activation-offload", "group-by-length"],
    },
    // NeRF by yenchenlin at 63a5a63, run_nerf.py, and forks that keep its names: N_rand 4096 rays, chunk 32768 rays
    // and netchunk 65536 points at once, N_samples 64, N_importance 0, render_factor 0; factor 8 and half_res of the
    // pictures. Pictures of training are kept on the GPU unless --no_batching is given.
    Tool {
        name: "nerf-pytorch",
        files: &["/run_nerf.py", "/run_nerf_helpers.py"],
        scripts: &["run_nerf.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--N_rand 1024")
                    .note("4096 rays unless set; --N_samples 64", "默认 4096 条光线；--N_samples 64")
                    .when("trains"),
            ),
            ("smaller-batch", RAYS_AT_ONCE.unless("trains")),
            ("smaller-eval-batch", RAYS_AT_ONCE),
            ("less-at-once", RAYS_AT_ONCE),
            ("chunk-the-operation", RAYS_AT_ONCE),
            (
                "smaller-images",
                option("--factor 16")
                    .note("LLFF, 8 unless set; --half_res of Blender's", "LLFF，默认 8；Blender 用 --half_res"),
            ),
            (
                "keep-data-on-host",
                option("--no_batching").note("rays of one picture at a time", "每次只取一张图片的光线"),
            ),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "eight-bit-optimizer", "shorter-sequences"],
    },
    // StyleGAN 3 and what is built on it (Projected GAN, EDM). Seen in NVlabs/stylegan3, docs/train-help.txt at
    // 8fb5177: --batch of all GPUs, --batch-gpu bounds what one holds (the rest is accumulated), --cbase 32768,
    // --workers 3; 16 bit unless --fp32. The first release for PyTorch (stylegan2-ada-pytorch) has --batch alone.
    Tool {
        name: "StyleGAN's train.py",
        files: &["/training/networks_stylegan2.py", "/training/networks_stylegan3.py", "/training/training_loop.py"],
        scripts: &["--cbase", "--batch-gpu"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--batch-gpu <half>").note(
                    "accumulated to --batch; stylegan2-ada: --batch alone",
                    "累积到 --batch；stylegan2-ada 只有 --batch",
                ),
            ),
            ("smaller-batch", option("--cbase 16384").note("half of the channels", "通道数减半")),
            ("smaller-eval-batch", option("--metrics none").note("measured afterwards", "之后再单独评测")),
            ("fewer-workers", option("--workers {tried}").note("3 unless set", "默认 3")),
            ("freeze-layers", option("--freezed 10").note("first layers of D", "判别器的前几层")),
        ],
        // In force: mixed-precision, unless --fp32 is given.
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "activation-offload",
            "shorter-sequences",
        ],
    },
    // neural-style on Torch7: one picture is optimised. Seen in jcjohnson/neural-style, README.md at 03d1f29:
    // -image_size 512, -optimizer lbfgs or adam, -backend nn or cudnn; "about 3.5GB" become 1 GB with adam and cudnn.
    // Where the picture is as small as it may be, what is left is VGG-19 itself: issue 150 measures NIN, whose layers
    // have names of their own (issue 482).
    Tool {
        name: "neural-style on Torch7",
        files: &["/neural_style.lua"],
        scripts: &["neural_style.lua"],
        clue: None,
        rows: &[
            ("smaller-batch", NEURAL_STYLE_ADAM),
            ("smaller-batch", NEURAL_STYLE_NIN),
            ("less-at-once", NEURAL_STYLE_ADAM),
            ("less-at-once", NEURAL_STYLE_NIN),
            ("freeze-layers", NEURAL_STYLE_NIN),
            ("lighter-optimizer", NEURAL_STYLE_ADAM),
            (
                "smaller-images",
                option("-image_size 256").note(
                    "512 unless set: the longer side; for the same picture first -backend cudnn -optimizer adam",
                    "默认 512：长边；想保持原图则先试 -backend cudnn -optimizer adam",
                ),
            ),
        ],
        lacks: &[
            "smaller-eval-batch",
            "mixed-precision",
            "gradient-checkpointing",
            "weight-quantisation",
            "chunk-the-operation",
        ],
    },
];
