//! The allocator's configuration, in every release.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomdoc::allocator::config::{Config, TorchPlatform, remarks};
use oomdoc::allocator::version::Version;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for minor in 0..=15 {
        let version = Version::new(2, minor);
        for platform in [TorchPlatform::Linux, TorchPlatform::Windows, TorchPlatform::Rocm] {
            let _ = Config::parse(text, version, platform);
            let _ = remarks(text, Some(version), platform);
        }
    }
});
