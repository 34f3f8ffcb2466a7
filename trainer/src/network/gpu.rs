//! The first layer on GPUs, by kernels of its own ([`kernels`]).
//!
//! Some 30 of the 902 inputs are one, the others zero. A product with the matrix of
//! inputs would spend nineteen twentieths of its work on zeros. The kernels add up the
//! rows of the active inputs, and for the gradient the samples that have an input.
//! The product is there too ([`Inputs::Dense`]), to be measured against.
//!
//! Samples travel as lists of indices, 16 bits each. The record itself would be half
//! as long, but the device would have to know the rules by which inputs are read off
//! it. The lists take less than a tenth of what a PCIe bus carries at 20 million
//! samples a second.

mod kernels;

use std::fmt;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::backend::Backend;
use burn::tensor::ops::{FloatTensor, IntTensor};
use burn::tensor::{
    DType, FloatDType, Int, Shape, Tensor, TensorData, TensorMetadata, TensorPrimitive,
};
use burn_fusion::stream::{Operation, OperationStreams};
use burn_fusion::{Fusion, FusionBackend, FusionHandle, FusionTensor};
use burn_ir::{CustomOpIr, HandleContainer, OperationIr, OperationOutput, TensorIr};
use datasets::Record;
use models::{Architecture, INPUTS};
use rayon::prelude::*;

use crate::input::host_lists::HostLists;
use crate::input::position;
use crate::network::first_layer::Inputs;
use crate::network::precision::{GRADIENT_SCALE, Precision};
use crate::network::target::Aim;
use crate::network::tensors::product;

/// Positions made ready for a GPU.
pub struct Prepared {
    views: Vec<HostLists>,
    targets: Vec<f32>,
    buckets: Option<Vec<i32>>,
    count: usize,
}

impl Prepared {
    /// Those of records, for networks of these parts.
    pub fn new(architecture: Architecture, records: &[Record], aim: Aim) -> Prepared {
        // One by itself is taken twice, which has the same mean: a matrix of one row is a
        // vector, whose products Burn gets wrong ([`product`]).
        let count = records.len();
        let twice;
        let records = match records {
            [alone] => {
                twice = [*alone; 2];
                &twice
            }
            _ => records,
        };
        let bucket = |record| position::bucket(architecture, record) as i32;
        Prepared {
            views: HostLists::by_view(architecture, records),
            targets: records.par_iter().map(|r| aim.target(r)).collect(),
            buckets: (architecture.buckets > 1).then(|| records.par_iter().map(bucket).collect()),
            count,
        }
    }
}

/// Positions on a GPU.
#[derive(Clone, Debug)]
pub struct Samples<B: Backend> {
    /// The active inputs as the mover sees them; and as the other side does, where the
    /// network sees both.
    pub views: Vec<Lists<B>>,
    /// The win chances that training aims at, `[samples]`.
    pub targets: Tensor<B, 1>,
    /// Their buckets, `[samples]`, where the network has several.
    pub buckets: Option<Tensor<B, 1, Int>>,
    /// How many records they were made of.
    count: usize,
}

/// The active inputs of positions, one list after the other.
#[derive(Clone, Debug)]
pub struct Lists<B: Backend> {
    /// `[samples + 1]`: where each list begins, and where the last ends.
    starts: Tensor<B, 1, Int>,
    /// Indices of inputs, two to a word, the first in the lower half.
    inputs: Tensor<B, 1, Int>,
}

impl<B: Backend> Samples<B> {
    /// What was made ready, on a device.
    pub fn new(prepared: Prepared, device: &B::Device) -> Samples<B> {
        let integers = |numbers: Vec<i32>| {
            let shape = [numbers.len()];
            Tensor::from_data(TensorData::new(numbers, shape), (device, DType::I32))
        };
        let views = prepared.views.into_iter().map(|lists| Lists {
            starts: integers(lists.starts),
            inputs: integers(lists.inputs),
        });
        let shape = [prepared.targets.len()];
        Samples {
            views: views.collect(),
            targets: Tensor::from_data(TensorData::new(prepared.targets, shape), device),
            buckets: prepared.buckets.map(integers),
            count: prepared.count,
        }
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.count
    }
}

impl<B: Backend> Lists<B> {
    /// Inputs that are on in a position, on average.
    pub fn active(&self) -> f64 {
        let positions = self.starts.dims()[0] - 1;
        2.0 * self.inputs.dims()[0] as f64 / positions as f64
    }

    fn primitives(&self) -> [IntTensor<B>; 2] {
        [&self.starts, &self.inputs].map(|tensor| tensor.clone().into_primitive())
    }
}

/// A backend with kernels for the first layer. Lists are [`Lists::starts`] and
/// [`Lists::inputs`].
pub trait Kernels: Backend {
    /// The bias and the rows of the active inputs added up: `[samples, width]`, of
    /// `weight`, `[INPUTS, width]`, and `bias`, `[width]`. They are formed in f32, and
    /// written as `dtype`.
    fn sums(
        starts: IntTensor<Self>,
        inputs: IntTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dtype: DType,
    ) -> FloatTensor<Self>;

