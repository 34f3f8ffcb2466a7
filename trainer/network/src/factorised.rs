//! Sum of own and shared weights of the first layer, as one operation of Burn's graph.
//!
//! As a product with a matrix of zeros and ones, it would cost 186 multiplications a weight.

use std::sync::LazyLock;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData, TensorPrimitive};
use burn_flex::{Flex, FlexTensor};
use features::{SHARED, shared_rows};
use models::INPUTS;
use rayon::prelude::*;

use crate::cpu::{floats, in_graph};
use crate::tensors::{Cpu, contiguous, tensor};

/// Operands of the sum: `own * own_scale`, `[INPUTS, outputs]`, and to each row the `shared` rows
/// of its input, `[SHARED, outputs]`; clamped to ±`bound`.
#[derive(Clone, Debug)]
struct Operands {
    own: FlexTensor,
    own_scale: f32,
    shared: FlexTensor,
    bound: f32,
}

/// A backend that computes the sum.
pub trait SumWeights: Backend {
    /// Returns the summed weights, `[INPUTS, outputs]`, clamped to ±`bound`.
    fn sum(
        own: Tensor<Self, 2>,
        own_scale: f32,
        shared: Tensor<Self, 2>,
        bound: f32,
    ) -> Tensor<Self, 2>;
}

impl SumWeights for Flex {
    fn sum(
        own: Tensor<Flex, 2>,
        own_scale: f32,
        shared: Tensor<Flex, 2>,
        bound: f32,
    ) -> Tensor<Flex, 2> {
        let operands = Operands {
            own: contiguous(own),
            own_scale,
            shared: contiguous(shared),
            bound,
        };
        tensor(operands.clamped())
    }
}

impl SumWeights for Cpu {
    fn sum(
        own: Tensor<Cpu, 2>,
        own_scale: f32,
        shared: Tensor<Cpu, 2>,
        bound: f32,
    ) -> Tensor<Cpu, 2> {
        let parents = [own, shared].map(|tensor| tensor.into_primitive().tensor());
        let [own, shared] = parents
            .each_ref()
            .map(|parent| parent.primitive.to_contiguous());
        let operands = Operands {
            own,
            own_scale,
            shared,
            bound,
        };
        let clamped = operands.clamped();
        let sum = in_graph(Sum, &parents, operands, clamped);
        Tensor::from_primitive(TensorPrimitive::Float(sum))
    }
}

impl Operands {
    fn outputs(&self) -> usize {
        self.own.layout().num_elements() / INPUTS
    }

    /// Writes an input's row of the sum, before clamping.
    fn write_row(&self, input: usize, row: &mut [f32]) {
        let outputs = row.len();
        row.fill(0.0);
        for shared in shared_rows(input) {
            let shared = &floats(&self.shared)[shared * outputs..][..outputs];
            row.iter_mut().zip(shared).for_each(|(sum, x)| *sum += x);
        }
        let own = &floats(&self.own)[input * outputs..][..outputs];
        for (sum, own) in row.iter_mut().zip(own) {
            *sum += own * self.own_scale;
        }
    }

    fn clamped(&self) -> FlexTensor {
        let outputs = self.outputs();
        let mut sums = vec![0f32; INPUTS * outputs];
        let rows = sums.par_chunks_exact_mut(outputs).enumerate();
        rows.for_each(|(input, row)| {
            self.write_row(input, row);
            row.iter_mut()
                .for_each(|sum| *sum = sum.clamp(-self.bound, self.bound));
        });
        FlexTensor::from_data(TensorData::new(sums, [INPUTS, outputs]))
    }

    /// Returns the gradients of `own` and `shared`, given that of the sum. A clamped weight has
    /// none.
    fn gradients(&self, of_sum: &[f32]) -> [TensorData; 2] {
        let outputs = self.outputs();
        let mut passed = vec![0f32; INPUTS * outputs];
        let rows = passed.par_chunks_exact_mut(outputs).enumerate();
        rows.for_each(|(input, row)| {
            self.write_row(input, row);
            let gradients = &of_sum[input * outputs..][..outputs];
            for (sum, gradient) in row.iter_mut().zip(gradients) {
                let clamped = *sum < -self.bound || *sum > self.bound;
                *sum = if clamped { 0.0 } else { *gradient };
            }
        });
        let mut shared = vec![0f32; SHARED * outputs];
        let rows = shared.par_chunks_exact_mut(outputs).zip(&*MEMBERS);
        rows.for_each(|(row, members)| {
            for &input in members {
                let gradients = &passed[input * outputs..][..outputs];
                row.iter_mut().zip(gradients).for_each(|(sum, x)| *sum += x);
            }
        });
        let mut own = passed;
        if self.own_scale != 1.0 {
            own.par_chunks_exact_mut(outputs)
                .for_each(|row| row.iter_mut().for_each(|x| *x *= self.own_scale));
        }
        [
            TensorData::new(own, [INPUTS, outputs]),
            TensorData::new(shared, [SHARED, outputs]),
        ]
    }
}

