//! AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019) in one pass over a
//! parameter.
//!
//! Rounds like Burn's own AdamW, which passes over the parameter some fifteen times.

use burn::optim::{AdamWState, AdaptiveMomentumState, LearningRate, SimpleOptimizer};
use burn::tensor::{Device, Tensor};
use burn_flex::Flex;
use rayon::prelude::*;

use crate::cpu;
use crate::tensors::{CHUNK, contiguous, tensor};

/// AdamW's decay rates for the means of gradients and of their squares. These and [`EPSILON`] are
/// Burn's defaults, fixed here against changes of the defaults.
pub const BETAS: [f64; 2] = [0.9, 0.999];
/// AdamW's summand against division by zero.
pub const EPSILON: f64 = 1e-5;

/// The optimizer's settings.
#[derive(Clone, Copy, Debug)]
pub struct AdamW {
    /// Weight decay, in units of the learning rate.
    pub weight_decay: f64,
}

impl SimpleOptimizer<Flex> for AdamW {
    type State<const D: usize> = AdamWState<Flex, D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        parameter: Tensor<Flex, D>,
        gradient: Tensor<Flex, D>,
        state: Option<AdamWState<Flex, D>>,
    ) -> (Tensor<Flex, D>, Option<AdamWState<Flex, D>>) {
        let AdaptiveMomentumState {
            time,
            moment_1,
            moment_2,
            ..
        } = match state {
            Some(state) => state.momentum,
            None => AdaptiveMomentumState::new(0, gradient.zeros_like(), gradient.zeros_like()),
        };
        let time = time + 1;
        let [beta_1, beta_2] = BETAS.map(|beta| beta as f32);
        let power = i32::try_from(time).unwrap_or(i32::MAX);
        let corrections = [1.0 - beta_1.powi(power), 1.0 - beta_2.powi(power)];
        let kept = (1.0 - rate * f64::from(self.weight_decay as f32)) as f32;
        let rate = rate as f32;

        let gradient = contiguous(gradient);
        let mut parts = [parameter, moment_1, moment_2].map(contiguous);
        let [parameters, first, second] = &mut parts;
        let parameters = parameters.storage_mut::<f32>().par_chunks_mut(CHUNK);
        let moments = first.storage_mut::<f32>().par_chunks_mut(CHUNK);
        let moments = moments.zip(second.storage_mut::<f32>().par_chunks_mut(CHUNK));
        let gradients = cpu::floats(&gradient).par_chunks(CHUNK);
        let chunks = parameters.zip(moments).zip(gradients);
        chunks.for_each(|((parameters, (first, second)), gradients)| {
            let moments = first.iter_mut().zip(second);
            let numbers = parameters.iter_mut().zip(moments).zip(gradients);
            for ((parameter, (first, second)), gradient) in numbers {
                *first = *first * beta_1 + gradient * (1.0 - beta_1);
                *second = *second * beta_2 + gradient * gradient * (1.0 - beta_2);
                let step = (*first / corrections[0])
                    / ((*second / corrections[1]).sqrt() + EPSILON as f32);
                *parameter = *parameter * kept - step * rate;
            }
        });
        let [parameter, moment_1, moment_2] = parts.map(tensor);
        let momentum = AdaptiveMomentumState::new(time, moment_1, moment_2);
        (parameter, Some(AdamWState::new(momentum)))
    }

    fn to_device<const D: usize>(
        state: AdamWState<Flex, D>,
        _device: &Device<Flex>,
    ) -> AdamWState<Flex, D> {
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::optim::AdamWConfig;
    use burn::tensor::{Distribution, TensorData};
    use burn_flex::FlexDevice;

    use crate::tensors::floats;

    #[test]
    fn equals_burns_to_the_bit() {
        let own = AdamW { weight_decay: 0.01 };
        let burns = AdamWConfig::new()
            .with_beta_1(BETAS[0] as f32)
            .with_beta_2(BETAS[1] as f32)
            .with_epsilon(EPSILON as f32)
            .with_weight_decay(0.01)
            .build();
        let device = FlexDevice;
        let random = |shape| Tensor::<Flex, 2>::random(shape, Distribution::Default, &device);
        // More than a chunk; the parameter is a transpose, as layers read from a file are.
        let start = random([7, CHUNK / 4]).transpose();
        let (mut parameters, mut states) = ([start.clone(), start], (None, None));
        for step in 0..5 {
            let gradient = match step {
                3 => Tensor::from_data(
                    TensorData::new(vec![0f32; 7 * CHUNK / 4], [CHUNK / 4, 7]),
                    &device,
                ),
                _ => random([CHUNK / 4, 7]) - 0.5,
            };
            let [a, b] = parameters;
            let (a, state) = own.step(0.01, a, gradient.clone(), states.0);
            states.0 = state;
            let (b, state) = burns.step(0.01, b, gradient, states.1);
            states.1 = state;
            assert_eq!(floats(a.clone()), floats(b.clone()), "step {step}");
            parameters = [a, b];
        }
        let momentum = |state: Option<AdamWState<Flex, 2>>| {
            let momentum = state.expect("after a step").momentum;
            (momentum.time, floats(momentum.moment_2))
        };
        assert_eq!(momentum(states.0), momentum(states.1));
    }
}
