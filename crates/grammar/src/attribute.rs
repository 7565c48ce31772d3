//! `__attribute__((…))`: what clang knows of OpenCL's attributes.

use super::{
    declaration::Place,
    parser::{Goal, Lexeme, Outcome, Parser, Refusal, Sort, Step},
    types::{self, Type},
};

/// What comes next of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Attribute {
    /// The first parenthesis.
    Outer,
    /// The second.
    Inner,
    /// A name, or the end.
    Name,
    /// Its arguments, a comma or the end.
    Named(Known),
    /// An operand of an argument, behind so many arguments.
    Argument(Known, u8, Computed),
    /// What stands behind an operand.
    Filled(Known, u8, Computed),
    /// The last parenthesis.
    Last,
}

/// The value of an argument so far: clang refuses one that is 0 or too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Computed {
    sum: u64,
    /// The last summand, which `*` and `/` go on with.
    last: u64,
    operator: Operator,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Operator {
    #[default]
    Plus,
    Times,
    By,
}

impl Computed {
    fn with(self, number: u64) -> Option<Computed> {
        let (sum, last) = match self.operator {
            Operator::Plus => (self.sum + self.last, number),
            Operator::Times => (self.sum, self.last * number),
            Operator::By => (self.sum, self.last.checked_div(number)?),
        };
        (last > 0 && sum + last < 1 << 31).then_some(Computed { sum, last, ..self })
    }

    fn then(self, text: &str) -> Option<Computed> {
        let operator = match text {
            "+" => Operator::Plus,
            "*" => Operator::Times,
            "/" => Operator::By,
            _ => return None,
        };
        Some(Computed { operator, ..self })
    }
}

/// What an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Known {
    /// So many numbers, at least and at most.
    Numbers(u8, u8),
    /// A power of two, or nothing.
    Alignment,
    /// A type.
    Type,
    /// Lanes of a vector.
    Lanes,
}

/// Attributes that kernels are written with, what each takes, and whether only kernels have it.
const KNOWN: [(&str, Known, bool); 22] = [
    ("aligned", Known::Alignment, false),
    ("always_inline", Known::Numbers(0, 0), false),
    ("const", Known::Numbers(0, 0), false),
    ("convergent", Known::Numbers(0, 0), false),
    ("ext_vector_type", Known::Lanes, false),
    ("flatten", Known::Numbers(0, 0), false),
    ("intel_reqd_sub_group_size", Known::Numbers(1, 1), true),
    ("max_constant_size", Known::Numbers(1, 1), false),
    ("may_alias", Known::Numbers(0, 0), false),
    ("noinline", Known::Numbers(0, 0), false),
    ("nosvm", Known::Numbers(0, 0), false),
    ("nothrow", Known::Numbers(0, 0), false),
    ("opencl_unroll_hint", Known::Numbers(0, 1), false),
    ("overloadable", Known::Numbers(0, 0), false),
    ("packed", Known::Numbers(0, 0), false),
    ("pure", Known::Numbers(0, 0), false),
    ("reqd_work_group_size", Known::Numbers(3, 3), true),
    ("unused", Known::Numbers(0, 0), false),
    ("used", Known::Numbers(0, 0), false),
    ("vec_type_hint", Known::Type, true),
    ("work_group_size_hint", Known::Numbers(3, 3), true),
    ("xcl_max_work_group_size", Known::Numbers(3, 3), false),
];

/// The attribute that a word names, with underscores around it or without.
fn known(word: &str) -> Option<(&'static str, Known, bool)> {
    let bare = word.strip_prefix("__").and_then(|word| word.strip_suffix("__")).unwrap_or(word);
    KNOWN.into_iter().find(|(name, ..)| *name == bare)
}

/// Whether an attribute's name may begin like this.
fn begins(prefix: &str) -> bool {
    let with = |name: &str| format!("__{name}__").starts_with(prefix);
    KNOWN.iter().any(|(name, ..)| name.starts_with(prefix) || with(name))
}

