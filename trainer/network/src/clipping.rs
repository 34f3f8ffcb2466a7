//! Gradient clipping by global norm: one batch cannot throw the weights far.
//!
//! The norm is that of all parameters' gradients as one vector (Pascanu, Mikolov and Bengio, "On
//! the difficulty of training recurrent neural networks", 2013). Burn's own
//! `GradientClipping::Norm` clips each tensor separately, which changes the step's direction as
//! well as its length.

use burn::module::{AutodiffModule, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;

/// Default clipping norm: longer than any gradient of an ordinary run (docs/training.md).
pub const CLIP_NORM: f32 = 2.0;

/// Scales a model's gradients down to the norm `most` if they are longer, else leaves them
/// unchanged to the bit. Returns the norm before clipping, shape `[1]`, still on the device.
pub fn clip<B: AutodiffBackend, M: AutodiffModule<B>>(
    model: &M,
    gradients: &mut GradientsParams,
    most: f32,
) -> Tensor<B::InnerBackend, 1> {
    let mut squares = Squares::<B> {
        gradients,
        sum: None,
    };
    model.visit(&mut squares);
    let sum = squares.sum.expect("a model has parameters");
    let norm = sum.sqrt();
    let factor = (norm.clone().recip() * most).clamp_max(1.0);
    model.visit(&mut Scale::<B> { gradients, factor });
    norm
}

/// Visitor that sums the squares of all gradients.
struct Squares<'a, B: AutodiffBackend> {
    gradients: &'a GradientsParams,
    sum: Option<Tensor<B::InnerBackend, 1>>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Squares<'_, B> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        if let Some(gradient) = self.gradients.get::<B::InnerBackend, D>(parameter.id) {
            let squares = gradient.square().sum();
            self.sum = Some(match self.sum.take() {
                Some(sum) => sum + squares,
                None => squares,
            });
        }
    }
}

/// Visitor that multiplies all gradients by `factor`.
struct Scale<'a, B: AutodiffBackend> {
    gradients: &'a mut GradientsParams,
    factor: Tensor<B::InnerBackend, 1>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Scale<'_, B> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        if let Some(gradient) = self.gradients.remove::<B::InnerBackend, D>(parameter.id) {
            let scaled = gradient * self.factor.clone().unsqueeze();
            self.gradients
                .register::<B::InnerBackend, D>(parameter.id, scaled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Module;
    use burn_flex::Flex;
    use models::{Architecture, Network};

    use crate::model::Model;
    use crate::tensors::floats;
    use crate::testing::Cpu;
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
        let norm = clip(&model, &mut gradients, most).into_scalar();
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
