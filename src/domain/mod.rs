//! The closed words of the domain: what each set holds is written once, and the compiler knows it.
//!
//! A word of a set has an id, which is its name in the JSON and which stays even where the variant's name changes.

pub mod accelerator;
pub mod fact;
pub mod headroom;
pub mod library;
pub mod name;
pub mod number;
pub mod program;
pub mod resource;
pub mod sign;
pub mod system;
pub mod target;
pub mod trainer;
pub mod verdict;

pub use accelerator::Accelerator;
pub use fact::Fact;
pub use headroom::Headroom;
pub use library::Library;
pub use number::Number;
pub use program::Program;
pub use resource::Resource;
pub use sign::Sign;
pub use system::System;
pub use target::Target;
pub use trainer::Trainer;
pub use verdict::Verdict;

/// An enum of words with their ids: the type, its list `ALL`, `id()`, and the way to and from text and JSON.
macro_rules! closed_set {
    ($(#[$meta:meta])* $vis:vis enum $Set:ident { $($(#[$doc:meta])* $Word:ident = $id:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $Set {
            $($(#[$doc])* #[serde(rename = $id)] $Word),+
        }

        impl $Set {
            /// Every word of the set, in its order.
            pub const ALL: &'static [$Set] = &[$($Set::$Word),+];

            /// The name in JSON.
            pub const fn id(self) -> &'static str {
                match self {
                    $($Set::$Word => $id),+
                }
            }
        }

        impl std::fmt::Display for $Set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.id())
            }
        }

        impl std::str::FromStr for $Set {
            type Err = $crate::domain::NoSuchWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($id => Ok($Set::$Word),)+
                    _ => Err($crate::domain::NoSuchWord),
                }
            }
        }
    };
}
pub(crate) use closed_set;

/// An enum whose variants have ids and may hold more than JSON shows: the type, `id()`, and its way to JSON.
macro_rules! named_variants {
    ($(#[$meta:meta])* $vis:vis enum $Set:ident {
        $($(#[doc = $doc:literal])* $Word:ident $(($($inside:ty),+))? = $id:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis enum $Set {
            $($(#[doc = $doc])* $Word $(($($inside),+))?),+
        }

        impl $Set {
            /// The name in JSON.
            pub const fn id(&self) -> &'static str {
                match self {
                    $($Set::$Word { .. } => $id),+
                }
            }
        }

        impl serde::Serialize for $Set {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.id())
            }
        }

        impl schemars::JsonSchema for $Set {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Set).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::domain::schema_of_words(&[$(($id, concat!($($doc),*))),+])
            }
        }
    };
}
pub(crate) use named_variants;

/// The schema of a word out of a list, with what is said of each.
pub(crate) fn schema_of_words(words: &[(&str, &str)]) -> schemars::Schema {
    let words = words.iter().map(|(id, doc)| match doc.trim() {
        "" => schemars::json_schema!({"type": "string", "const": id}),
        doc => schemars::json_schema!({"description": doc, "type": "string", "const": id}),
    });
    schemars::json_schema!({"oneOf": words.collect::<Vec<_>>()})
}

/// A text that is no id of the set it was read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchWord;

impl std::fmt::Display for NoSuchWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no such name")
    }
}

impl std::error::Error for NoSuchWord {}