    /// The gradient of the weights, `[INPUTS, width]`, f32, of that of the sums.
    fn weight_gradient(
        starts: IntTensor<Self>,
        inputs: IntTensor<Self>,
        output: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    /// The inputs as a matrix of zeros and ones, `[samples, INPUTS]`.
    fn dense(starts: IntTensor<Self>, inputs: IntTensor<Self>, dtype: DType) -> FloatTensor<Self>;
}

/// The first layer's sums, `[samples, width]`, of its weights, `[INPUTS, width]`, and
/// its bias, `[width]`.
pub fn sums<B: Kernels>(
    form: Inputs,
    precision: Precision,
    lists: &Lists<B>,
    weight: Tensor<B, 2>,
    bias: Tensor<B, 1>,
) -> Tensor<B, 2> {
    let [starts, inputs] = lists.primitives();
    let dtype = precision.of_hidden();
    if form == Inputs::Dense {
        let inputs = dense::<B>(B::dense(starts, inputs, dtype.into()));
        return product(inputs, cast(weight, dtype)) + cast(bias.unsqueeze(), dtype);
    }
    let weight = weight.into_primitive().tensor();
    let bias = bias.into_primitive().tensor();
    dense(B::sums(starts, inputs, weight, bias, dtype.into()))
}

/// The same, for a loss of which the gradient is derived.
pub fn tracked_sums<B: Kernels>(
    form: Inputs,
    precision: Precision,
    lists: &Lists<Autodiff<B>>,
    weight: Tensor<Autodiff<B>, 2>,
    bias: Tensor<Autodiff<B>, 1>,
) -> Tensor<Autodiff<B>, 2> {
    let [starts, inputs] = lists.primitives();
    let dtype = precision.of_hidden();
    if form == Inputs::Dense {
        let inputs = Tensor::from_inner(dense::<B>(B::dense(starts, inputs, dtype.into())));
        let weight = tracked_cast(weight, dtype);
        return product(inputs, weight) + tracked_cast(bias.unsqueeze(), dtype);
    }
    let weight = weight.into_primitive().tensor();
    let bias = bias.into_primitive().tensor();
    let output = B::sums(
        starts.clone(),
        inputs.clone(),
        weight.primitive,
        bias.primitive,
        dtype.into(),
    );
    let sums = match SumRows
        .prepare::<NoCheckpointing>([weight.node, bias.node])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prepared) => prepared.finish([starts, inputs], output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    };
    Tensor::from_primitive(TensorPrimitive::Float(sums))
}

fn dense<B: Backend>(primitive: FloatTensor<B>) -> Tensor<B, 2> {
    Tensor::from_primitive(TensorPrimitive::Float(primitive))
}

/// [`Kernels::sums`], as Burn's graph knows it.
#[derive(Debug)]
struct SumRows;

impl<B: Kernels> Backward<B, 2> for SumRows {
    type State = [IntTensor<B>; 2];

    fn backward(
        self,
        ops: Ops<[IntTensor<B>; 2], 2>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let output = gradients.consume::<B>(&ops.node);
        let [starts, inputs] = ops.state;
        let [weight, bias] = ops.parents;
        let dtype = output.dtype().into();
        if let Some(bias) = bias {
            let width = Shape::new([output.shape()[1]]);
            let sum = B::float_sum_dim(B::float_cast(output.clone(), FloatDType::F32), 0);
            let sum = B::float_reshape(sum, width);
            gradients.register::<B>(bias.id, rescaled::<B>(sum, dtype, FloatDType::F32));
        }
        if let Some(weight) = weight {
            let sum = B::weight_gradient(starts, inputs, output);
            gradients.register::<B>(weight.id, rescaled::<B>(sum, dtype, FloatDType::F32));
        }
    }
}

/// A tensor as another type.
pub fn cast<B: Backend>(tensor: Tensor<B, 2>, dtype: FloatDType) -> Tensor<B, 2> {
    tensor.cast(dtype)
}

/// The same, for a loss of which the gradient is derived. Gradients of f16 are
/// [`GRADIENT_SCALE`] times as large: whatever is f16 stands between two casts, of
/// which one multiplies and the other divides, so that nobody else has to know.
pub fn tracked_cast<B: Backend>(
    tensor: Tensor<Autodiff<B>, 2>,
    dtype: FloatDType,
) -> Tensor<Autodiff<B>, 2> {
    if tensor.dtype() == dtype.into() {
        return tensor;
    }
    let tensor = tensor.into_primitive().tensor();
    let before = tensor.primitive.dtype().into();
    let output = B::float_cast(tensor.primitive, dtype);
    let cast = match Cast
        .prepare::<NoCheckpointing>([tensor.node])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prepared) => prepared.finish([before, dtype], output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    };
    Tensor::from_primitive(TensorPrimitive::Float(cast))
}

/// [`tracked_cast`], as Burn's graph knows it.
#[derive(Debug)]
struct Cast;

