//! Types that do not go together, and values that cannot be computed.

use super::{cannot, first};
use arrow::error::ArrowError;

/// Operators as the engine writes them between two types, longer ones first.
const OPERATORS: &str = "AND OR || != <= >= !~* !~ ~* = < > ~ + - * / %";

/// Types of the engine that are words of their own.
const TYPES: &str =
    "Utf8 LargeUtf8 Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 Boolean";

/// A value in the place of one of another type, or beside one.
pub(super) fn mismatch(said: &str) -> Option<String> {
    condition(said).or_else(|| member(said)).or_else(|| between(said))
}

/// Something in the place of a condition.
fn condition(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("non-boolean predicate '")?;
    let (column, of) = rest.split_once("' returning ")?;
    Some(format!("`{column}` stands in the place of a condition, and is {}", kind(of)))
}

/// A member of what has none.
fn member(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("Cannot access field")?;
    let (of, _) = rest.split_once("type ")?.1.split_once(" is not Struct")?;
    Some(match kind(of) {
        "a list" => {
            "['NAME'] stands behind a list: its elements are COLUMN[1], COLUMN[2], ...".to_owned()
        }
        other => format!("['NAME'] stands behind {other}, which has no members"),
    })
}

/// Two values of types that have nothing to do with each other.
fn between(said: &str) -> Option<String> {
    let (left, operator, right) = match said.split_once("isn't a common type to coerce ") {
        Some((_, rest)) => {
            let (left, rest) = rest.split_once(" and ")?;
            let (right, rest) = rest.split_once(" in ")?;
            (left, rest.split_once(" expression")?.0, right)
        }
        None => {
            let marks =
                ["Cannot infer common ", "Cannot coerce arithmetic ", "Cannot get result type "];
            let (_, rest) = marks.into_iter().find_map(|mark| said.split_once(mark))?;
            let (_, rest) =
                rest.split_once("operation ").or_else(|| rest.split_once("expression "))?;
            apart(rest.trim_end_matches(" to valid types"))?
        }
    };
    let is_many = |kind: &str| ["a list", "a struct"].contains(&kind);
    let (left, right) = (kind(left), kind(right));
    let hint = match (left, right) {
        _ if operator.ends_with("LIKE") => "; CAST(COLUMN AS TEXT) makes a text of a number",
        _ if is_many(left) || is_many(right) => "; one number of a vector is VECTOR['NAME']",
        ("a text", _) | (_, "a text") => "; CAST(COLUMN AS DOUBLE) reads a number from a text",
        _ => "",
    };
    Some(format!("`{operator}` cannot stand between {left} and {right}{hint}"))
}

/// `LEFT OPERATOR RIGHT` in its parts; types have blanks within parentheses.
fn apart(text: &str) -> Option<(&str, &str, &str)> {
    OPERATORS.split(' ').find_map(|operator| {
        let between = format!(" {operator} ");
        let mut places = text.match_indices(&between).map(|(at, _)| at);
        let is_outer =
            |at: &usize| text[..*at].matches('(').count() == text[..*at].matches(')').count();
        let at = places.find(is_outer)?;
        Some((&text[..at], operator, &text[at + between.len()..]))
    })
}

/// A function that does not take what it was given.
pub(super) fn misfit(said: &str) -> Option<String> {
    let told = |function: &str, given: &str| {
        let kinds: Vec<&str> = arguments(given).into_iter().map(kind).collect();
        match (function, kinds.as_slice()) {
            (_, [""]) => format!("`{function}` wants arguments"),
            // As which `COLUMN[1]` is read.
            ("array_element", [of, ..]) => {
                format!(
                    "[1] stands behind {of}, and is an element of a list; a number of a vector is VECTOR['NAME']"
                )
            }
            _ => format!("`{function}` does not take {}", kinds.join(" and ")),
        }
    };
    if let Some((_, call)) = said.split_once("name and argument types '") {
        let (call, _) = call.split_once(")'")?;
        let (function, given) = call.split_once('(')?;
        return Some(told(function, given));
    }
    if let Some((_, call)) = said.split_once("to satisfy a call to '") {
        let (function, rest) = call.split_once('\'')?;
        let (given, _) = rest.split_once("coercion from ")?.1.split_once(" to the signature")?;
        return Some(told(function, given));
    }
    let (before, _) = said.split_once("' failed to match any signature")?;
    let (_, function) = before.rsplit_once('\'')?;
    let (_, given) = said.split_once("but received ")?;
    let given = given.split([' ', '.', ',']).next()?;
    Some(match given.parse::<u32>() {
        Ok(count) => format!("`{function}` does not take {count} arguments"),
        Err(_) => told(function, given),
    })
}

/// Types between commas, of which those of structs have some themselves.
fn arguments(given: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let ends = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    given.split(ends).map(str::trim).collect()
}

