//! Vulkan and Metal devices, through wgpu.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use gpu::wgpu::{AutoGraphicsApi, RuntimeOptions, WgpuDevice, WgpuRuntime, init_setup};
use wgpu::{Adapter, Backends, DeviceType, Instance, InstanceDescriptor};

use super::{Api, Device, Gpu, Job, guarded};
use crate::error::TrainerError;
use crate::training::executor::{GpuDevice, GpuExecutor};

/// Returns all GPUs of an interface, the best first, or the reason why there is none.
pub fn gpus(api: Api) -> Result<Vec<Gpu>, String> {
    let adapters = adapters(api);
    if adapters.is_empty() {
        let why = match api {
            Api::Metal => "no GPU supports Metal here",
            _ => {
                "no Vulkan driver finds a GPU here; install your GPU's driver, on Debian and \
                 Ubuntu also libvulkan1 and mesa-vulkan-drivers"
            }
        };
        return Err(why.to_string());
    }
    let gpus = adapters.iter().map(|(_, adapter)| {
        let info = adapter.get_info();
        Gpu {
            memory: memory(adapter),
            software: info.device_type == DeviceType::Cpu,
            name: info.name,
        }
    });
    Ok(gpus.collect())
}

/// Returns the GPUs by CubeCL's handle: discrete, then integrated (sharing the processor's memory),
/// then virtual ones, then software.
fn adapters(api: Api) -> Vec<(WgpuDevice, Adapter)> {
    let backends = match api {
        Api::Metal => Backends::METAL,
        _ => Backends::VULKAN,
    };
    let instance = Instance::new(InstanceDescriptor {
        backends,
        ..InstanceDescriptor::new_without_display_handle()
    });
    let all = at_once(instance.enumerate_adapters(backends));
    let of_kind = |kind| {
        all.iter()
            .filter(move |adapter| adapter.get_info().device_type == kind)
            .enumerate()
    };
    let mut found = Vec::new();
    let mut add = |kind, device: fn(usize) -> WgpuDevice| {
        found.extend(of_kind(kind).map(|(number, adapter)| (device(number), adapter.clone())));
    };
    add(DeviceType::DiscreteGpu, WgpuDevice::DiscreteGpu);
    add(DeviceType::IntegratedGpu, WgpuDevice::IntegratedGpu);
    add(DeviceType::VirtualGpu, WgpuDevice::VirtualGpu);
    // CubeCL has only one.
    add(DeviceType::Cpu, |_| WgpuDevice::Cpu);
    found.dedup_by_key(|(device, _)| device.clone());
    found
}

/// Polls a future that is ready at once: outside browsers, wgpu's adapter search is.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("wgpu looks for GPUs without waiting"),
    }
}

/// Returns the size of a GPU's largest memory heap, in bytes. Usually that is the GPU's own memory,
/// or shared memory for an integrated GPU.
#[cfg(feature = "vulkan")]
fn memory(adapter: &Adapter) -> Option<u64> {
    // SAFETY: the raw adapter is only read, and nothing is destroyed.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the physical device is one of this instance, and both live as long as the adapter.
    let memory =
        unsafe { instance.get_physical_device_memory_properties(adapter.raw_physical_device()) };
    let heaps = &memory.memory_heaps[..memory.memory_heap_count as usize];
    heaps.iter().map(|heap| heap.size).max()
}

#[cfg(not(feature = "vulkan"))]
fn memory(_adapter: &Adapter) -> Option<u64> {
    None
}

/// Initialises a device once, since CubeCL refuses to do so twice in a process.
fn set_up(device: &WgpuDevice) {
    static READY: Mutex<Vec<WgpuDevice>> = Mutex::new(Vec::new());
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    if !ready.contains(device) {
        init_setup::<AutoGraphicsApi>(device, RuntimeOptions::default());
        ready.push(device.clone());
    }
}

/// Does a job on the GPU with this number in [`gpus`].
pub fn run<J: Job>(job: J, api: Api, number: usize) -> Result<J::Output, TrainerError> {
    let name = Device::Gpu(api, number);
    let (device, adapter) = adapters(api).swap_remove(number);
    let device = GpuDevice {
        device,
        name: name.to_string(),
        memory: memory(&adapter),
    };
    guarded(&name, || {
        set_up(&device.device);
        job.run::<GpuExecutor<WgpuRuntime>>(&device)
    })
}
