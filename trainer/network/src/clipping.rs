//! Gradient clipping by global norm: one batch cannot throw the weights far.
//!
//! The norm is that of all parameters' gradients as one vector (Pascanu, Mikolov and Bengio, "On
//! the difficulty of training recurrent neural networks", 2013). Burn's own
//! `GradientClipping::Norm` clips each tensor separately, which changes the step's direction as
//! well as its length.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn_flex::Flex;
use rayon::prelude::*;

use crate::cpu;
use crate::tensors::{CHUNK, Cpu, contiguous, map};

/// Default clipping norm: longer than any gradient of an ordinary run (docs/training.md).
pub const CLIP_NORM: f32 = 2.0;

/// Scales a model's gradients down to the norm `most` if they are longer, else leaves them
/// unchanged. Returns the norm before clipping.
pub fn clip(model: &impl Module<Cpu>, gradients: &mut GradientsParams, most: f32) -> f32 {
    let mut squares = Squares {
        gradients,
        sum: 0.0,
    };
    model.visit(&mut squares);
    let norm = squares.sum.sqrt() as f32;
    if norm > most {
        let factor = most / norm;
        model.visit(&mut Scale { gradients, factor });
    }
    norm
}

/// Visitor that sums the squares of all gradients, in one order for any number of threads.
struct Squares<'a> {
    gradients: &'a GradientsParams,
    sum: f64,
}

impl ModuleVisitor<Cpu> for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<Cpu, D>>) {
        if let Some(gradient) = self.gradients.get::<Flex, D>(parameter.id) {
            let gradient = contiguous(gradient);
            let chunks = cpu::floats(&gradient).par_chunks(CHUNK);
            let sums = chunks.map(|chunk| chunk.iter().map(|&x| f64::from(x) * f64::from(x)).sum());
            self.sum += sums.collect::<Vec<f64>>().into_iter().sum::<f64>();
        }
    }
}

/// Visitor that multiplies all gradients by `factor`.
struct Scale<'a> {
    gradients: &'a mut GradientsParams,
    factor: f32,
}

impl ModuleVisitor<Cpu> for Scale<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<Cpu, D>>) {
        if let Some(gradient) = self.gradients.remove::<Flex, D>(parameter.id) {
            let scaled = map(gradient, |number| number * self.factor);
            self.gradients.register::<Flex, D>(parameter.id, scaled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{Architecture, Network};

    use crate::model::Model;
    use crate::tensors::floats;
    use crate::trainer::tracked;

    struct Fill<'a>(&'a mut GradientsParams);

    impl ModuleVisitor<Cpu> for Fill<'_> {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<Cpu, D>>) {
            let ones = parameter.val().inner().ones_like();
            self.0.register::<Flex, D>(parameter.id, ones);
        }
    }

    struct Collect<'a>(&'a GradientsParams, Vec<f32>);

    impl ModuleVisitor<Cpu> for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<Cpu, D>>) {
            let gradient = self.0.get::<Flex, D>(parameter.id).expect("a gradient");
            self.1.extend(floats(gradient));
        }
    }

    /// Clips gradients of ones; returns their norm before and after.
    fn clipped(most: f32) -> (f64, f64) {
        let architecture = Architecture::hidden([3, 2, 2]);
        let model = tracked(Model::new(&Network::random(architecture, 1)));
        let mut gradients = GradientsParams::new();
        model.visit(&mut Fill(&mut gradients));
        let norm = clip(&model, &mut gradients, most);
        let mut collect = Collect(&gradients, Vec::new());
        model.visit(&mut collect);
        let squares = collect.1.iter().map(|&x| f64::from(x).powi(2));
        let length = squares.sum::<f64>().sqrt();
        assert!((f64::from(norm).powi(2) - collect.1.len() as f64).abs() < 1e-2);
        (f64::from(norm), length)
    }

    #[test]
    fn clips_by_the_global_norm() {
        let (before, after) = clipped(2.0);
        assert!(before > 40.0, "{before}");
        assert!((after - 2.0).abs() < 1e-4, "{after}");
        let (before, after) = clipped(1e3);
        assert!((after - before).abs() < 1e-4, "{after}");
    }
}
