//! Whether what failed takes data into memory whole: reads a file, or joins what it has collected. Such an array is as
//! large as the data, and nobody's mistake in a shape.

use super::{Context, Frame};

/// Calls that read a file as a whole.
const READS: &[&str] = &[
    "read_csv",
    "read_table",
    "read_json",
    "read_excel",
    "read_parquet",
    "read_pickle",
    "read_sql",
    "loadtxt",
    "genfromtxt",
    "np.load(",
    "numpy.load(",
    "fromfile",
    "json.load",
    "pickle.load",
    ".readlines(",
    ".read()",
    "load_dataset(",
    "imread",
    "loadmat",
    "Image.open",
];

/// The same of arrays and weights in a file, by the library's own lines.
const TAKES_FROM_A_FILE: &[&str] =
    &["torch.load(", "UntypedStorage.from_file", "_fast_reader.read", "read_elem(", "read_h5ad("];

/// Calls that make one array of what was collected.
const JOINS: &[&str] = &[
    "torch.cat(",
    "th.cat(",
    "torch.stack(",
    "tf.concat(",
    "np.concatenate(",
    "np.array(",
    "np.asarray(",
    "np.stack(",
    "np.vstack(",
    "np.hstack(",
    "np.append(",
    "pd.concat(",
];

/// The places of a replay buffer, all of which are made at the start or kept until it is full.
const REPLAY: [&str; 4] = ["replaybuffer", "replaymemory", "replay_buffer", "replay_memory"];

/// Frames from the innermost one out, among which the call of the array that failed is.
const INNERMOST: usize = 6;

fn calls(frame: &Frame, calls: &[&str]) -> bool {
    frame.code.as_deref().is_some_and(|code| calls.iter().any(|call| code.contains(call)))
}

impl Context {
    /// True where a file is read as a whole.
    pub fn reads_a_file(&self) -> bool {
        self.frames.iter().any(|frame| {
            let file = frame.path();
            calls(frame, READS) || file.contains("pandas/io/") || file.contains("/npyio")
        })
    }

    /// True where it failed at a replay buffer.
    pub fn keeps_a_replay_buffer(&self) -> bool {
        let named = |text: &str| REPLAY.iter().any(|name| text.to_ascii_lowercase().contains(name));
        self.frames.iter().any(|frame| {
            let file = frame.path();
            named(&frame.function)
                || frame.code.as_deref().is_some_and(named)
                || named(file.rsplit('/').next().unwrap_or_default())
                || file.ends_with("stable_baselines3/common/buffers.py")
        })
    }

    /// True where the array that failed is the data: read from a file, joined of what was collected, or a buffer for
    /// it.
    pub fn takes_in_data(&self) -> bool {
        let innermost = || self.frames.iter().rev().take(INNERMOST);
        let joins = self.user_frame().is_some_and(|frame| calls(frame, JOINS));
        innermost()
            .any(|frame| calls(frame, READS) || calls(frame, TAKES_FROM_A_FILE) || frame.path().contains("/npyio"))
            || joins
            || self.keeps_a_replay_buffer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Span;

    fn at(file: &str, code: &str) -> Context {
        let frame =
            Frame { file: file.into(), line: 1, function: "f".into(), code: Some(code.into()), at: Span::line(1) };
        Context { frames: vec![frame], ..Context::default() }
    }

    #[test]
    fn data_is_told_from_what_an_operation_makes() {
        assert!(at("/home/a/bones.py", "data = np.load('x.npy')").takes_in_data());
        assert!(at("/home/a/eval.py", "outputs = torch.cat(preds, dim=0)").takes_in_data());
        assert!(at("/home/a/dqn.py", "rb = ReplayBuffer(1000000)").takes_in_data());
        assert!(!at("/home/a/cluster.py", "y = pdist(x, 'cosine')").takes_in_data());
        assert!(!at("/home/a/model.py", "scores = q @ k.transpose(-1, -2)").takes_in_data());
    }
}
