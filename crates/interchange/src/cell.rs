//! Values of text formats, held to the type of their column.

use arrow::datatypes::{DataType, Field};
use serde_json::Value;

/// What a type is called where a value is none of it.
pub(crate) fn said(kind: &DataType) -> String {
    match kind {
        DataType::Utf8 => "text".to_owned(),
        DataType::Binary => "bytes as hexadecimal digits".to_owned(),
        DataType::Boolean => "true or false".to_owned(),
        DataType::Float32 | DataType::Float64 => "a number".to_owned(),
        DataType::List(item) => format!("a list, each value {}", said(item.data_type())),
        DataType::Struct(_) => "an object".to_owned(),
        kind => match bounds(kind) {
            Some((least, greatest)) => format!("a whole number from {least} to {greatest}"),
            None => kind.to_string(),
        },
    }
}

/// The least and the greatest whole number of a type.
fn bounds(kind: &DataType) -> Option<(i128, i128)> {
    Some(match kind {
        DataType::UInt8 => (0, u8::MAX.into()),
        DataType::UInt16 => (0, u16::MAX.into()),
        DataType::UInt32 => (0, u32::MAX.into()),
        DataType::UInt64 => (0, u64::MAX.into()),
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DataType::Int64 => (i64::MIN.into(), i64::MAX.into()),
        _ => return None,
    })
}

/// A value of a text, shortened for a message.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    // Lines of a message are lines of ours.
    let short = short.replace(char::is_control, " ");
    format!("`{short}{dots}`")
}

