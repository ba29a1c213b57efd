//! Training in simulated worlds.

use super::{Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, said};

/// What fills the GPU are worlds that are simulated, beside a small network.
const NOT_OF_SIMULATORS: &[&str] =
    &["gradient-checkpointing", "mixed-precision", "eight-bit-optimizer", "activation-offload"];

/// Fewer worlds at once, as a simulator's training scripts name them.
const ENVIRONMENTS: Line =
    option("--num_envs <half>").note("then half again: worlds on the GPU", "再减半：GPU 上的环境数");

/// The same as keys of Hydra's: IsaacGymEnvs', and those of OmniDrones and NavRL.
const WORLDS: Line = option("num_envs=<half>").note("headless=True draws nothing", "headless=True 不渲染画面");

const WORLDS_WITH_OBSTACLES: Line =
    option("env.num_envs=<half>").note("fewer env.num_obstacles too", "并减少 env.num_obstacles");

const ML_AGENTS_BUFFER: Line = option("buffer_size: <smaller>").note(
    "trainer's configuration; smaller visual observations, fewer agents",
    "训练配置文件；缩小视觉观测，减少智能体",
);

const SIMPLE_DQN_REPLAY: Line = option("--replay_size 500000").note(
    "1000000 unless set, some 7 GB of screens; then 100000; a 32-bit Python holds no more than 2 GB",
    "默认 1000000，屏幕约占 7 GB；再试 100000；32 位 Python 最多约 2 GB",
);

const AIRSIM_REPLAY: Line = option("DeepQAgent(..., memory_size=50000)").note(
    "500000 unless set: so many screens in float32, made before the first step",
    "默认 500000：开始前就建立这么多 float32 屏幕",
);

const DEEPRL_REPLAY: Line = option("Replay(memory_size=int(1e5), batch_size=32, dtype=np.uint8)").note(
    "in the config of main.py: it keeps two copies of so many states",
    "写在 main.py 的 config：它会建立两个这么多状态的数组",
);

/// The same as walk-these-ways' scripts/train.py sets it.
const WORLDS_IN_CFG: Line = option("Cfg.env.num_envs = <half>")
    .note("in scripts/train.py; 4000 unless set, for some 12 GB", "写在 scripts/train.py；默认 4000，约需 12 GB 显存");

const WORLDS_OF_PHYSX: Line = said(
    Target::Program,
    "fewer parallel environments: num_envs of the command or of the task's configuration, headless=True where it \
     draws; then there smaller buffers of physx: max_gpu_contact_pairs (Isaac Gym), capacities that begin with gpu_ \
     (Isaac Sim)",
    "减少并行环境：命令或任务配置中的 num_envs；若有画面则设 headless=True；再减小配置中 physx 的缓冲：\
     max_gpu_contact_pairs（Isaac Gym）、以 gpu_ 开头的容量（Isaac Sim）",
);

const WORLDS_OF_ISAAC_SIM: Line = option("num_envs=<half> headless=True").note(
    "headless draws nothing; then in the task's .yaml smaller capacities of sim.physx that begin with gpu_",
    "headless 不渲染画面；再减小任务 .yaml 中 sim.physx 以 gpu_ 开头的容量",
);

