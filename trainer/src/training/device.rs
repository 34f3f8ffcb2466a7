//! Which device to train on.

use std::fmt;
#[cfg(feature = "cuda")]
use std::panic::{self, UnwindSafe};
use std::str::FromStr;

#[cfg(feature = "cuda")]
use burn_cuda::CudaDevice;

use crate::error::TrainerError;

/// What `--device` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU, or the CPU where there is none.
    Auto,
    /// The CPU.
    Cpu,
    /// The CUDA GPUs of these numbers, one at least and all different, which
    /// share each step.
    Cuda(Vec<usize>),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceChoice, String> {
        match text.split_once(':') {
            None if text == "auto" => Ok(DeviceChoice::Auto),
            None if text == "cpu" => Ok(DeviceChoice::Cpu),
            None if text == "cuda" => Ok(DeviceChoice::Cuda(vec![0])),
            Some(("cuda", numbers)) => Ok(DeviceChoice::Cuda(gpus(numbers)?)),
            _ => Err("expected auto, cpu, cuda, cuda:N or cuda:N,N,...".to_string()),
        }
    }
}

/// The numbers of GPUs, between commas.
fn gpus(text: &str) -> Result<Vec<usize>, String> {
    let mut numbers = Vec::new();
    for number in text.split(',') {
        let number = number
            .parse()
            .map_err(|_| format!("{number:?} is not the number of a GPU"))?;
        if numbers.contains(&number) {
            return Err(format!("GPU {number} is named twice"));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// The device, or the GPUs together, that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The CPU.
    Cpu,
    /// The CUDA GPUs of these numbers, as in [`DeviceChoice::Cuda`].
    #[cfg(feature = "cuda")]
    Cuda(Vec<usize>),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            #[cfg(feature = "cuda")]
            Device::Cuda(gpus) => f.write_str(&cuda_name(gpus)),
        }
    }
}

/// GPUs as the command line names them.
fn cuda_name(gpus: &[usize]) -> String {
    let numbers: Vec<String> = gpus.iter().map(usize::to_string).collect();
    format!("cuda:{}", numbers.join(","))
}

impl Device {
    /// Finds the device that was asked for.
    ///
    /// # Errors
    /// [`TrainerError::NoDevice`], if a GPU was asked for that is not there, or
    /// several that cannot exchange tensors.
    pub fn find(choice: DeviceChoice) -> Result<Device, TrainerError> {
        match choice {
            DeviceChoice::Cpu => Ok(Device::Cpu),
            DeviceChoice::Auto => Ok(Device::cuda(vec![0]).unwrap_or(Device::Cpu)),
            DeviceChoice::Cuda(gpus) => Device::cuda(gpus),
        }
    }

    /// The CUDA GPUs of these numbers.
    #[cfg(feature = "cuda")]
    fn cuda(gpus: Vec<usize>) -> Result<Device, TrainerError> {
        let failure = |gpus: &[usize], found| TrainerError::NoDevice {
            device: cuda_name(gpus),
            found,
        };
        let count = cuda_devices().map_err(|found| failure(&gpus, found))?;
        if let Some(&missing) = gpus.iter().find(|&&gpu| gpu >= count) {
            return Err(failure(&[missing], format!("CUDA knows {count} GPUs")));
        }
        if gpus.len() > 1 {
            check_exchange().map_err(|found| failure(&gpus, found))?;
        }
        Ok(Device::Cuda(gpus))
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda(gpus: Vec<usize>) -> Result<Device, TrainerError> {
        Err(TrainerError::NoDevice {
            device: cuda_name(&gpus),
            found: "this trainer was built without the feature \"cuda\"".to_string(),
        })
    }
}

/// Calls into one of CUDA's libraries; `None` if it is not installed. cudarc
/// panics then, and Burn would let it do so in a thread of its own; here,
/// before Burn touches CUDA, it can be caught.
#[cfg(feature = "cuda")]
fn if_installed<T>(call: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(call);
    panic::set_hook(hook);
    result.ok()
}

/// Whether GPUs can exchange tensors: Burn does it by NCCL.
#[cfg(feature = "cuda")]
fn check_exchange() -> Result<(), String> {
    if_installed(cudarc::nccl::result::get_nccl_version)
        .ok_or("NCCL (libnccl), by which GPUs exchange tensors, is not installed")?
        .map_err(|error| format!("NCCL says {:?}", error.0))?;
    Ok(())
}

/// Number of CUDA devices, or why CUDA cannot be used.
#[cfg(feature = "cuda")]
fn cuda_devices() -> Result<usize, String> {
    let driver = if_installed(cudarc::driver::CudaContext::device_count);
    let compiler = if_installed(|| cudarc::nvrtc::compile_ptx(""));
    let count = driver
        .ok_or("the NVIDIA driver (libcuda) is not installed")?
        .map_err(|error| format!("the NVIDIA driver says {error}"))?;
    compiler
        .ok_or("CUDA's run-time compiler (libnvrtc) is not installed")?
        .map_err(|error| format!("CUDA's run-time compiler says {error}"))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// The GPUs of these numbers as Burn knows them.
#[cfg(feature = "cuda")]
pub fn burn_devices(gpus: &[usize]) -> Vec<CudaDevice> {
    gpus.iter().map(|&gpu| CudaDevice::new(gpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        assert_eq!("auto".parse(), Ok(DeviceChoice::Auto));
        assert_eq!("cpu".parse(), Ok(DeviceChoice::Cpu));
        let cuda = |gpus: &[usize]| Ok(DeviceChoice::Cuda(gpus.to_vec()));
        assert_eq!("cuda".parse(), cuda(&[0]));
        assert_eq!("cuda:3".parse(), cuda(&[3]));
        assert_eq!("cuda:0,1".parse(), cuda(&[0, 1]));
        assert_eq!("cuda:7,2,5".parse(), cuda(&[7, 2, 5]));
        for wrong in [
            "", "gpu", "cuda:", "cuda:-1", "cuda:x", "cpu:0", "cuda:0,", "cuda:,1", "cuda:0-1",
        ] {
            assert!(wrong.parse::<DeviceChoice>().is_err(), "{wrong}");
        }
        assert_eq!(cuda_name(&[7, 2]), "cuda:7,2");
    }

    #[test]
    fn a_gpu_cannot_be_named_twice() {
        for twice in ["cuda:1,1", "cuda:1,0,01"] {
            let error = twice.parse::<DeviceChoice>().unwrap_err();
            assert_eq!(error, "GPU 1 is named twice", "{twice}");
        }
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error_and_auto_takes_the_cpu() {
        for gpus in [vec![999], vec![0, 999]] {
            let error = Device::find(DeviceChoice::Cuda(gpus)).unwrap_err();
            assert_eq!(error.exit_code() as u8, 8);
            assert!(error.to_string().contains("999"), "{error}");
        }
        if Device::find(DeviceChoice::Cuda(vec![0])).is_err() {
            assert_eq!(Device::find(DeviceChoice::Auto).unwrap(), Device::Cpu);
        }
    }
}
