/// Who has to do something about a row that is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Responsible {
    /// The program: it says something about it.
    Program,
    /// This project: a choice, a limit or a guess of ours.
    Us,
    /// The machine or the network: the next run may find otherwise.
    Machine,
}

impl Responsible {
    /// Its word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Responsible::Program => "program",
            Responsible::Us => "us",
            Responsible::Machine => "machine",
        }
    }
}

/// The words of one stage, each with its written form, who is responsible and what it means.
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        pub enum $type:ident, $kind:literal {
            $($word:ident $name:literal $responsible:ident $meaning:literal;)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $type {
            $(
                #[doc = concat!($meaning, ".")]
                #[serde(rename = $name)]
                $word,
            )+
        }

        impl $type {
            /// All of them, as tables list them.
            pub const ALL: &'static [$type] = &[$($type::$word),+];

            /// Its written form.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$word => $name),+
                }
            }

            /// What it says, in one line.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $($type::$word => $meaning),+
                }
            }

            /// Who has to do something about it.
            #[must_use]
            pub const fn responsible(self) -> $crate::Responsible {
                match self {
                    $($type::$word => $crate::Responsible::$responsible),+
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = dataset::UnknownWord;

            fn from_str(word: &str) -> Result<$type, dataset::UnknownWord> {
                let unknown = || dataset::UnknownWord { kind: $kind, word: word.to_owned() };
                $type::ALL.iter().copied().find(|known| known.name() == word).ok_or_else(unknown)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl From<$type> for &'static str {
            fn from(word: $type) -> &'static str {
                word.name()
            }
        }

        impl $crate::Words for $type {
            const KIND: &'static str = $kind;
            const ABOUT: &'static str = concat!($($about),+);

            fn table() -> Vec<(&'static str, &'static str, $crate::Responsible)> {
                let row = |word: &$type| (word.name(), word.meaning(), word.responsible());
                $type::ALL.iter().map(row).collect()
            }
        }
    };
}

/// The words of one stage, as the reference lists them.
pub trait Words {
    /// What one of them is, for example `verdict on a kernel`.
    const KIND: &'static str;
    /// What they are about.
    const ABOUT: &'static str;

    /// Each word with its meaning and who is responsible.
    fn table() -> Vec<(&'static str, &'static str, Responsible)>;
}
