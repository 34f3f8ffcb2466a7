//! Which device to train on.

use std::fmt;
#[cfg(feature = "cuda")]
use std::panic;
use std::str::FromStr;

use crate::failure::Failure;

/// What `--device` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU, or the CPU where there is none.
    Auto,
    /// The CPU.
    Cpu,
    /// The CUDA GPU of this number.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceChoice, String> {
        let number = |index: &str| {
            index
                .parse()
                .map_err(|_| format!("{index:?} is not the number of a GPU"))
        };
        match text.split_once(':') {
            None if text == "auto" => Ok(DeviceChoice::Auto),
            None if text == "cpu" => Ok(DeviceChoice::Cpu),
            None if text == "cuda" => Ok(DeviceChoice::Cuda(0)),
            Some(("cuda", index)) => Ok(DeviceChoice::Cuda(number(index)?)),
            _ => Err("expected auto, cpu, cuda or cuda:N".to_string()),
        }
    }
}

/// A device that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The CPU.
    Cpu,
    /// The CUDA GPU of this number.
    #[cfg(feature = "cuda")]
    Cuda(usize),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            #[cfg(feature = "cuda")]
            Device::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

impl Device {
    /// Finds the device that was asked for.
    ///
    /// # Errors
    /// [`Failure::NoDevice`], if a GPU was asked for that is not there.
    pub fn find(choice: DeviceChoice) -> Result<Device, Failure> {
        match choice {
            DeviceChoice::Cpu => Ok(Device::Cpu),
            DeviceChoice::Auto => Ok(Device::cuda(0).unwrap_or(Device::Cpu)),
            DeviceChoice::Cuda(index) => {
                Device::cuda(index).map_err(|found| Failure::NoDevice { index, found })
            }
        }
    }

    /// The CUDA GPU of this number, or why it cannot be used.
    #[cfg(feature = "cuda")]
    fn cuda(index: usize) -> Result<Device, String> {
        let count = cuda_devices()?;
        let there = index < count;
        there
            .then_some(Device::Cuda(index))
            .ok_or_else(|| format!("CUDA knows {count} GPUs"))
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda(_index: usize) -> Result<Device, String> {
        Err("this trainer was built without the feature \"cuda\"".to_string())
    }
}

/// Number of CUDA devices, or why CUDA cannot be used.
#[cfg(feature = "cuda")]
fn cuda_devices() -> Result<usize, String> {
    // cudarc panics where a library is missing, and Burn would let it do so in
    // a thread of its own; here, before Burn touches CUDA, it can be caught.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let driver = panic::catch_unwind(cudarc::driver::CudaContext::device_count);
    let compiler = panic::catch_unwind(|| cudarc::nvrtc::compile_ptx(""));
    panic::set_hook(hook);
    let count = driver
        .map_err(|_| "the NVIDIA driver (libcuda) is not installed".to_string())?
        .map_err(|error| format!("the NVIDIA driver says {error}"))?;
    compiler
        .map_err(|_| "CUDA's run-time compiler (libnvrtc) is not installed".to_string())?
        .map_err(|error| format!("CUDA's run-time compiler says {error}"))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        assert_eq!("auto".parse(), Ok(DeviceChoice::Auto));
        assert_eq!("cpu".parse(), Ok(DeviceChoice::Cpu));
        assert_eq!("cuda".parse(), Ok(DeviceChoice::Cuda(0)));
        assert_eq!("cuda:3".parse(), Ok(DeviceChoice::Cuda(3)));
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "cpu:0"] {
            assert!(wrong.parse::<DeviceChoice>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error_and_auto_takes_the_cpu() {
        let error = Device::find(DeviceChoice::Cuda(999)).unwrap_err();
        assert_eq!(error.exit_code(), 8);
        assert!(error.to_string().contains("cuda:999"), "{error}");
        if Device::find(DeviceChoice::Cuda(0)).is_err() {
            assert_eq!(Device::find(DeviceChoice::Auto).unwrap(), Device::Cpu);
        }
    }
}
