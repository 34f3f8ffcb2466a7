//! Which device to train on.

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

/// How a GPU is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// NVIDIA's own.
    Cuda,
    /// AMD's, Intel's and NVIDIA's GPUs on Linux and Windows, and software.
    Vulkan,
    /// Apple's.
    Metal,
}

impl Api {
    const ALL: [Api; 3] = [Api::Cuda, Api::Vulkan, Api::Metal];

    /// As the command line names it; the cargo feature is called the same.
    pub fn name(self) -> &'static str {
        match self {
            Api::Cuda => "cuda",
            Api::Vulkan => "vulkan",
            Api::Metal => "metal",
        }
    }

    /// The GPUs that it finds, the best first.
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

/// A GPU, or software that stands in for one.
#[derive(Clone, Debug, Serialize)]
pub struct Gpu {
    /// What it calls itself.
    pub name: String,
    /// Its memory in bytes, where that can be asked for.
    pub memory: Option<u64>,
    /// Whether the processor does its work: never taken without being asked for.
    pub software: bool,
}

/// What `--device` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best GPU, or the CPU where there is none.
    Auto,
    /// This one.
    Named(Device),
}

/// The device to train on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The CPU.
    Cpu,
    /// The GPU of this number.
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

/// Work on whichever device it is given.
pub trait Job {
    /// What comes out.
    type Output;

    /// Does it on a device.
    ///
    /// # Errors
    /// [`TrainerError`].
    fn run<E: Executor>(self, device: &E::Device) -> Result<Self::Output, TrainerError>;
}

impl Device {
    /// Finds the device that was asked for.
    ///
    /// # Errors
    /// [`TrainerError::NoDevice`], if a GPU was asked for that is not there, or several that
    /// cannot exchange tensors.
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

    /// Returns the first hardware GPU that works, or else the CPU. Reports each GPU that does not
    /// work.
    fn best() -> Device {
        for api in Api::ALL {
            let gpus = api.gpus().unwrap_or_default();
            let Some(number) = gpus.iter().position(|gpu| !gpu.software) else {
                continue;
            };
            let device = Device::Gpu(api, number);
            match check(api, number) {
                Ok(()) => return device,
                Err(why) => host::tell(format_args!("not on {device}: {why}")),
            }
        }
        Device::Cpu
    }

    /// Does a job.
    ///
    /// # Errors
    /// Those of the job, and [`TrainerError::DeviceFailed`] if a GPU fails in the middle.
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

/// Makes sure that a GPU is there, and that it compiles and runs a kernel.
fn check(api: Api, number: usize) -> Result<(), String> {
    let count = api.gpus()?.len();
    if number >= count {
        return Err(format!(
            "no number {number}: there are {count} (`trainer devices` lists them)"
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
    // What the work leaves behind unfinished is not looked at again.
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

/// A device and what is known of it, for `trainer devices`.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// What `--device` calls it.
    pub device: String,
    /// What it is.
    #[serde(flatten)]
    pub gpu: Gpu,
}

/// What the devices are that this trainer can use, and why it has no others.
#[derive(Debug, Serialize)]
pub struct Devices {
    /// In the order that `auto` prefers.
    pub devices: Vec<Listed>,
    /// What `auto` takes.
    pub auto: String,
    /// Kinds of GPU that cannot be used, and why.
    pub unusable: Vec<(Api, String)>,
}

impl Devices {
    /// Looks for all of them.
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
    fn devices_have_names() {
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
    fn a_gpu_that_is_not_there_is_an_error_and_auto_takes_the_cpu() {
        for api in Api::ALL {
            let choice = DeviceChoice::Named(Device::Gpu(api, 999));
            let error = Device::find(choice).unwrap_err();
            assert_eq!(error.exit_code() as u8, 8);
            assert!(error.to_string().contains("999"), "{error}");
        }
        // Software is no GPU.
        let real = |gpus: Vec<Gpu>| gpus.iter().any(|gpu| !gpu.software);
        if !Api::ALL.into_iter().any(|api| api.gpus().is_ok_and(real)) {
            assert_eq!(Device::find(DeviceChoice::Auto).unwrap(), Device::Cpu);
        }
    }
}
