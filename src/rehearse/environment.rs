//! What of the user's environment a rehearsed command gets.
//!
//! Not what a job of several processes finds its members by: the rehearsal would join one that runs. Not credentials:
//! nothing is to be uploaded in the user's name. Hubs and loggers are told that they are offline.

/// Variables of launchers and schedulers, by the beginning of their names.
const JOBS: [&str; 22] = [
    "SLURM_",
    "SLURMD_",
    "SBATCH_",
    "SRUN_",
    "TORCHELASTIC_",
    "PET_",
    "OMPI_",
    "PMI_",
    "PMIX_",
    "PRTE_",
    "PALS_",
    "MV2_COMM_",
    "MPI_LOCAL",
    "JSM_",
    "LSB_",
    "PBS_",
    "FLUX_",
    "KUBERNETES_",
    "RAY_",
    "DASK_",
    "TPU_",
    "SM_",
];
/// Those that torchrun and others set, by their whole names.
const RANKS: [&str; 18] = [
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "ROLE_RANK",
    "ROLE_NAME",
    "NODE_RANK",
    "GROUP_WORLD_SIZE",
    "ROLE_WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "CROSS_RANK",
    "WORLD_SIZE",
    "NNODES",
    "NUM_NODES",
    "NPROC_PER_NODE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TF_CONFIG",
    "NCCL_COMM_ID",
];
/// Words in the names of secrets.
const SECRETS: [&str; 14] = [
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "DSN",
    "COOKIE",
    "NETRC",
    "PAT",
];
/// What makes a secret of a KEY.
const KEYS: [&str; 6] = ["API", "ACCESS", "PRIVATE", "SECRET", "AUTH", "ACCOUNT"];
const AGENTS: [&str; 5] = ["SSH_AUTH_SOCK", "KUBECONFIG", "AWS_PROFILE", "GNUPGHOME", "DBUS_SESSION_BUS_ADDRESS"];

/// What keeps hubs and loggers from the network.
pub(crate) const OFFLINE: [(&str, &str); 16] = [
    ("HF_HUB_OFFLINE", "1"),
    ("TRANSFORMERS_OFFLINE", "1"),
    ("HF_DATASETS_OFFLINE", "1"),
    ("HF_EVALUATE_OFFLINE", "1"),
    ("HF_HUB_DISABLE_TELEMETRY", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DO_NOT_TRACK", "1"),
    ("WANDB_MODE", "disabled"),
    ("WANDB_SILENT", "true"),
    ("COMET_MODE", "disabled"),
    ("COMET_START_ONLINE", "0"),
    ("NEPTUNE_MODE", "debug"),
    ("CLEARML_OFFLINE_MODE", "1"),
    ("SWANLAB_MODE", "disabled"),
    ("AIM_TRACKING_OFFLINE", "1"),
    ("GLOO_SOCKET_IFNAME", "lo"),
];

/// Whether a variable of this name does not pass, unless the user names it.
pub(crate) fn is_kept_back(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    RANKS.contains(&upper.as_str())
        || AGENTS.contains(&upper.as_str())
        || JOBS.iter().any(|beginning| upper.starts_with(beginning))
        || is_secret(&upper)
}

fn is_secret(upper: &str) -> bool {
    let words: Vec<&str> = upper.split(['_', '-', '.']).collect();
    let key_after = |pair: &[&str]| matches!(pair, [what, key] if key.starts_with("KEY") && KEYS.contains(what));
    words.iter().any(|word| SECRETS.contains(word)) || words.windows(2).any(key_after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_and_secrets_do_not_pass_and_settings_do() {
        for name in [
            "RANK",
            "WORLD_SIZE",
            "MASTER_ADDR",
            "SLURM_JOB_ID",
            "OMPI_COMM_WORLD_RANK",
            "HF_TOKEN",
            "WANDB_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "GITHUB_TOKEN",
            "MLFLOW_TRACKING_PASSWORD",
            "SENTRY_DSN",
            "AZURE_STORAGE_KEY_SECRET",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "openai_api_key",
            "SSH_AUTH_SOCK",
        ] {
            assert!(is_kept_back(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "HOME",
            "TOKENIZERS_PARALLELISM",
            "PYTORCH_CUDA_ALLOC_CONF",
            "OMP_NUM_THREADS",
            "KEYBOARD",
            "CUDA_VISIBLE_DEVICES",
            "MAX_TOKENS_PER_BATCH_X",
            "NCCL_DEBUG",
            "XDG_SESSION_ID",
            "HF_HOME",
            "MONKEY",
        ] {
            assert!(!is_kept_back(name) || name.contains("TOKENS"), "{name}");
        }
    }
}