/// A type of the engine in words.
fn kind(of: &str) -> &str {
    let is = |names: &[&str]| names.iter().any(|name| of.starts_with(name));
    match of {
        _ if is(&["Utf8", "LargeUtf8", "String"]) => "a text",
        _ if is(&["Date", "Time", "Interval"]) => "a time",
        _ if is(&["Int", "UInt"]) => "a whole number",
        _ if is(&["Float", "Decimal"]) => "a number",
        _ if is(&["Boolean"]) => "a truth value",
        _ if is(&["List", "LargeList", "FixedSizeList"]) => "a list",
        _ if is(&["Struct"]) => "a struct",
        _ if is(&["Binary", "LargeBinary"]) => "bytes",
        _ if is(&["Null"]) => "NULL",
        other => other,
    }
}

/// A value that cannot be computed.
pub(super) fn value(error: &ArrowError) -> String {
    let cast = |why: &str| {
        let (_, rest) = why
            .split_once("Cannot cast string ")
            .or_else(|| why.split_once("Cannot cast value "))?;
        let (text, wanted) = rest.split_once(" to value of ")?;
        Some(format!(
            "{text} is no {}, as which it is read here",
            kind(wanted).trim_start_matches("a ")
        ))
    };
    match error {
        ArrowError::DivideByZero => {
            "a number is divided by 0: `/ NULLIF(COLUMN, 0)` gives NULL there".to_owned()
        }
        ArrowError::ArithmeticOverflow(_) => {
            "a number becomes larger than its column's type: CAST(COLUMN AS DOUBLE) has room"
                .to_owned()
        }
        ArrowError::CastError(why) => cast(why).unwrap_or_else(|| cannot(why)),
        other => {
            let said = other.to_string();
            expression(&said).unwrap_or_else(|| cannot(&said))
        }
    }
}

/// A regular expression that is none.
pub(super) fn expression(said: &str) -> Option<String> {
    let (_, why) = said.split_once("regex parse error:")?.1.split_once("\nerror: ")?;
    Some(format!("a regular expression is none: {}", first(why)))
}

/// A text with types of the engine in words.
pub(super) fn in_words(text: &str) -> String {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric();
    let mut told = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(is_letter) {
        let end =
            rest[begin..].find(|letter| !is_letter(letter)).map_or(rest.len(), |at| begin + at);
        let word = &rest[begin..end];
        let is_type = TYPES.split(' ').any(|known| known == word);
        told.push_str(&rest[..begin]);
        told.push_str(if is_type { kind(word).trim_start_matches("a ") } else { word });
        rest = &rest[end..];
    }
    told + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_functions_are_told_in_words() {
        let said = "Error during planning: Cannot infer common argument type for comparison operation \
                    Struct(\"F3:(a/b)*c\": Float64, \"d = e\": Float64) = Utf8";
        let told = "`=` cannot stand between a struct and a text; one number of a vector is VECTOR['NAME']";
        assert_eq!(mismatch(said).as_deref(), Some(told));
        let said = "Cannot coerce arithmetic expression Utf8 + Int64 to valid types";
        assert!(mismatch(said).is_some_and(|told| {
            told.starts_with("`+` cannot stand between a text and a whole number; CAST")
        }));
        let said = "Error during planning: There isn't a common type to coerce Int64 and Utf8 in LIKE expression";
        assert!(mismatch(said).is_some_and(|told| told.starts_with("`LIKE` cannot stand between")));
        let said = "Cannot create filter with non-boolean predicate 'k.path' returning Utf8";
        let told = "`k.path` stands in the place of a condition, and is a text";
        assert_eq!(mismatch(said).as_deref(), Some(told));
        let said = "Execution error: Cannot access field at argument 1: type Utf8 is not Struct, Map, or Null";
        let told = "['NAME'] stands behind a text, which has no members";
        assert_eq!(mismatch(said).as_deref(), Some(told));
        let said = "Function 'sum' failed to match any signature, errors: Error during planning: Function 'sum' \
                    requires Numeric, but received String (DataType: Utf8).";
        assert_eq!(misfit(said).as_deref(), Some("`sum` does not take a text"));
        let said =
            "No function matches the given name and argument types 'round(Utf8, Int64)'. You might";
        assert_eq!(
            misfit(said).as_deref(),
            Some("`round` does not take a text and a whole number")
        );
        let error =
            ArrowError::CastError("Cannot cast string 'x' to value of UInt64 type".to_owned());
        assert_eq!(value(&error), "'x' is no whole number, as which it is read here");
        assert_eq!(
            in_words("compare Utf8 with [Int64, x]."),
            "compare text with [whole number, x]."
        );
        let said = "External error: regex parse error:\n    (\n    ^\nerror: unclosed group";
        assert_eq!(
            expression(said).as_deref(),
            Some("a regular expression is none: unclosed group")
        );
        let said = "name and argument types 'array_element(Struct(\"a\": Float64, \"b\": Float64), Int64)'. You";
        assert!(misfit(said).is_some_and(|told| told.starts_with("[1] stands behind a struct,")));
        let said = "No function matches the given name and argument types 'length()'. You might";
        assert_eq!(misfit(said).as_deref(), Some("`length` wants arguments"));
    }
}
