//! Rows as cldrive writes them.

use super::RunRow;
use std::io::{self, Write};

/// The columns of cldrive's CSV, in order.
pub const CLDRIVE_COLUMNS: [&str; 12] = [
    "instance",
    "device",
    "build_opts",
    "kernel",
    "work_item_local_mem_size",
    "work_item_private_mem_size",
    "global_size",
    "local_size",
    "outcome",
    "transferred_bytes",
    "transfer_time_ns",
    "kernel_time_ns",
];

/// Writes rows as CSV with exactly cldrive's columns, words and empty cells: devices as
/// `TYPE|PLATFORM|NAME|DRIVER|VERSION`, times only where the outcome is `PASS`, an instance per
/// program.
#[derive(Debug)]
pub struct CldriveWriter<W> {
    out: W,
    /// The last program: path and identity. Rows of a program follow each other.
    program: Option<(String, String)>,
    instance: u64,
}

impl<W: Write> CldriveWriter<W> {
    /// Begin with the names of the columns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(mut out: W) -> io::Result<CldriveWriter<W>> {
        writeln!(out, "{}", CLDRIVE_COLUMNS.join(","))?;
        Ok(CldriveWriter { out, program: None, instance: 0 })
    }

    /// Write a row.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, row: &RunRow) -> io::Result<()> {
        let program = Some((row.path.clone(), row.id.clone()));
        if self.program != program {
            self.instance += u64::from(self.program.is_some());
            self.program = program;
        }
        let outcome = outcome(&row.outcome);
        let whole_program =
            matches!(outcome, "PROGRAM_COMPILATION_FAILURE" | "NO_KERNELS_IN_PROGRAM");
        let cell = |value: Option<u64>| value.map(|number| number.to_string()).unwrap_or_default();
        let of_kernel = |value: Option<u64>| cell(value.filter(|_| !whole_program));
        let passed = |value: Option<u64>| cell(value.filter(|_| outcome == "PASS"));
        let cells = [
            self.instance.to_string(),
            device(row),
            plain(&row.build_options),
            if whole_program { String::new() } else { plain(&row.kernel) },
            of_kernel(row.work_item_local_mem_size),
            of_kernel(row.work_item_private_mem_size),
            of_kernel(Some(row.global_size)),
            of_kernel(row.local_size),
            outcome.to_owned(),
            passed(row.transferred_bytes),
            passed(row.transfer_time_ns),
            passed(row.kernel_time_ns),
        ];
        writeln!(self.out, "{}", cells.join(","))
    }
}

/// Write all rows with a [`CldriveWriter`].
///
/// # Errors
/// Those of the writer.
pub fn write_cldrive<'a>(
    out: &mut impl Write,
    rows: impl IntoIterator<Item = &'a RunRow>,
) -> io::Result<()> {
    let mut writer = CldriveWriter::new(out)?;
    rows.into_iter().try_for_each(|row| writer.write(row))
}

fn device(row: &RunRow) -> String {
    let version = row.compiler.split_whitespace().find(|word| word.contains('.')).unwrap_or("");
    let parts = [
        &row.device_type.to_uppercase(),
        &row.platform,
        &row.device,
        &row.driver,
        &version.to_owned(),
    ];
    let words = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join("_"));
    plain(&words.join("|"))
}

/// cldrive does not quote: no cell holds a comma or quotation mark.
fn plain(text: &str) -> String {
    text.replace([',', '"', '\n'], "_")
}

fn outcome(name: &str) -> &'static str {
    match name {
        "pass" => "PASS",
        "build-failure" | "refused" => "PROGRAM_COMPILATION_FAILURE",
        "no-kernel" => "NO_KERNELS_IN_PROGRAM",
        "no-arguments" => "NO_ARGUMENTS",
        "unsupported-argument" => "UNSUPPORTED_ARGUMENTS",
        "invalid-size" => "INVALID_DYNAMIC_PARAMS",
        "out-of-resources" => "CL_ERROR",
        "no-output" => "NO_OUTPUT",
        "input-insensitive" => "INPUT_INSENSITIVE",
        "non-deterministic" => "NONDETERMINISTIC",
        _ => "UNKNOWN_ERROR",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_cldrives_columns_and_leaves_the_same_cells_empty() {
        let pass = RunRow {
            id: "1".into(),
            path: "a.cl".into(),
            kernel: "A".into(),
            device: "EPYC, fast".into(),
            device_type: "cpu".into(),
            platform: "Portable Computing Language".into(),
            driver: "3.1".into(),
            compiler: "OpenCL 3.0 PoCL 3.1".into(),
            global_size: 128,
            local_size: Some(64),
            outcome: "pass".into(),
            work_item_local_mem_size: Some(0),
            transferred_bytes: Some(1024),
            transfer_time_ns: Some(10),
            kernel_time_ns: Some(20),
            ..RunRow::default()
        };
        let failure =
            RunRow { path: "b.cl".into(), outcome: "build-failure".into(), ..pass.clone() };
        let mut text = Vec::new();
        write_cldrive(&mut text, [&pass, &failure]).expect("written to memory");
        let text = String::from_utf8(text).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        let device = "CPU|Portable_Computing_Language|EPYC__fast|3.1|3.0";
        assert_eq!(lines[0], CLDRIVE_COLUMNS.join(","));
        assert_eq!(lines[1], format!("0,{device},,A,0,,128,64,PASS,1024,10,20"));
        assert_eq!(lines[2], format!("1,{device},,,,,,,PROGRAM_COMPILATION_FAILURE,,,"));
    }
}
