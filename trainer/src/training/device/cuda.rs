//! GPUs by CUDA.

use std::panic::{self, UnwindSafe};

use burn::backend::Autodiff;
use burn_cuda::{Cuda, CudaDevice};
use cudarc::driver::result;

use super::{Api, Device, Gpu, Job, guarded};
use crate::error::TrainerError;

/// All that there are, in CUDA's order, or why CUDA cannot be used.
pub fn gpus() -> Result<Vec<Gpu>, String> {
    let compiler = if_installed(|| cudarc::nvrtc::compile_ptx(""));
    let count = if_installed(cudarc::driver::CudaContext::device_count)
        .ok_or("the NVIDIA driver (libcuda) is not installed")?
        .map_err(|error| format!("the NVIDIA driver says {error}"))?;
    compiler
        .ok_or("CUDA's run-time compiler (libnvrtc) is not installed")?
        .map_err(|error| format!("CUDA's run-time compiler says {error}"))?;
    (0..count).map(gpu).collect()
}

fn gpu(number: i32) -> Result<Gpu, String> {
    let said = |error| format!("the NVIDIA driver says {error}");
    let device = result::device::get(number).map_err(said)?;
    // SAFETY: `device` was returned by `get` above.
    let memory = unsafe { result::device::total_mem(device) }.map_err(said)?;
    Ok(Gpu {
        name: result::device::get_name(device).map_err(said)?,
        memory: Some(memory as u64),
        software: false,
    })
}

/// Whether GPUs can exchange tensors: Burn does it by NCCL.
pub fn check_exchange() -> Result<(), String> {
    if_installed(cudarc::nccl::result::get_nccl_version)
        .ok_or("NCCL (libnccl), by which GPUs exchange tensors, is not installed")?
        .map_err(|error| format!("NCCL says {:?}", error.0))?;
    Ok(())
}

/// Does a job on the GPUs of these numbers.
pub fn run<J: Job>(job: J, numbers: &[usize]) -> Result<J::Output, TrainerError> {
    let devices: Vec<CudaDevice> = numbers.iter().copied().map(CudaDevice::new).collect();
    let device = Device::Gpus(Api::Cuda, numbers.to_vec());
    guarded(&device, || job.run::<Autodiff<Cuda>>(&devices))
}

/// Calls into one of CUDA's libraries; `None` if it is not installed. cudarc panics
/// then, and Burn would let it do so in a thread of its own; here, before Burn touches
/// CUDA, it can be caught.
fn if_installed<T>(call: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(call);
    panic::set_hook(hook);
    result.ok()
}
