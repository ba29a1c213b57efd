//! The line that sets PyTorch's allocator options: what the user already has in it, changed by as little as needed.

use super::case::Case;
use crate::incident::release;

/// The options of one `PYTORCH_*ALLOC_CONF` value, in the user's order.
pub struct AllocConf {
    options: Vec<(String, String)>,
    variable: &'static str,
}

impl AllocConf {
    /// The user's options as far as the log shows them, and the variable's name for this version of PyTorch.
    pub fn of(case: &Case) -> AllocConf {
        let variable = release::conf_variable(case.incident).unwrap_or("PYTORCH_CUDA_ALLOC_CONF");
        let recorded = case.proof().and_then(|recording| recording.conf.as_deref());
        let value = case.context.alloc_conf.get().map(String::as_str).or(recorded).unwrap_or_default();
        AllocConf { options: parse(value), variable }
    }

    pub fn get(&self, option: &str) -> Option<&str> {
        self.options.iter().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
    }

    /// True when expandable segments are already on.
    pub fn expandable(&self) -> bool {
        self.get("expandable_segments") == Some("True")
    }

    pub fn without(mut self, option: &str) -> AllocConf {
        self.options.retain(|(name, _)| name != option);
        self
    }

    /// The value alone.
    pub fn value(&self) -> String {
        let options: Vec<String> = self.options.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        options.join(",")
    }

    /// The variable that holds the options.
    pub fn variable(&self) -> &'static str {
        self.variable
    }

    /// The options as the beginning of a value that goes on with one more.
    pub fn kept(&self) -> String {
        let value = self.value();
        if value.is_empty() { value } else { value + "," }
    }
}

/// Splits `a:1,b:[x:1,y:2],c:True` at the commas outside brackets; a leading `NAME=` and quotes are dropped.
fn parse(value: &str) -> Vec<(String, String)> {
    let value = value.trim().trim_matches(|c| c == '"' || c == '\'');
    let value = match value.split_once('=') {
        Some((name, rest)) if name.ends_with("ALLOC_CONF") => rest.trim_matches(|c| c == '"' || c == '\''),
        _ => value,
    };
    let mut options = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    let mut push = |part: &str| {
        if let Some((name, setting)) = part.trim().split_once(':') {
            options.push((name.trim().to_string(), setting.trim().to_string()));
        }
    };
    for (position, c) in value.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth <= 0 => {
                push(&value[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    push(&value[start..]);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_already_set_are_kept_when_one_is_added() {
        let conf = AllocConf {
            options: parse("roundup_power2_divisions:[256:1,>:4],max_split_size_mb:128"),
            variable: "PYTORCH_CUDA_ALLOC_CONF",
        };
        assert_eq!(conf.get("max_split_size_mb"), Some("128"));
        assert_eq!(
            conf.without("max_split_size_mb").kept() + "expandable_segments:True",
            "roundup_power2_divisions:[256:1,>:4],expandable_segments:True"
        );
    }

    #[test]
    fn odd_values_are_read_without_harm() {
        assert!(parse("").is_empty());
        assert!(parse("max_split_size_mb=128").is_empty());
        assert_eq!(parse("PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True'").len(), 1);
        assert_eq!(parse("]],[a:1").len(), 1);
    }
}
