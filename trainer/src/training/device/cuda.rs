//! CUDA devices.

use std::panic::{self, UnwindSafe};

use burn::tensor::Tensor;
use burn_cuda::{Cuda, CudaDevice};
use cudarc::driver::result;
use cudarc::nvrtc::CompileOptions;
use gpu::cuda::CudaRuntime;
use gpu::cuda::install::cuda_path;

use super::{Api, Device, Gpu, Job, guarded};
use crate::error::TrainerError;
use crate::training::executor::{GpuDevice, GpuExecutor};

/// Commands that install CUDA's compiler and headers on a machine with only the driver.
const REMEDY: &str = "\
    python3 -m venv ~/cuda && ~/cuda/bin/pip install nvidia-cuda-nvrtc==13.0.* \
    nvidia-cuda-runtime==13.0.* && export CUDA_PATH=$(echo ~/cuda/lib/python3*/site-packages/nvidia/cu13) \
    && export LD_LIBRARY_PATH=$CUDA_PATH/lib";

/// Lists the GPUs, in CUDA's order.
///
/// # Errors
/// The reason why CUDA is unusable, and the remedy.
pub fn gpus() -> Result<Vec<Gpu>, String> {
    let count = if_installed(cudarc::driver::CudaContext::device_count)
        .ok_or("the NVIDIA driver (libcuda) is not installed")?
        .map_err(|error| format!("the NVIDIA driver says {error}"))?;
    check_compiler()?;
    (0..count).map(gpu).collect()
}

/// Checks that CUDA's run-time compiler works and finds its headers.
fn check_compiler() -> Result<(), String> {
    let missing = |what: &str| format!("{what} is not installed; {REMEDY}");
    let root = cuda_path().ok_or_else(|| missing("CUDA (no CUDA_PATH, no /usr/local/cuda)"))?;
    let options = CompileOptions {
        include_paths: vec![root.join("include").display().to_string()],
        ..CompileOptions::default()
    };
    let source = "#include <cuda_runtime.h>";
    let compiled = move || cudarc::nvrtc::compile_ptx_with_opts(source, options);
    if_installed(compiled)
        .ok_or_else(|| missing("CUDA's run-time compiler (libnvrtc)"))?
        .map_err(|error| format!("CUDA's run-time compiler says {error}; {REMEDY}"))?;
    Ok(())
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

/// Checks that a GPU compiles and correctly runs a kernel: a sum of Burn's.
pub fn probe(number: usize) -> Result<(), String> {
    let device = CudaDevice::new(number);
    let sum = guarded(&Device::Gpu(Api::Cuda, number), || {
        let numbers = Tensor::<Cuda, 1>::from_floats([1.0, 2.0, 3.0], &device);
        Ok((numbers + 1.0).into_data())
    });
    let sum = sum.map_err(|error| error.to_string())?;
    match sum.to_vec::<f32>() {
        Ok(sum) if sum == [2.0, 3.0, 4.0] => Ok(()),
        found => Err(format!("it computes [1, 2, 3] + 1 as {found:?}")),
    }
}

/// Does a job on the GPU with this number.
pub fn run<J: Job>(job: J, number: usize) -> Result<J::Output, TrainerError> {
    let name = Device::Gpu(Api::Cuda, number);
    let device = GpuDevice {
        device: CudaDevice::new(number),
        name: name.to_string(),
        memory: gpu(number as i32).ok().and_then(|gpu| gpu.memory),
    };
    guarded(&name, || job.run::<GpuExecutor<CudaRuntime>>(&device))
}

/// Calls into one of CUDA's libraries; `None` if it is not installed. cudarc then panics; this call
/// catches it before CubeCL first uses CUDA and lets it happen in another thread.
fn if_installed<T>(call: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(call);
    panic::set_hook(hook);
    result.ok()
}
