//! Finiteness check of parameters. The loss may hide a NaN, because on some devices a clamp turns
//! it into a bound.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use crate::tensors::floats;

/// Returns whether every parameter of a model is finite.
pub fn is_finite<B: Backend, M: Module<B>>(model: &M) -> bool {
    let mut finite = Finite(true);
    model.visit(&mut finite);
    finite.0
}

struct Finite(bool);

impl<B: Backend> ModuleVisitor<B> for Finite {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        let values = floats(parameter.val());
        self.0 &= values.iter().all(|value| value.is_finite());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{Architecture, Network};

    use crate::model::Model;

    #[test]
    fn finds_a_nan_parameter() {
        let network = Network::random(Architecture::ARTICLE, 1);
        let model = Model::new;
        assert!(is_finite(&model(&network)));
        let mut layers = network.layers().to_vec();
        layers[2].bias[0] = f32::NAN;
        assert!(!is_finite(&model(&Network::new(
            Architecture::ARTICLE,
            layers
        ))));
    }
}
