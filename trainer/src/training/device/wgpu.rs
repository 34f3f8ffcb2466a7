//! GPUs by Vulkan or Metal, through wgpu.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use burn::backend::Autodiff;
use burn_wgpu::graphics::AutoGraphicsApi;
use burn_wgpu::{RuntimeOptions, Wgpu, WgpuDevice, init_setup};
use wgpu::{Adapter, Backends, DeviceType, Instance, InstanceDescriptor};

use super::{Api, Device, Gpu, Job, guarded};
use crate::error::TrainerError;

/// All GPUs that an interface finds, the best first; or why there is none.
pub fn gpus(api: Api) -> Result<Vec<Gpu>, String> {
    let adapters = adapters(api);
    if adapters.is_empty() {
        let why = match api {
            Api::Metal => "no GPU speaks Metal here",
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

/// The GPUs by what Burn calls them: discrete ones, then those that share the
/// processor's memory, then virtual ones, then software.
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
    // Burn has no more than one.
    add(DeviceType::Cpu, |_| WgpuDevice::Cpu);
    found.dedup_by_key(|(device, _)| device.clone());
    found
}

/// The result of a future that is ready as soon as it is asked for: outside browsers,
/// those of wgpu that look for GPUs are.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("wgpu looks for GPUs without waiting"),
    }
}

/// The memory of a GPU by itself, in bytes: the largest heap that is its own, or of a
/// GPU that has none, the largest.
#[cfg(feature = "vulkan")]
fn memory(adapter: &Adapter) -> Option<u64> {
    // SAFETY: what is asked for is read, and nothing is destroyed.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the physical device is one of this instance, and both live as long as the
    // adapter.
    let memory =
        unsafe { instance.get_physical_device_memory_properties(adapter.raw_physical_device()) };
    let heaps = &memory.memory_heaps[..memory.memory_heap_count as usize];
    heaps.iter().map(|heap| heap.size).max()
}

#[cfg(not(feature = "vulkan"))]
fn memory(_adapter: &Adapter) -> Option<u64> {
    None
}

/// Does a job on the GPUs of these numbers in [`gpus`].
pub fn run<J: Job>(job: J, api: Api, numbers: &[usize]) -> Result<J::Output, TrainerError> {
    let device = Device::Gpus(api, numbers.to_vec());
    let adapters = adapters(api);
    let devices: Vec<WgpuDevice> = numbers
        .iter()
        .map(|&number| adapters[number].0.clone())
        .collect();
    guarded(&device, || {
        for device in &devices {
            init_setup::<AutoGraphicsApi>(device, RuntimeOptions::default());
        }
        job.run::<Autodiff<Wgpu>>(&devices)
    })
}

#[cfg(all(test, feature = "vulkan"))]
mod tests {
    use super::*;
    use burn_flex::{Flex, FlexDevice};
    use models::{Architecture, Network};

    use crate::network::evaluate::Train;
    use crate::network::model::Model;
    use crate::network::target::Aim;
    use crate::testing::{Cpu, SMALL, games, turn};
    use crate::training::learner::Learner;
    use crate::training::replicas::Replicas;
    use crate::training::schedule::Schedule;

    type Gpu = Autodiff<Wgpu>;

    /// The shape of the shipped net.
    const SHIPPED: Architecture = Architecture::hidden([256, 32, 32]);

    /// The best device that there is, software if it must be.
    fn device() -> Option<WgpuDevice> {
        let found = adapters(Api::Vulkan).into_iter().next();
        let Some((device, _)) = found else {
            test_support::skip("no Vulkan driver: mesa-vulkan-drivers brings one in software");
            return None;
        };
        Some(device)
    }

    /// The greatest distance of two lists of numbers.
    fn apart(found: &[f32], expected: &[f32]) -> f32 {
        assert_eq!(found.len(), expected.len());
        let distances = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        distances.fold(0.0, f32::max)
    }

    fn weights(network: &Network) -> Vec<f32> {
        let layers = network.layers().iter();
        let numbers = layers.flat_map(|layer| layer.weight.iter().chain(&layer.bias));
        numbers.copied().collect()
    }

    #[test]
    fn values_are_those_of_the_processor() {
        let Some(device) = device() else { return };
        let records = games(10_000);
        let net = include_bytes!("../../../../models/default.safetensors");
        let (network, _) = Network::from_bytes(net).unwrap();
        let found = Model::<Wgpu>::new(&network, &device).values(&records, &device);
        let expected = Model::<Flex>::new(&network, &FlexDevice).values(&records, &FlexDevice);
        assert!(expected.iter().any(|value| value.abs() > 1.0));
        let apart = apart(&found, &expected);
        assert!(apart < 1e-4, "{apart} pawns");
    }

    /// A loss's gradients, by parameter.
    fn gradients<B: Train>(device: &B::Device) -> Vec<Vec<f32>> {
        let model = Model::<B>::new(&Network::random(SHIPPED, 2), device).with_own_scale(0.25);
        let samples = B::samples(SHIPPED, &games(2_000), Aim::LABEL, device);
        model.gradients(&model.loss(&samples, 1.0).backward())
    }

    #[test]
    fn gradients_are_those_of_the_processor() {
        let Some(device) = device() else { return };
        let _turn = turn();
        let (found, expected) = (gradients::<Gpu>(&device), gradients::<Cpu>(&FlexDevice));
        for (parameter, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let scale = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
            assert!(scale > 0.0, "parameter {parameter} has no gradient");
            let apart = apart(found, expected) / scale;
            assert!(apart < 1e-3, "parameter {parameter}: {apart}");
        }
    }

    /// The network after some steps, shared by so many replicas on one device.
    fn trained<B: Train>(device: &B::Device, replicas: usize, steps: u64) -> Vec<f32> {
        let devices = vec![device.clone(); replicas];
        let start = Replicas::new(Model::fresh(SMALL, 5, device), &devices);
        let mut learner = Learner::<B>::new(start, Schedule::new(RATE, 100), 0.3, 1.0);
        for records in games(64 * steps as usize).chunks_exact(64) {
            let parts = records.chunks(64 / replicas);
            learner.learn(
                parts
                    .map(|part| B::samples(SMALL, part, Aim::LABEL, device))
                    .collect(),
            );
        }
        weights(&learner.network())
    }

    const RATE: f64 = 5e-3;

    #[test]
    fn steps_are_those_of_the_processor_whatever_the_number_of_replicas() {
        let Some(device) = device() else { return };
        let _turn = turn();
        for steps in [1, 10] {
            let expected = trained::<Cpu>(&FlexDevice, 1, steps);
            for replicas in [1, 2] {
                // Adam divides by a gradient's length: where it is next to nothing, so is
                // what is certain of it.
                let apart = apart(&trained::<Gpu>(&device, replicas, steps), &expected);
                let bound = 0.02 * RATE as f32 * steps as f32;
                assert!(apart < bound, "{replicas} replicas, {steps} steps: {apart}");
            }
        }
    }
}