impl Parser {
    pub(super) fn attribute(&mut self, at: Attribute, lexeme: Lexeme<'_>) -> Outcome {
        use Attribute::{Argument, Filled, Inner, Last, Name, Named, Outer};
        let text = lexeme.text;
        let next = match at {
            Outer if text == "(" => Inner,
            Inner if text == "(" => Name,
            Name | Named(_) if text == ")" => {
                if let Named(Known::Numbers(1.., _) | Known::Type | Known::Lanes) = at {
                    return Err(Refusal::Arity);
                }
                Last
            }
            Name if lexeme.is_word() => {
                if lexeme.partial {
                    return if begins(text) { Ok(Step::Taken) } else { Err(Refusal::Undeclared) };
                }
                let (name, takes, kernel_only) = known(text).ok_or(Refusal::Undeclared)?;
                let function = match self.goals.last() {
                    Some(Goal::AfterParameters(d, _)) => d.is_kernel(),
                    // `kernel` may still come.
                    Some(Goal::Specifiers(d)) => {
                        d.is_kernel() || d.place() == Place::File && !d.is_typed()
                    }
                    _ => false,
                };
                let before = match self.goals.last() {
                    Some(Goal::AfterParameters(..)) => true,
                    Some(Goal::Specifiers(d)) => d.place() == Place::File,
                    _ => false,
                };
                if kernel_only && !function || name == "overloadable" && !before {
                    return Err(Refusal::Context);
                }
                if self.attributes.contains(&name) {
                    return Err(Refusal::Redeclared);
                }
                self.attributes.push(name);
                self.overloadable |= name == "overloadable";
                self.kernel_only |= kernel_only;
                self.loop_next |= name == "opencl_unroll_hint";
                Named(takes)
            }
            Named(Known::Numbers(1.., _) | Known::Type | Known::Lanes) if text == "," => {
                return Err(Refusal::Arity);
            }
            Name | Named(_) if text == "," => Name,
            Named(Known::Numbers(_, 0)) if text == "(" => return Err(Refusal::Arity),
            Named(known) if text == "(" => Argument(known, 0, Computed::default()),
            Argument(known, filled, before) => {
                match self.attribute_argument(known, before, lexeme)? {
                    Some(value) => Filled(known, filled + 1, value),
                    None => return Ok(Step::Taken),
                }
            }
            Filled(known, filled, value) => match (text, known) {
                ("+" | "*" | "/", Known::Numbers(..)) => {
                    Argument(known, filled - 1, value.then(text).ok_or(Refusal::Syntax)?)
                }
                (",", Known::Numbers(_, most)) if filled < most => {
                    Argument(known, filled, Computed::default())
                }
                (")", Known::Numbers(least, _)) if filled < least => return Err(Refusal::Arity),
                // Arguments are complete: another name or the end.
                (")", _) => Named(Known::Numbers(0, 0)),
                _ => return Err(Refusal::Syntax),
            },
            Last if text == ")" => return Ok(Step::Taken),
            _ => return Err(Refusal::Syntax),
        };
        self.want(Goal::Attribute(next));
        Ok(Step::Taken)
    }

    /// An operand of an attribute's argument: the argument's value with it; `None` while it is being spelled.
    fn attribute_argument(
        &mut self,
        known: Known,
        before: Computed,
        lexeme: Lexeme<'_>,
    ) -> Result<Option<Computed>, Refusal> {
        let text = lexeme.text;
        let number = || match lexeme.partial {
            true => types::numbers_beginning(text).iter().any(|scalar| !scalar.is_float()),
            false => matches!(types::number(text), Some(scalar) if !scalar.is_float()),
        };
        let one_of = |all: &mut dyn Iterator<Item = u32>| {
            all.map(|one| one.to_string())
                .any(|one| one == text || lexeme.partial && one.starts_with(text))
        };
        let fits = match known {
            // A few digits are enough for a group's size.
            Known::Numbers(..) => {
                lexeme.sort == Sort::Number
                    && text.len() < 10
                    && number()
                    && types::natural(text).map_or(lexeme.partial, |n| before.with(n).is_some())
            }
            Known::Lanes => one_of(&mut [2, 3, 4, 8, 16].into_iter()),
            Known::Alignment => one_of(&mut (0..12).map(|power| 1 << power)),
            Known::Type => {
                lexeme.is_word()
                    && (lexeme.partial || Type::named(text).is_some_and(|ty| ty.is_arithmetic()))
            }
        };
        if !fits {
            return Err(Refusal::Syntax);
        }
        if lexeme.partial {
            return Ok(None);
        }
        if known == Known::Lanes {
            let lanes = text.parse().ok().filter(|lanes| matches!(lanes, 2 | 3 | 4 | 8 | 16));
            self.lanes = Some(lanes.ok_or(Refusal::Type)?);
        }
        let number = types::natural(text).and_then(|number| before.with(number));
        Ok(Some(number.unwrap_or(before)))
    }
}

impl Attribute {
    /// Lexemes up to its end, at least.
    pub(super) fn distance(self) -> usize {
        match self {
            Attribute::Outer => 4,
            Attribute::Inner => 3,
            Attribute::Name | Attribute::Named(_) => 2,
            Attribute::Argument(Known::Numbers(least, _), filled, _) => {
                3 + 2 * usize::from(least.saturating_sub(filled).max(1)) - 1
            }
            Attribute::Filled(Known::Numbers(least, _), filled, _) => {
                3 + 2 * usize::from(least.saturating_sub(filled))
            }
            Attribute::Argument(..) => 4,
            Attribute::Filled(..) => 3,
            Attribute::Last => 1,
        }
    }
}
