//! What a program works on, by the words of its scripts, models, packages and lines.

use crate::domain::closed_set;

closed_set! {
    /// What a program works on.
    pub enum Subject {
        /// Splats of a scene, one picture of it a step.
        Gaussians = "gaussians",
        /// Rays through a scene, so many of them a step or in a piece.
        Rays = "rays",
        /// Simulated worlds of robots or games, many side by side.
        Environments = "environments",
        /// Atoms or particles of a simulation.
        Atoms = "atoms",
        /// Chains of amino acids or bases.
        Proteins = "proteins",
        /// Speech that is made from a text.
        Speech = "speech",
        Sound = "sound",
        Video = "video",
        /// Clouds of points, voxels of them.
        Points = "points",
        /// Nodes and edges.
        Graph = "graph",
        Pictures = "pictures",
        Text = "text",
    }
}

/// Words of each subject, the special ones first: who speaks of Gaussians speaks of pictures too, a picture is made
/// from a text, and only who speaks of nothing else works on text. `*` stands for anything.
const WORDS: &[(Subject, &[&str])] = &[
    (Subject::Rays, &["nerf*", "ngp", "neus", "mipnerf*", "raymarching", "rays", "nrays", "netchunk", "instantngp"]),
    (Subject::Environments, &["isaac*", "numenvs", "vecenv", "legged", "mujoco", "mjx", "rlgames", "rslrl", "brax"]),
    (Subject::Atoms, &["lammps", "gromacs", "openmm", "deepmd", "namd*", "mace", "nequip", "verlet", "pmemd"]),
    (
        Subject::Proteins,
        &[
            "protein*",
            "proteome",
            "ligand*",
            "peptide*",
            "antibody",
            "alphafold*",
            "colabfold*",
            "openfold*",
            "esm2",
            "esmfold",
            "msa",
            "residue*",
            "bioembeddings",
            "boltz*",
            "rosettafold*",
            "rf3",
        ],
    ),
    (
        Subject::Speech,
        &["tts", "text2speech", "texttospeech", "tacotron*", "vits", "xtts*", "styletts*", "cosyvoice*", "gptsovits*"],
    ),
    (
        Subject::Sound,
        &[
            "asr",
            "audio*",
            "conformer*",
            "demucs",
            "encodec",
            "hubert",
            "librosa",
            "mel",
            "mels",
            "music*",
            "pyannote*",
            "s3prl",
            "soundfile",
            "spectrogram*",
            "speaker*",
            "speech*",
            "torchaudio",
            "vocoder*",
            "voice*",
            "wav",
            "wav2vec*",
            "wavlm*",
            "waveform*",
            "waves",
            "wavs",
            "whisper*",
        ],
    ),
    (
        Subject::Video,
        &[
            "video*",
            "*video",
            "hunyuanvideo*",
            "animatediff",
            "cogvideo*",
            "text2video",
            "img2vid",
            "t2v",
            "i2v",
            "vid2vid",
            "wan",
            "framepack*",
            "mochi",
            "ltxv*",
            "mp4",
            "mkv",
            "webm",
        ],
    ),
    (
        Subject::Points,
        &[
            "pointnet*",
            "pointcloud*",
            "spconv",
            "minkowski*",
            "lidar",
            "pcdet",
            "kpconv*",
            "geotransformer",
            "mmdet3d",
            "semantickitti*",
            "torchsparse",
            "spvcnn",
        ],
    ),
    (
        Subject::Graph,
        &[
            "gcn*",
            "gat",
            "gnn*",
            "rgcn*",
            "dgl",
            "torchgeometric",
            "graphsage",
            "adjacency",
            "edgeindex",
            "splitidx",
            "nodefeature*",
            "graphlearn*",
        ],
    ),
    (
        Subject::Pictures,
        &[
            "image*",
            "img*",
            "picture*",
            "photo*",
            "pixel*",
            "yolo*",
            "resnet*",
            "mmdet*",
            "mmseg*",
            "torchvision",
            "vision",
            "vit",
            "swin*",
            "unet*",
            // Of adversarial networks those that make pictures: others make tables, genes and series.
            "stylegan*",
            "cyclegan*",
            "biggan*",
            "dcgan",
            "srgan",
            "progan",
            "stargan*",
            "singan",
            "gaugan",
            "vqgan*",
            "munit",
            "spade",
            "*esrgan*",
            "superres*",
            "inpaint*",
            "sdxl*",
            "diffusers",
            "stablediffusion*",
            "ldm",
            "timm",
            "cifar*",
            "vgg*",
            "detectron*",
            "deeplab*",
            "efficientnet*",
            "maskrcnn",
            "coco",
            "conv2d*",
            "crop*",
            "camera*",
            "segmentation",
            "insightface",
            "pix2pix*",
            "nnunet*",
            "densenet*",
        ],
    ),
    (
        Subject::Text,
        &[
            "bert*",
            "*bert",
            "*berta",
            "gpt*",
            "llama*",
            "qwen*",
            "mistral*",
            "mixtral*",
            "gemma*",
            "falcon",
            "*causallm",
            "lm",
            "llm*",
            "opennmt",
            "onmt*",
            "fairseq",
            "seq2seq*",
            "t5",
            "longformer*",
            "vocab*",
            "sentence*",
            "translat*",
            "summar*",
            "tokenizer*",
            "corpus",
            "sft",
            "dpo",
            "grpo",
            "rlhf",
            "lmhead",
            "chat*",
            "nlp",
            "rwkv",
        ],
    ),
];