/// Whether a JSON value is one of a column; or what is wrong.
pub(crate) fn fits(value: &Value, field: &Field) -> Result<(), String> {
    let kind = field.data_type();
    let wrong = || format!("{} is not {}", shown(&value.to_string()), said(kind));
    let whole = |number: &serde_json::Number| {
        number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from))
    };
    match (kind, value) {
        (_, Value::Null) if field.is_nullable() => Ok(()),
        (_, Value::Null) => Err("has no value".to_owned()),
        (DataType::Utf8, Value::String(_)) | (DataType::Boolean, Value::Bool(_)) => Ok(()),
        (DataType::Binary, Value::String(text)) if is_hexadecimal(text) => Ok(()),
        (DataType::Float32 | DataType::Float64, Value::Number(_)) => Ok(()),
        (DataType::Float32 | DataType::Float64, Value::String(text)) if is_no_number(text) => {
            Ok(())
        }
        (DataType::List(item), Value::Array(values)) => {
            values.iter().enumerate().try_for_each(|(at, value)| {
                fits(value, item).map_err(|reason| format!("value {}: {reason}", at + 1))
            })
        }
        (DataType::Struct(fields), Value::Object(members)) => {
            let is_known = |name: &String| fields.iter().any(|field| field.name() == name);
            if let Some(name) = members.keys().find(|name| !is_known(name)) {
                let names = fields.iter().map(|field| field.name().as_str());
                return Err(format!("unknown member `{name}`{}", meant(name, names)));
            }
            fields.iter().try_for_each(|field| {
                let value = members.get(field.name()).unwrap_or(&Value::Null);
                fits(value, field).map_err(|reason| format!("member `{}`: {reason}", field.name()))
            })
        }
        (kind, Value::Number(number)) => match (bounds(kind), whole(number)) {
            (Some((least, greatest)), Some(found)) if (least..=greatest).contains(&found) => Ok(()),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// `; did you mean ...?` where a known name is near.
pub(crate) fn meant<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match dataset::near(wanted, names) {
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.len().is_multiple_of(2) && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// What doubles hold that is no number, as we write it.
fn is_no_number(text: &str) -> bool {
    matches!(text, "NaN" | "inf" | "-inf")
}

/// The JSON of a cell; `None` for a missing value. Nested values are JSON in the cell.
pub(crate) fn json(text: &str, field: &Field) -> Result<Option<String>, String> {
    let kind = field.data_type();
    let wrong = || format!("{} is not {}", shown(text), said(kind));
    if text.is_empty() && field.is_nullable() {
        return Ok(None);
    }
    Ok(Some(match kind {
        DataType::Utf8 => quoted(text),
        DataType::Binary if is_hexadecimal(text) => quoted(text),
        DataType::Binary => return Err(wrong()),
        _ if text.is_empty() => return Err("has no value".to_owned()),
        DataType::Boolean => match text {
            "true" | "True" | "TRUE" => "true".to_owned(),
            "false" | "False" | "FALSE" => "false".to_owned(),
            _ => return Err(wrong()),
        },
        DataType::Float32 | DataType::Float64 => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => match is_json_number(text) {
                true => text.to_owned(),
                false => format!("{value:?}"),
            },
            Ok(value) if value.is_nan() => quoted("NaN"),
            Ok(value) => quoted(if value > 0.0 { "inf" } else { "-inf" }),
            Err(_) => return Err(wrong()),
        },
        DataType::List(_) | DataType::Struct(_) => {
            let value: Value = serde_json::from_str(text)
                .map_err(|error| format!("{} is no JSON: {error}", shown(text)))?;
            fits(&value, field)?;
            text.to_owned()
        }
        kind => {
            // Tables that other programs wrote hold whole numbers as 3.0 where one is missing.
            let digits = text.strip_suffix(".0").unwrap_or(text);
            let is_whole = |(least, greatest): (i128, i128)| {
                digits.parse::<i128>().is_ok_and(|found| (least..=greatest).contains(&found))
            };
            match bounds(kind).is_some_and(is_whole) {
                true => digits.parse::<i128>().map_err(|_| wrong())?.to_string(),
                false => return Err(wrong()),
            }
        }
    }))
}

fn is_json_number(text: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(text).is_ok() && text.trim() == text
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// What a column holds where nothing is known, as JSON; `None` where there is no such value.
pub(crate) fn nothing(field: &Field) -> Option<&'static str> {
    Some(match (field.name().as_str(), field.data_type()) {
        ("verdict", DataType::Utf8) => "\"accepted\"",
        ("language", DataType::Utf8) => "\"opencl\"",
        ("kind", DataType::Utf8) => "\"file\"",
        (_, DataType::Utf8 | DataType::Binary) => "\"\"",
        (_, DataType::Boolean) => "false",
        (_, DataType::List(_)) => "[]",
        (_, DataType::Float32 | DataType::Float64) => "0.0",
        (_, kind) => bounds(kind).map(|_| "0")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn field(kind: DataType, nullable: bool) -> Field {
        Field::new("x", kind, nullable)
    }

    #[test]
    fn cells_become_the_json_of_their_column() {
        let of = |text: &str, kind: DataType| json(text, &field(kind, false));
        assert_eq!(of("a\"b", DataType::Utf8), Ok(Some("\"a\\\"b\"".into())));
        assert_eq!(of("3.0", DataType::UInt64), Ok(Some("3".into())));
        assert_eq!(
            of("18446744073709551615", DataType::UInt64).map(|text| text.is_some()),
            Ok(true)
        );
        assert_eq!(of(".5", DataType::Float64), Ok(Some("0.5".into())));
        assert_eq!(of("NaN", DataType::Float64), Ok(Some("\"NaN\"".into())));
        assert_eq!(of("True", DataType::Boolean), Ok(Some("true".into())));
        assert_eq!(json("", &field(DataType::UInt64, true)), Ok(None));
        for (text, kind) in [
            ("", DataType::UInt64),
            ("-1", DataType::UInt64),
            ("4294967296", DataType::UInt32),
            ("3.5", DataType::Int32),
            ("yes", DataType::Boolean),
            ("1,5", DataType::Float64),
            ("abc", DataType::Binary),
        ] {
            assert!(of(text, kind.clone()).is_err(), "{text} as {kind}");
        }
    }

    #[test]
    fn json_of_another_type_is_told_where_it_stands() {
        let item = Arc::new(Field::new("element", DataType::UInt32, false));
        let list = field(DataType::List(item), false);
        let told = fits(&serde_json::json!([1, "2"]), &list).expect_err("a string is no number");
        assert!(told.starts_with("value 2: `\"2\"` is not a whole number"), "{told}");
        assert!(fits(&Value::Null, &list).is_err());
    }
}
