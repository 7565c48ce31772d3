/// What the reference says of a schema beyond its columns' types.
pub trait Described: dataset::Row {
    /// What a row is.
    const ABOUT: &'static str;
    /// Each column's name and meaning, in order.
    const MEANINGS: &'static [(&'static str, &'static str)];
}

/// A row struct with its schema's name and version, described by its own comments:
///
/// ```text
/// schema! {
///     /// What a row is.
///     #[derive(Default)]
///     pub struct Name = "schema", 1 {
///         /// What the column holds.
///         pub column: String,
///     }
/// }
/// ```
macro_rules! schema {
    (
        $(#[doc = $about:literal])+
        #[derive($($derive:ident),*)]
        pub struct $type:ident = $schema:literal, $version:literal $(, shard_rows $rows:literal)? {
            $(
                $(#[doc = $meaning:literal])+
                $(#[serde($($serde:tt)*)])?
                pub $column:ident: $of:ty,
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize $(, $derive)*)]
        pub struct $type {
            $(
                $(#[doc = $meaning])+
                $(#[serde($($serde)*)])?
                pub $column: $of,
            )+
        }

        impl dataset::Row for $type {
            const SCHEMA: &'static str = $schema;
            const VERSION: u32 = $version;
            $(const SHARD_ROWS: usize = $rows;)?
        }

        impl $crate::Described for $type {
            const ABOUT: &'static str = concat!($($about),+);
            const MEANINGS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($column), concat!($($meaning),+))),+];
        }
    };
}

/// A struct of a few of a schema's columns: reading it reads no others.
macro_rules! view {
    (
        $(#[doc = $about:literal])+
        pub struct $type:ident of $row:ident {
            $(
                $(#[doc = $meaning:literal])*
                $(#[serde($($serde:tt)*)])?
                pub $column:ident: $of:ty,
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $type {
            $(
                #[doc = concat!("As in [`", stringify!($row), "`].")]
                $(#[serde($($serde)*)])?
                pub $column: $of,
            )+
        }

        impl dataset::Row for $type {
            const SCHEMA: &'static str = <$row as dataset::Row>::SCHEMA;
            const VERSION: u32 = <$row as dataset::Row>::VERSION;
        }
    };
}
