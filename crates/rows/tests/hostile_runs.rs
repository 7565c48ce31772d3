//! Runs that somebody else wrote: an error, or times that are some.

use dataset::{Builder, Dataset, Notes, Row};
use stampmill_rows::{RunRow, Transfers};

#[test]
fn times_of_any_size_are_no_trouble() {
    let of = |kernel, transfer| {
        let row = RunRow {
            outcome: "pass".to_owned(),
            device_type: "gpu".to_owned(),
            kernel_time_ns: kernel,
            transfer_time_ns: transfer,
            ..RunRow::default()
        };
        row.seconds(Transfers::Gpu)
    };
    assert!(of(Some(u64::MAX), Some(u64::MAX)).is_some_and(f64::is_finite));
    assert_eq!(of(Some(0), Some(0)), None);
    assert_eq!(of(Some(1), None), None);
}

/// A row of the schema's name whose times are something else.
macro_rules! other {
    ($name:ident, $time:ty) => {
        #[derive(Default, serde::Serialize, serde::Deserialize)]
        struct $name {
            id: String,
            outcome: String,
            global_size: $time,
            kernel_time_ns: Option<$time>,
        }

        impl Row for $name {
            const SCHEMA: &'static str = RunRow::SCHEMA;
            const VERSION: u32 = RunRow::VERSION;
        }
    };
}
other!(Signed, i64);
other!(Real, f64);
other!(Words, String);

fn read<T: Row>(rows: Vec<T>) -> Result<Vec<RunRow>, dataset::Error> {
    let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-runs");
    // What an earlier run left, which another version may have made.
    let _ = std::fs::remove_dir_all(&out);
    let builder = Builder::<T>::create(&out, true, &"").expect("begins");
    builder.finish(rows, Notes::default()).expect("is written");
    Dataset::open(&out)?.rows::<RunRow>()?.collect()
}

/// Whatever somebody wrote is an error, or times that are none or some.
#[test]
fn runs_with_columns_of_other_types_are_no_runs() {
    let refused = |rows: Result<Vec<RunRow>, dataset::Error>| {
        let wrong = |row: &RunRow| {
            row.seconds(Transfers::Both).is_some_and(|s| !(s > 0.0 && s.is_finite()))
        };
        rows.map_or(true, |rows| !rows.iter().any(wrong))
    };
    let pass = || "pass".to_owned();
    assert!(refused(read(vec![Signed {
        outcome: pass(),
        kernel_time_ns: Some(-5),
        global_size: -1,
        ..Signed::default()
    }])));
    for time in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
        assert!(refused(read(vec![Real {
            outcome: pass(),
            kernel_time_ns: Some(time),
            global_size: time,
            ..Real::default()
        }])));
    }
    assert!(read(vec![Words { outcome: pass(), ..Words::default() }]).is_err());
}
