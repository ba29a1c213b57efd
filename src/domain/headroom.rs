//! How much room is to stay free, as every `--headroom` and every budget takes it.

use crate::text;
use crate::text::Text;
use crate::units::{self, Base, Bytes};
use std::fmt;
use std::str::FromStr;

/// Room that is to stay free.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Headroom {
    /// Of the device, 0 to 1.
    Share(f64),
    Bytes(u64),
}

/// Why a text names no headroom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadHeadroom {
    /// Neither a share nor a size.
    NotRoom,
    /// A share of all or more, or below none.
    OutOfRange,
}

impl fmt::Display for BadHeadroom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().en)
    }
}

impl BadHeadroom {
    pub(crate) fn text(&self) -> Text {
        match self {
            BadHeadroom::NotRoom => {
                text!(en: "write a share such as 5% or a size such as 2GiB", zh: "请写 5% 这样的比例或 2GiB 这样的大小")
            }
            BadHeadroom::OutOfRange => {
                text!(en: "the share must be at least 0% and below 100%", zh: "比例须不小于 0% 且小于 100%")
            }
        }
    }
}

impl std::error::Error for BadHeadroom {}

impl Headroom {
    /// What stays free where nothing was asked for.
    pub const DEFAULT: Headroom = Headroom::Share(0.05);

    /// As a share of a device.
    pub fn share(self, capacity: u64) -> f64 {
        match self {
            Headroom::Share(share) => share,
            Headroom::Bytes(bytes) => bytes as f64 / capacity.max(1) as f64,
        }
    }

    /// `5 %`, `2.00 GiB`.
    pub fn text(self) -> String {
        match self {
            Headroom::Share(share) => format!("{} %", (share * 1000.0).round() / 10.0),
            Headroom::Bytes(bytes) => Bytes(bytes).to_string(),
        }
    }
}

impl FromStr for Headroom {
    type Err = BadHeadroom;

    /// `5%`, `0.05`, `5` and `2GiB`. A bare number is never bytes: below one it is a share, from one on a percentage,
    /// since nobody keeps the whole device free.
    fn from_str(text: &str) -> Result<Headroom, BadHeadroom> {
        let text = text.trim();
        let percent = text.strip_suffix('%').map(str::trim_end);
        let share = match (percent, percent.unwrap_or(text).parse::<f64>()) {
            (Some(_), Ok(number)) => number / 100.0,
            (None, Ok(number)) if number >= 1.0 => number / 100.0,
            (None, Ok(number)) => number,
            (Some(_), Err(_)) => return Err(BadHeadroom::NotRoom),
            (None, Err(_)) => {
                let size = units::parse(text, Base::Binary).ok_or(BadHeadroom::NotRoom)?;
                return Ok(Headroom::Bytes(size.bytes));
            }
        };
        if (0.0..1.0).contains(&share) { Ok(Headroom::Share(share)) } else { Err(BadHeadroom::OutOfRange) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;
    use proptest::prelude::*;

    #[test]
    fn a_bare_number_is_a_percentage_from_one_on_and_a_share_below() {
        assert_eq!("5".parse(), Ok(Headroom::Share(0.05)));
        assert_eq!("5%".parse(), Ok(Headroom::Share(0.05)));
        assert_eq!(" 0.05 ".parse(), Ok(Headroom::Share(0.05)));
        assert_eq!("0.05 %".parse(), Ok(Headroom::Share(0.0005)));
        assert_eq!("1".parse(), Ok(Headroom::Share(0.01)));
        assert_eq!("0".parse(), Ok(Headroom::Share(0.0)));
        assert_eq!("2GiB".parse(), Ok(Headroom::Bytes(2 * GIB)));
        assert_eq!("100".parse::<Headroom>(), Err(BadHeadroom::OutOfRange));
        assert_eq!("100%".parse::<Headroom>(), Err(BadHeadroom::OutOfRange));
        assert_eq!("-0.1".parse::<Headroom>(), Err(BadHeadroom::OutOfRange));
        assert_eq!("NaN".parse::<Headroom>(), Err(BadHeadroom::OutOfRange));
        assert_eq!("a little".parse::<Headroom>(), Err(BadHeadroom::NotRoom));
        assert_eq!("".parse::<Headroom>(), Err(BadHeadroom::NotRoom));
    }

    #[test]
    fn bytes_are_a_share_of_the_device_they_are_kept_free_on() {
        assert_eq!(Headroom::Bytes(2 * GIB).share(8 * GIB), 0.25);
        assert_eq!(Headroom::Share(0.25).share(8 * GIB), 0.25);
        assert_eq!(Headroom::Bytes(2 * GIB).text(), "2.00 GiB");
        assert_eq!(Headroom::Share(0.0625).text(), "6.3 %");
    }

    proptest! {
        #[test]
        fn however_a_share_is_written_it_is_the_same(percent in 1.0f64..99.9) {
            let share = |text: String| match text.parse() {
                Ok(Headroom::Share(share)) => share,
                other => panic!("{text}: {other:?}"),
            };
            let as_percent = share(format!("{percent}%"));
            prop_assert_eq!(as_percent, share(format!("{percent}")));
            let as_share = share((percent / 100.0).to_string());
            prop_assert!((as_percent - as_share).abs() < 1e-12, "{as_percent} {as_share}");
        }

        #[test]
        fn no_text_gives_a_share_outside_of_the_device(text in ".{0,12}") {
            if let Ok(Headroom::Share(share)) = text.parse() {
                prop_assert!((0.0..1.0).contains(&share));
            }
        }
    }
}