/// Inputs that add each shared row, ascending.
static MEMBERS: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
    let mut members = vec![Vec::new(); SHARED];
    for input in 0..INPUTS {
        shared_rows(input).for_each(|row| members[row].push(input));
    }
    members
});

/// The operation in Burn's graph, with the parents own and shared.
#[derive(Debug)]
struct Sum;

impl Backward<Flex, 2> for Sum {
    type State = Operands;

    fn backward(
        self,
        ops: Ops<Operands, 2>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let of_sum = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let found = ops.state.gradients(floats(&of_sum));
        for (parent, found) in ops.parents.into_iter().zip(found) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, FlexTensor::from_data(found));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Distribution, ElementConversion};

    use crate::tensors;
    use crate::testing::turn;

    /// Matrix of zeros and ones, `[INPUTS, SHARED]`: which shared rows each input adds.
    fn membership<B: Backend>(device: &B::Device) -> Tensor<B, 2> {
        let mut rows = vec![0f32; INPUTS * SHARED];
        for (input, row) in rows.chunks_exact_mut(SHARED).enumerate() {
            shared_rows(input).for_each(|shared| row[shared] = 1.0);
        }
        Tensor::from_data(TensorData::new(rows, [INPUTS, SHARED]), device)
    }

    #[test]
    fn matches_burns_own_operations() {
        let _turn = turn();
        let device = Default::default();
        let random = |rows| {
            let tensor = Tensor::<Cpu, 2>::random([rows, 70], Distribution::Default, &device);
            ((tensor - 0.5) * 2.0).detach().require_grad()
        };
        for own_scale in [1.0, 0.25] {
            let (own, shared) = (random(INPUTS), random(SHARED));
            // Low enough to clamp many sums.
            let bound = 0.8;
            let weights = random(INPUTS).inner();
            let pass = |sums: Tensor<Cpu, 2>| {
                let loss = (sums.clone() * Tensor::from_inner(weights.clone())).sum();
                let gradients = loss.backward();
                [
                    tensors::floats(sums),
                    tensors::floats(own.grad(&gradients).expect("tracked")),
                    tensors::floats(shared.grad(&gradients).expect("tracked")),
                ]
            };
            let found = pass(Cpu::sum(own.clone(), own_scale, shared.clone(), bound));
            let sums = own.clone() * own_scale + membership(&device).matmul(shared.clone());
            let clamped: f32 = sums
                .clone()
                .abs()
                .greater_elem(bound)
                .float()
                .mean()
                .into_scalar()
                .elem();
            assert!((0.1..0.9).contains(&clamped), "{clamped}");
            let expected = pass(sums.clamp(-bound, bound));
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
                }
            }
            let untracked = Flex::sum(
                own.clone().inner(),
                own_scale,
                shared.clone().inner(),
                bound,
            );
            assert_eq!(tensors::floats(untracked), found[0]);
        }
    }

    #[test]
    fn pieces_share_three_rows_and_threats_have_one_each() {
        let rows = tensors::floats(membership::<Flex>(&Default::default()));
        for (input, row) in rows.chunks_exact(SHARED).enumerate() {
            let expected = match input {
                0..768 => 3.0,
                832..862 => 1.0,
                _ => 0.0,
            };
            assert_eq!(row.iter().sum::<f32>(), expected, "input {input}");
        }
        for (row, members) in MEMBERS.iter().enumerate() {
            assert_eq!(
                members.len() == 1,
                row >= 13 * features::PIECES,
                "row {row}"
            );
        }
        let c3 = 64 + 2 * 8 + 2; // own knight
        let f3 = 64 + 2 * 8 + 5; // its mirror image shares all three
        let row = |input: usize| &rows[input * SHARED..][..SHARED];
        assert_eq!(row(c3), row(f3));
        assert_ne!(row(c3), row(c3 + 1));
    }
}
