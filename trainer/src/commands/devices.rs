//! `trainer devices`: lists the devices to train on.

use std::fmt::Write;

use clap::Args;

use crate::commands::output::json;
use crate::error::TrainerError;
use crate::training::device::Devices;

const EXAMPLE: &str = "\
Example:
  trainer devices
  trainer fit --device vulkan:0 --data june.dataset --out net.safetensors

Software GPUs (llvmpipe, for instance) are slower than cpu, and used only when requested by
name.";

/// Bytes in a gibibyte.
const GIB: f64 = (1u64 << 30) as f64;

/// Arguments of `trainer devices`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    let found = Devices::find();
    Ok(host::print(&match arguments.json {
        true => json(&found),
        false => in_words(&found),
    })?)
}

fn in_words(found: &Devices) -> String {
    let mut text = String::new();
    for listed in &found.devices {
        let gpu = &listed.gpu;
        let memory = gpu
            .memory
            .map(|bytes| format!(", {:.1} GiB", bytes as f64 / GIB));
        let software = if gpu.software { ", software" } else { "" };
        let auto = if listed.device == found.auto {
            "  (auto)"
        } else {
            ""
        };
        let (device, name) = (&listed.device, &gpu.name);
        let memory = memory.unwrap_or_default();
        let _ = writeln!(text, "{device:12}{name}{memory}{software}{auto}");
    }
    for (api, why) in &found.unusable {
        let _ = writeln!(text, "{:12}not usable: {why}", api.name());
    }
    text
}
