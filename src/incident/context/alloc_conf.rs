//! What PyTorch makes of the allocator settings that a log shows.

use super::{Context, Platform};
use crate::allocator::config::{self, Remark, TorchPlatform};
use crate::allocator::version::Version;
use crate::evidence::Known;

impl Context {
    /// What is worth a word about the allocator settings; at their line.
    pub fn alloc_conf_remarks(&self) -> Known<Vec<Remark>> {
        let Known::Seen(conf, at) = &self.alloc_conf else { return Known::default() };
        let version = self.torch_version.get().and_then(|version| Version::parse(version));
        let platform = match self.platform.get() {
            Some(Platform::Windows) => TorchPlatform::Windows,
            Some(Platform::Wsl) => TorchPlatform::Wsl,
            _ => TorchPlatform::Linux,
        };
        let remarks = config::remarks(conf, version, platform);
        if remarks.is_empty() { Known::default() } else { Known::Seen(remarks, *at) }
    }
}