pub(super) const TOOLS: &[Tool] = &[
    // ML-Agents. Seen in Unity-Technologies/ml-agents, docs/Training-Configuration-File.md (buffer_size 10240 for
    // PPO: steps that are kept before a model is updated; 50000 and more for SAC). Of the releases of 2018 and 2019
    // the same key stands in trainer_config.yaml. Observations are kept as arrays of NumPy until then.
    Tool {
        name: "ML-Agents",
        files: &["/mlagents/trainers/"],
        scripts: &["mlagents-learn"],
        clue: None,
        rows: &[
            ("raise-host-limit", ML_AGENTS_BUFFER),
            ("read-less-at-once", ML_AGENTS_BUFFER),
            ("less-at-once", ML_AGENTS_BUFFER),
            ("fewer-at-once", option("--num-envs <fewer>").note("of mlagents-learn", "mlagents-learn 的选项")),
            ("smaller-batch", option("batch_size: <half>").note("trainer's configuration", "训练配置文件")),
        ],
        lacks: &[
            "gradient-checkpointing",
            "mixed-precision",
            "chunk-the-operation",
            "no-python-lists-in-dataset",
            "fewer-workers",
        ],
    },
    // DeepRL's replay memory. Seen in ShangtongZhang/DeepRL, component/replay.py at 27f54ed: states and next_states are
    // made whole with the first experience, memory_size by the state's shape, in the dtype given, float32 unless set.
    Tool {
        name: "DeepRL's replay",
        files: &["/deeprl/component/replay.py", "/deep_rl/component/replay.py"],
        scripts: &[],
        clue: None,
        rows: &[("raise-host-limit", DEEPRL_REPLAY), ("read-less-at-once", DEEPRL_REPLAY)],
        lacks: &["chunk-the-operation", "no-python-lists-in-dataset", "fewer-workers"],
    },
    // simple_dqn. Seen in tambetm/simple_dqn, src/main.py at 01c8630 (--replay_size 1000000, --screen_width and
    // --screen_height 84) and src/replay_memory.py (np.empty of all screens in uint8); its issues 14, 17 and 21.
    Tool {
        name: "simple_dqn",
        files: &["/simple_dqn/src/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("raise-host-limit", SIMPLE_DQN_REPLAY),
            ("read-less-at-once", SIMPLE_DQN_REPLAY),
            ("fix-the-shape", SIMPLE_DQN_REPLAY),
        ],
        lacks: &["chunk-the-operation", "no-python-lists-in-dataset", "fewer-workers"],
    },
    // AirSim's examples on CNTK. Seen in microsoft/AirSim, PythonClient/multirotor/DQNdrone.py at f5363d9 (DeepQAgent
    // with memory_size=500000, ReplayMemory by np.zeros((size,) + sample_shape, dtype=np.float32)); issues 1525, 2226.
    Tool {
        name: "AirSim's DQN examples",
        files: &["/multirotor/dqndrone.py", "/car/dqncar.py"],
        scripts: &["DQNdrone.py", "DQNcar.py"],
        clue: None,
        rows: &[
            ("raise-host-limit", AIRSIM_REPLAY),
            ("read-less-at-once", AIRSIM_REPLAY),
            ("fix-the-shape", AIRSIM_REPLAY),
        ],
        lacks: &["chunk-the-operation", "no-python-lists-in-dataset", "fewer-workers"],
    },
    // What trains in Isaac's simulators: worlds, renderer and physics lie on the GPU beside PyTorch. Isaac Lab:
    // scripts/reinforcement_learning/*/train.py at 011c373, whose 1.x lay in omni/isaac/lab (65fef26); legged_gym:
    // README.md at 8fa29ac; IsaacGymEnvs: README.md at aeed298 (num_envs=NUM_ENVS); OmniDrones and NavRL
    // (Zhefan-Xu/NavRL at 8d3ca96, README.md and isaac-training/): env.num_envs and env.num_obstacles; by its issue 91
    // 256 worlds fit where 512 do not.
    Tool {
        name: "OmniDrones or NavRL",
        files: &["/isaac-training/", "/omni_drones/", "/omnidrones/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", WORLDS_WITH_OBSTACLES),
            ("less-at-once", WORLDS_WITH_OBSTACLES),
            ("smaller-eval-batch", WORLDS_WITH_OBSTACLES),
            (
                "other-libraries",
                option("env.num_envs=<half>").note("headless=True draws nothing", "headless=True 不渲染画面"),
            ),
        ],
        lacks: NOT_OF_SIMULATORS,
    },
    Tool {
        name: "IsaacGymEnvs",
        files: &["/isaacgymenvs/"],
        scripts: &[],
        clue: None,
        rows: &[("smaller-batch", WORLDS), ("less-at-once", WORLDS), ("other-libraries", WORLDS)],
        lacks: NOT_OF_SIMULATORS,
    },
    // walk-these-ways and what was made of it. Seen in Improbable-AI/walk-these-ways, README.md: the default
    // configuration takes some 12 GB of the GPU, and fewer parallel environments (Cfg.env.num_envs = 4000) less.
    Tool {
        name: "walk-these-ways",
        files: &["/go1_gym/", "/go1_gym_learn/", "/walk-these-ways/"],
        scripts: &[],
        clue: None,
        rows: &[("smaller-batch", WORLDS_IN_CFG), ("less-at-once", WORLDS_IN_CFG), ("other-libraries", WORLDS_IN_CFG)],
        lacks: NOT_OF_SIMULATORS,
    },
    // ManiSkill's baselines. Seen in haosulab/ManiSkill, examples/baselines/ppo/ppo_rgb.py at 07bc2dd (num_envs 512,
    // num_eval_envs 8, num_steps 50, num_minibatches 32: a minibatch is num_envs × num_steps / num_minibatches); its
    // issue 716. Scenes and their pictures lie on the GPU outside PyTorch. The names of its other scripts many have.
    Tool {
        name: "ManiSkill",
        files: &["/mani_skill/", "/maniskill/"],
        scripts: &["ppo_rgb.py"],
        clue: None,
        rows: &[
            ("other-libraries", ENVIRONMENTS),
            ("less-at-once", ENVIRONMENTS),
            ("smaller-batch", ENVIRONMENTS),
            (
                "smaller-batch",
                option("--num_minibatches <twice>")
                    .note("what one update takes; 32 unless set", "每次更新的样本更少；默认 32"),
            ),
            ("smaller-eval-batch", option("--num_eval_envs <half>").note("8 unless set", "默认 8")),
        ],
        lacks: NOT_OF_SIMULATORS,
    },
    Tool {
        name: "Isaac Lab or legged_gym",
        files: &["/isaaclab/", "/isaaclab_tasks/", "/omni/isaac/lab/", "/omni/isaac/lab_tasks/", "/legged_gym/"],
        scripts: &[],
        clue: None,
        rows: &[("smaller-batch", ENVIRONMENTS), ("less-at-once", ENVIRONMENTS), ("other-libraries", ENVIRONMENTS)],
        lacks: NOT_OF_SIMULATORS,
    },
    // OmniIsaacGymEnvs on Isaac Sim. Seen in isaac-sim/OmniIsaacGymEnvs, omniisaacgymenvs/cfg/config.yaml at 221166c
    // (num_envs, headless False, device_id 0, rl_device cuda:0) and cfg/task/ShadowHand.yaml at 3732c99 (sim.physx:
    // gpu_max_rigid_contact_count, gpu_found_lost_pairs_capacity, gpu_heap_capacity and others); its issue 11. Isaac
    // Gym's max_gpu_contact_pairs is none of these. The renderer is Vulkan's, for which CUDA's variable does nothing.
    Tool {
        name: "OmniIsaacGymEnvs",
        files: &["/omniisaacgymenvs/", "/omni/isaac/core/", "/omni/isaac/gym/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", WORLDS_OF_ISAAC_SIM),
            ("less-at-once", WORLDS_OF_ISAAC_SIM),
            ("other-libraries", WORLDS_OF_ISAAC_SIM),
            ("other-device", option("device_id=<index> rl_device=cuda:<index>")),
        ],
        lacks: NOT_OF_SIMULATORS,
    },
    // PhysX on a GPU (Isaac Gym, Isaac Sim, SAPIEN) by its allocator's own words, where nothing shows who runs it:
    // each of them has num_envs. Keys of sim.physx: legged_gym's base configuration (max_gpu_contact_pairs).
    Tool {
        name: "PhysX on a GPU",
        files: &[],
        scripts: &["PxgCudaDeviceMemoryAllocator fail to allocate memory"],
        clue: None,
        rows: &[
            ("less-at-once", WORLDS_OF_PHYSX),
            ("smaller-batch", WORLDS_OF_PHYSX),
            ("other-libraries", WORLDS_OF_PHYSX),
        ],
        lacks: NOT_OF_SIMULATORS,
    },
];
