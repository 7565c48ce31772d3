//! `stampmill devices`: which OpenCL devices can be used, and why not.

use crate::{Global, output};
use std::process::ExitCode;

/// List OpenCL platforms and devices, and why some cannot be used
#[derive(clap::Args, Debug)]
#[command(after_help = help!("devices"))]
pub(crate) struct Devices {}

impl Devices {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let devices = device::devices()?;
        output::report(global, &serde_json::json!({ "devices": devices }), || {
            let rows = devices.iter().map(|device| {
                vec![
                    device.name.clone(),
                    device.r#type.name().to_owned(),
                    if device.usable { "yes".to_owned() } else { device.why.clone() },
                    device.platform.clone(),
                    device.version.split(' ').take(2).collect::<Vec<_>>().join(" "),
                    device.driver.clone(),
                    device.compute_units.to_string(),
                    format!("{} MiB", output::count(device.memory_bytes >> 20)),
                ]
            });
            let header =
                ["device", "type", "usable", "platform", "OpenCL", "driver", "units", "memory"];
            output::print_table(&header, rows)
        })?;
        let usable = devices.iter().any(|device| device.usable);
        Ok(output::status(usable))
    }
}