impl<B: Backend> Backward<B, 1> for Cast {
    /// What it was, and what it became.
    type State = [FloatDType; 2];

    fn backward(
        self,
        ops: Ops<[FloatDType; 2], 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = gradients.consume::<B>(&ops.node);
        let [before, dtype] = ops.state;
        let [parent] = ops.parents;
        if let Some(parent) = parent {
            // In f32 alone there is room for both scales.
            let gradient = B::float_cast(gradient, FloatDType::F32);
            let gradient = rescaled::<B>(gradient, dtype, before);
            gradients.register::<B>(parent.id, B::float_cast(gradient, before));
        }
    }
}

/// A gradient with the scale that gradients of one type have, with that of another.
fn rescaled<B: Backend>(
    gradient: FloatTensor<B>,
    from: FloatDType,
    to: FloatDType,
) -> FloatTensor<B> {
    match (from, to) {
        (FloatDType::F16, FloatDType::F32) => {
            B::float_mul_scalar(gradient, (1.0 / GRADIENT_SCALE).into())
        }
        (FloatDType::F32, FloatDType::F16) => B::float_mul_scalar(gradient, GRADIENT_SCALE.into()),
        _ => gradient,
    }
}

/// A kernel that waits in Burn's queue until its operands are there.
struct Waiting<B: FusionBackend> {
    ir: CustomOpIr,
    run: Run<B>,
}

type Handles<B> = HandleContainer<FusionHandle<<B as FusionBackend>::FusionRuntime>>;
/// Gets the operands, and what the result's type is.
type Run<B> = fn(&[TensorIr], DType, &mut Handles<B>) -> FloatTensor<B>;

impl<B: FusionBackend> fmt::Debug for Waiting<B> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.ir.fmt(f)
    }
}

impl<B: FusionBackend> Operation<B::FusionRuntime> for Waiting<B> {
    fn execute(&self, handles: &mut Handles<B>) {
        let output = &self.ir.outputs[0];
        let result = (self.run)(&self.ir.inputs, output.dtype, handles);
        handles.register_float_tensor::<B>(&output.id, result);
    }
}

/// Puts a kernel into Burn's queue.
fn enqueue<B: FusionBackend>(
    name: &'static str,
    operands: Vec<FusionTensor<B::FusionRuntime>>,
    (shape, dtype): ([usize; 2], DType),
    run: Run<B>,
) -> FusionTensor<B::FusionRuntime> {
    let client = operands[0].client.clone();
    let streams = OperationStreams::with_inputs(&operands);
    let result = TensorIr::uninit(client.create_empty_handle(), Shape::new(shape), dtype);
    let operands: Vec<TensorIr> = operands.into_iter().map(FusionTensor::into_ir).collect();
    let ir = CustomOpIr::new(name, &operands, &[result]);
    let operation = OperationIr::Custom(ir.clone());
    client
        .register(streams, operation, Waiting::<B> { ir, run })
        .output()
}

impl<B: FusionBackend + Kernels> Kernels for Fusion<B> {
    fn sums(
        starts: IntTensor<Self>,
        inputs: IntTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dtype: DType,
    ) -> FloatTensor<Self> {
        let shape = [starts.shape[0] - 1, bias.shape[0]];
        let operands = vec![starts, inputs, weight, bias];
        enqueue::<B>(
            "first_layer_sums",
            operands,
            (shape, dtype),
            |operands, dtype, handles| {
                let [starts, inputs, weight, bias] = operands else {
                    unreachable!("as many operands as were given")
                };
                B::sums(
                    handles.get_int_tensor::<B>(starts),
                    handles.get_int_tensor::<B>(inputs),
                    handles.get_float_tensor::<B>(weight),
                    handles.get_float_tensor::<B>(bias),
                    dtype,
                )
            },
        )
    }

    fn weight_gradient(
        starts: IntTensor<Self>,
        inputs: IntTensor<Self>,
        output: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let shape = [INPUTS, output.shape[1]];
        let operands = vec![starts, inputs, output];
        enqueue::<B>(
            "first_layer_gradient",
            operands,
            (shape, DType::F32),
            |operands, _, handles| {
                let [starts, inputs, output] = operands else {
                    unreachable!("as many operands as were given")
                };
                B::weight_gradient(
                    handles.get_int_tensor::<B>(starts),
                    handles.get_int_tensor::<B>(inputs),
                    handles.get_float_tensor::<B>(output),
                )
            },
        )
    }

    fn dense(starts: IntTensor<Self>, inputs: IntTensor<Self>, dtype: DType) -> FloatTensor<Self> {
        let shape = [starts.shape[0] - 1, INPUTS];
        let operands = vec![starts, inputs];
        enqueue::<B>(
            "first_layer_inputs",
            operands,
            (shape, dtype),
            |operands, dtype, handles| {
                let [starts, inputs] = operands else {
                    unreachable!("as many operands as were given")
                };
                B::dense(
                    handles.get_int_tensor::<B>(starts),
                    handles.get_int_tensor::<B>(inputs),
                    dtype,
                )
            },
        )
    }
}
