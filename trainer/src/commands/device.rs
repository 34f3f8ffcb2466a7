//! The option `--device`.

use clap::Args;

use crate::error::TrainerError;
use crate::training::device::{Device, DeviceChoice};

/// Device to train on.
#[derive(Args, Clone, Debug)]
pub struct DeviceOption {
    /// Device; auto is the best GPU that works, or the CPU without one (`trainer devices` lists
    /// them)
    #[arg(
        long,
        value_name = "auto|cpu|cuda[:N]|vulkan[:N]|metal",
        default_value = "auto"
    )]
    device: DeviceChoice,
}

impl DeviceOption {
    /// Checks that no GPU is asked for.
    ///
    /// # Errors
    /// [`TrainerError::Usage`] with the option that has no GPU code.
    pub fn check_cpu(&self, option: &str) -> Result<(), TrainerError> {
        match &self.device {
            DeviceChoice::Auto | DeviceChoice::Named(Device::Cpu) => Ok(()),
            DeviceChoice::Named(device) => Err(TrainerError::Usage(format!(
                "{option} trains on the CPU alone; remove --device {device}"
            ))),
        }
    }

    /// Returns the device.
    ///
    /// # Errors
    /// As [`Device::find`].
    pub fn find(self) -> Result<Device, TrainerError> {
        Device::find(self.device)
    }
}
