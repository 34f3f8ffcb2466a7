//! Devices: choice, discovery, and running work on them.

#[cfg(all(test, feature = "gpu"))]
mod against_cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "wgpu")]
mod wgpu;

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::TrainerError;
use crate::training::executor::{CpuExecutor, Executor};

/// Programming interface of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// CUDA, for NVIDIA's GPUs.
    Cuda,
    /// Vulkan, for AMD's, Intel's and NVIDIA's GPUs on Linux and Windows, and for software.
    Vulkan,
    /// Metal, for Apple's GPUs.
    Metal,
}

impl Api {
    const ALL: [Api; 3] = [Api::Cuda, Api::Vulkan, Api::Metal];

    /// Returns the name on the command line, equal to that of the cargo feature.
    pub fn name(self) -> &'static str {
        match self {
            Api::Cuda => "cuda",
            Api::Vulkan => "vulkan",
            Api::Metal => "metal",
        }
    }

    /// Returns the GPUs of this interface, the best first, or the reason why it is unusable.
    fn gpus(self) -> Result<Vec<Gpu>, String> {
        match self {
            #[cfg(feature = "cuda")]
            Api::Cuda => cuda::gpus(),
            #[cfg(feature = "vulkan")]
            Api::Vulkan => wgpu::gpus(self),
            #[cfg(feature = "metal")]
            Api::Metal => wgpu::gpus(self),
            #[cfg(not(all(feature = "cuda", feature = "vulkan", feature = "metal")))]
            _ => Err(format!(
                "this trainer was built without it; build it with --features {}",
                self.name()
            )),
        }
    }
}

/// A GPU, or a software implementation of one.
#[derive(Clone, Debug, Serialize)]
pub struct Gpu {
    /// Name by the driver.
    pub name: String,
    /// Memory in bytes, if known.
    pub memory: Option<u64>,
    /// Whether it runs on the CPU; such devices are never chosen automatically.
    pub software: bool,
}

/// Value of `--device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best GPU, or the CPU without one.
    Auto,
    /// A specific device.
    Named(Device),
}

/// Device to train on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The CPU.
    Cpu,
    /// A GPU by its number in [`Api`]'s list.
    Gpu(Api, usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceChoice, String> {
        match text {
            "auto" => return Ok(DeviceChoice::Auto),
            "cpu" => return Ok(DeviceChoice::Named(Device::Cpu)),
            _ => {}
        }
        let (name, number) = text.split_once(':').unwrap_or((text, "0"));
        let api = Api::ALL.into_iter().find(|api| api.name() == name);
        let api = api.ok_or("expected auto, cpu, cuda, vulkan or metal; or cuda:N")?;
        let number = number
            .parse()
            .map_err(|_| format!("{number:?} is not the number of a GPU"))?;
        Ok(DeviceChoice::Named(Device::Gpu(api, number)))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Gpu(api, number) => write!(f, "{}:{number}", api.name()),
        }
    }
}

/// Work that is generic over the device.
pub trait Job {
    /// Result of the work.
    type Output;

    /// Does the work on a device.
    fn run<E: Executor>(self, device: &E::Device) -> Result<Self::Output, TrainerError>;
}

impl Device {
    /// Finds the requested device.
    ///
    /// # Errors
    /// [`TrainerError::NoDevice`] if the requested GPU is missing or unusable.
    pub fn find(choice: DeviceChoice) -> Result<Device, TrainerError> {
        let device = match choice {
            DeviceChoice::Auto => return Ok(Device::best()),
            DeviceChoice::Named(device) => device,
        };
        if let Device::Gpu(api, number) = device {
            check(api, number).map_err(|found| TrainerError::NoDevice {
                device: device.to_string(),
                found,
            })?;
        }
        Ok(device)
    }

    /// Returns the first working hardware GPU, or else the CPU. Reports each GPU that fails.
    fn best() -> Device {
        for api in Api::ALL {
            let gpus = api.gpus().unwrap_or_default();
            let Some(number) = gpus.iter().position(|gpu| !gpu.software) else {
                continue;
            };
            let device = Device::Gpu(api, number);
            match check(api, number) {
                Ok(()) => return device,
                Err(why) => host::tell(format_args!("skipping {device}: {why}")),
            }
        }
        Device::Cpu
    }

    /// Does a job on this device.
    ///
    /// # Errors
    /// The errors of the job, and [`TrainerError::DeviceFailed`] if a GPU fails during work.
    pub fn run<J: Job>(&self, job: J) -> Result<J::Output, TrainerError> {
        match self {
            Device::Cpu => job.run::<CpuExecutor>(&()),
            #[cfg(feature = "cuda")]
            Device::Gpu(Api::Cuda, number) => cuda::run(job, *number),
            #[cfg(feature = "wgpu")]
            Device::Gpu(api @ (Api::Vulkan | Api::Metal), number) => wgpu::run(job, *api, *number),
            #[cfg(not(all(feature = "cuda", feature = "wgpu")))]
            Device::Gpu(..) => unreachable!("`find` found it"),
        }
    }
}