/// Phrases of a program's own lines that name its subject, in lower case; a single word of prose says less than one in
/// a path or an option.
const LINES: &[(Subject, &[&str])] = &[
    // 3D Gaussian splatting counts them as it splits, culls and clones them.
    (Subject::Gaussians, &["gaussians left", "gaussians: ", " gaussians (", "number of gaussians"]),
    // The line of nerf-pytorch's training (run_nerf.py), which its many descendants keep.
    (Subject::Rays, &["nerf", "instant-ngp", "[train] iter: "]),
    (Subject::Environments, &["isaacgym", "isaaclab", "isaac lab", "isaac sim", "num_envs", "on_policy_runner"]),
    (Subject::Atoms, &["verlet", "lammps", "molecular dynamics", "gromacs"]),
    (
        Subject::Proteins,
        &["proteome", ".a3m", "alphafold", "colabfold", "protein", "bio_embeddings", "rosettafold", "rf3.ckpt"],
    ),
    (Subject::Speech, &["text2speech", "text-to-speech"]),
    (
        Subject::Sound,
        &[
            "espnet",
            "utterances",
            "so-vits",
            "svc_model",
            "vocals",
            "whisper",
            "speech",
            "wav2vec",
            ".wav",
            ".mp3",
            "demucs",
        ],
    ),
    (Subject::Video, &["hunyuanvideo", "text2video", ".mp4", "image2video"]),
    (Subject::Points, &["point cloud", "pointcloud", "lidar"]),
    (
        Subject::Pictures,
        &["yolov", "resnet", "imagenet", "esrgan", ".jpg", ".jpeg", "training images", "stable diffusion"],
    ),
    (
        Subject::Text,
        &["llama", "qwen", "mistral", "gpt2", "gpt-2", "bert", "gemma", "rwkv", "[cls]", "tokenizer", "longformer"],
    ),
];

/// The subject that a line names.
pub(super) fn of_line(lower: &str) -> Option<Subject> {
    LINES.iter().find(|(_, phrases)| phrases.iter().any(|phrase| lower.contains(phrase))).map(|(subject, _)| *subject)
}

/// The phrases that [`of_line`] looks for.
pub(super) fn phrases() -> impl Iterator<Item = &'static str> {
    LINES.iter().flat_map(|(_, phrases)| phrases.iter().copied())
}

/// The subject that these texts name, the special ones before the general.
pub fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Subject> {
    let said: Vec<String> = texts.into_iter().flat_map(words).collect();
    let listed = |listed: &[&str]| said.iter().any(|word| listed.iter().any(|listed| is(word, listed)));
    WORDS.iter().find(|(_, words)| listed(words)).map(|(subject, _)| *subject)
}

/// A word against one of the list, in lower case.
fn is(word: &str, listed: &str) -> bool {
    match (listed.strip_prefix('*'), listed.strip_suffix('*')) {
        (Some(_), Some(_)) => word.contains(listed.trim_matches('*')),
        (Some(end), None) => word.ends_with(end),
        (None, Some(start)) => word.starts_with(start),
        (None, None) => word == listed,
    }
}

/// The words of a name or line: letters and digits that stand together, and what underscores and capitals join as one.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let single = lower.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_string);
    let joined = lower
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
        .map(|name| name.replace(['_', '-'], ""));
    single.chain(joined).filter(|word| word.len() > 1).collect()
}

/// True where one of a text's words is listed.
pub fn speaks(text: &str, listed: &[&str]) -> bool {
    words(text).iter().any(|word| listed.iter().any(|listed| is(word, listed)))
}
