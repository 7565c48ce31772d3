/// Why a processor file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No TOML, or a parameter is missing, unknown or of another type.
    #[error("not a processor file: {0}")]
    Syntax(String),
    /// A number outside its range.
    #[error("processor file: `{name}` is {value}, wanted {least} to {most}")]
    Range {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: u64,
        /// The least value that is allowed.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A number that should be a power of two.
    #[error("processor file: `{name}` is {value}, wanted a power of two")]
    PowerOfTwo {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: usize,
    },
    /// A port that `ports.names` does not list.
    #[error("processor file: port `{0}` is not among `ports.names`")]
    Port(String),
    /// A class of instructions without a cost.
    #[error("processor file: `instructions.{0}` is missing")]
    Class(&'static str),
    /// A class of instructions that can go nowhere.
    #[error("processor file: `{0}` names no port")]
    NoPort(&'static str),
}