/// Checks that a GPU exists, and, with CUDA, that it compiles and runs a kernel.
fn check(api: Api, number: usize) -> Result<(), String> {
    let count = api.gpus()?.len();
    if number >= count {
        return Err(format!(
            "no GPU {number}: there are {count} (`trainer devices` lists them)"
        ));
    }
    #[cfg(feature = "cuda")]
    if api == Api::Cuda {
        cuda::probe(number)?;
    }
    Ok(())
}

/// Runs `work` on a GPU, and turns a panic of CubeCL or of a driver, in any thread, into an error.
#[cfg(feature = "gpu")]
fn guarded<T>(
    device: &Device,
    work: impl FnOnce() -> Result<T, TrainerError>,
) -> Result<T, TrainerError> {
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::{Arc, Mutex, PoisonError};

    let said = Arc::new(Mutex::new(None));
    let hook = panic::take_hook();
    let first = Arc::clone(&said);
    panic::set_hook(Box::new(move |info| {
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| info.to_string());
    }));
    // Unwind safety: state left by a failed job is not used again.
    let ended = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(hook);
    ended.unwrap_or_else(|_| {
        let said = said.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(TrainerError::DeviceFailed {
            device: device.to_string(),
            what: said.unwrap_or_else(|| "it gave no reason".to_string()),
        })
    })
}

/// Entry of `trainer devices`.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// Name for `--device`.
    pub device: String,
    /// Properties of the device.
    #[serde(flatten)]
    pub gpu: Gpu,
}

/// Usable devices, and the reasons why other interfaces are unusable.
#[derive(Debug, Serialize)]
pub struct Devices {
    /// Devices in `auto`'s order of preference.
    pub devices: Vec<Listed>,
    /// The device that `auto` chooses.
    pub auto: String,
    /// Unusable interfaces, and why.
    pub unusable: Vec<(Api, String)>,
}

impl Devices {
    /// Finds all devices.
    pub fn find() -> Devices {
        let (mut devices, mut unusable) = (Vec::new(), Vec::new());
        for api in Api::ALL {
            match api.gpus() {
                Ok(gpus) => devices.extend(gpus.into_iter().enumerate().map(|(number, gpu)| {
                    let device = Device::Gpu(api, number).to_string();
                    Listed { device, gpu }
                })),
                Err(why) => unusable.push((api, why)),
            }
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        devices.push(Listed {
            device: Device::Cpu.to_string(),
            gpu: Gpu {
                name: format!("the processor, {threads} threads"),
                memory: None,
                software: false,
            },
        });
        Devices {
            devices,
            auto: Device::best().to_string(),
            unusable,
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_formats_device_names() {
        assert_eq!("auto".parse(), Ok(DeviceChoice::Auto));
        assert_eq!("cpu".parse(), Ok(DeviceChoice::Named(Device::Cpu)));
        let gpu = |api, number| Ok(DeviceChoice::Named(Device::Gpu(api, number)));
        assert_eq!("cuda".parse(), gpu(Api::Cuda, 0));
        assert_eq!("cuda:3".parse(), gpu(Api::Cuda, 3));
        for wrong in [
            "", "gpu", "cuda:", "cuda:-1", "cuda:x", "cpu:0", "cuda:0,1", "cuda:0-1",
        ] {
            assert!(wrong.parse::<DeviceChoice>().is_err(), "{wrong}");
        }
        assert_eq!("vulkan".parse(), gpu(Api::Vulkan, 0));
        assert_eq!("metal".parse(), gpu(Api::Metal, 0));
        assert_eq!(Device::Gpu(Api::Cuda, 7).to_string(), "cuda:7");
    }

    #[test]
    fn missing_gpu_is_an_error_and_auto_falls_back_to_the_cpu() {
        for api in Api::ALL {
            let choice = DeviceChoice::Named(Device::Gpu(api, 999));
            let error = Device::find(choice).unwrap_err();
            assert_eq!(error.exit_code() as u8, 8);
            assert!(error.to_string().contains("999"), "{error}");
        }
        // `auto` ignores software devices.
        let real = |gpus: Vec<Gpu>| gpus.iter().any(|gpu| !gpu.software);
        if !Api::ALL.into_iter().any(|api| api.gpus().is_ok_and(real)) {
            assert_eq!(Device::find(DeviceChoice::Auto).unwrap(), Device::Cpu);
        }
    }
}
