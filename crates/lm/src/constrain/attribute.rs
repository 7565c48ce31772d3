//! `__attribute__((…))`: what clang knows of OpenCL's attributes.

use super::{
    parser::{Goal, Lexeme, Outcome, Parser, Refusal, Sort, Step},
    types::{self, Type},
};

/// What comes next of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    /// The first parenthesis.
    Outer,
    /// The second.
    Inner,
    /// A name, or the end.
    Name,
    /// Its arguments, a comma or the end.
    Named(Known),
    /// An argument.
    Argument(Known, u8),
    /// What stands behind an argument.
    Filled(Known, u8),
    /// The last parenthesis.
    Last,
}

/// What an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// So many numbers, at least and at most.
    Numbers(u8, u8),
    /// A power of two, or nothing.
    Alignment,
    /// A type.
    Type,
    /// Lanes of a vector.
    Lanes,
    /// Not known: clang warns and passes on.
    Unknown,
}

fn known(name: &str) -> (Known, bool) {
    match name.trim_matches('_') {
        "always_inline" | "noinline" | "overloadable" | "packed" | "convergent" | "unused" => {
            (Known::Numbers(0, 0), false)
        }
        "reqd_work_group_size" | "work_group_size_hint" => (Known::Numbers(3, 3), true),
        "intel_reqd_sub_group_size" => (Known::Numbers(1, 1), true),
        "opencl_unroll_hint" => (Known::Numbers(0, 1), false),
        "ext_vector_type" => (Known::Lanes, false),
        "aligned" => (Known::Alignment, false),
        "vec_type_hint" => (Known::Type, true),
        _ => (Known::Unknown, false),
    }
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
                    return Ok(Step::Taken);
                }
                let (known, kernel_only) = known(text);
                self.overloadable |= text.trim_matches('_') == "overloadable";
                self.kernel_only |= kernel_only;
                self.loop_next |= text.trim_matches('_') == "opencl_unroll_hint";
                Named(known)
            }
            Named(Known::Numbers(1.., _) | Known::Type | Known::Lanes) if text == "," => {
                return Err(Refusal::Arity);
            }
            Name | Named(_) if text == "," => Name,
            Named(Known::Numbers(_, 0)) if text == "(" => return Err(Refusal::Arity),
            Named(known) if text == "(" => Argument(known, 0),
            Argument(known, filled) => {
                let number = || match lexeme.partial {
                    true => types::numbers_beginning(text).iter().any(|scalar| !scalar.is_float()),
                    false => matches!(types::number(text), Some(scalar) if !scalar.is_float()),
                };
                let fits = match known {
                    Known::Numbers(..) | Known::Lanes => {
                        lexeme.sort == Sort::Number
                            && number()
                            && !text.trim_matches('0').is_empty()
                    }
                    Known::Alignment => {
                        let value = text.parse::<u32>();
                        let power =
                            value.is_ok_and(|value| value.is_power_of_two() && value < 4096);
                        lexeme.sort == Sort::Number && (power || lexeme.partial && number())
                    }
                    Known::Type => {
                        lexeme.is_word()
                            && (lexeme.partial
                                || Type::named(text).is_some_and(|ty| ty.is_arithmetic()))
                    }
                    Known::Unknown => {
                        matches!(lexeme.sort, Sort::Number | Sort::Text) || lexeme.is_word()
                    }
                };
                if !fits {
                    return Err(Refusal::Syntax);
                }
                if lexeme.partial {
                    return Ok(Step::Taken);
                }
                if known == Known::Lanes {
                    let lanes =
                        text.parse().ok().filter(|lanes| matches!(lanes, 2 | 3 | 4 | 8 | 16));
                    self.lanes = Some(lanes.ok_or(Refusal::Type)?);
                }
                Filled(known, filled + 1)
            }
            Filled(known, filled) => match (text, known) {
                (",", Known::Numbers(_, most)) if filled < most => Argument(known, filled),
                (",", Known::Unknown) => Argument(known, 0),
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
}

impl Attribute {
    /// Lexemes up to its end, at least.
    pub(super) fn distance(self) -> usize {
        match self {
            Attribute::Outer => 4,
            Attribute::Inner => 3,
            Attribute::Name | Attribute::Named(_) => 2,
            Attribute::Argument(Known::Numbers(least, _), filled) => {
                3 + 2 * usize::from(least.saturating_sub(filled).max(1)) - 1
            }
            Attribute::Filled(Known::Numbers(least, _), filled) => {
                3 + 2 * usize::from(least.saturating_sub(filled))
            }
            Attribute::Argument(..) => 4,
            Attribute::Filled(..) => 3,
            Attribute::Last => 1,
        }
    }
}
