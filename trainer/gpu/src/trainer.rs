//! Host side of GPU training: buffers, kernel launches, transfers.

use std::time::{Duration, Instant};

use cubecl::prelude::*;
use cubecl::server::Handle;
use features::{K, SHARED};
use models::{Architecture, Features, INPUTS};
use records::position::Record;

use crate::first_layer::{self, GROUP, GROUPS, SLICE_VECTORS};
use crate::heads::{self, Kind, LONG_SEGMENT, SAMPLES, SHORT_SEGMENT, Sums};
use crate::inputs::{self, ENTRIES, RECORD_WORDS};
use crate::layout::{Layout, NARROW, Parameters, SLICE};
use crate::optimizer::{self, SQUARE_CUBES, UNITS};

/// Rows over which a cube sums the gradient of the first layer's weights. On an H100, 256 and 1,024
/// were slower.
const SEGMENT: usize = 512;
/// Units of such a cube on devices that allow it: on an H100, more were faster.
const MOST_UNITS: usize = 1024;
/// Half of the win chance's K, per pawn.
const HALF_K: f32 = (K / 2.0) as f32;
/// Upper limit of batches queued on a device.
const BATCHES: usize = 8;
/// Capacity of the device's ring of measurements, in steps.
const RING: usize = 1024;

/// Settings of a run, constant through training.
#[derive(Clone, Debug)]
pub struct Config {
    /// Architecture of the network.
    pub architecture: Architecture,
    /// Upper limit of the positions in a batch.
    pub batch: usize,
    /// Factor of the first layer's own weights, a power of two.
    pub own_scale: f32,
    /// Largest absolute value of the weights and biases of each layer.
    pub bounds: Vec<f32>,
    /// Exponent of the win-chance distance in the loss.
    pub exponent: f32,
    /// Weight decay, in units of the learning rate.
    pub weight_decay: f32,
    /// Norm to which longer gradients are clipped.
    pub clip_norm: f32,
    /// AdamW's decay rates for the means of gradients and of their squares.
    pub betas: [f32; 2],
    /// AdamW's summand against division by zero.
    pub epsilon: f32,
}

/// Loss and gradient norm of a step, measured before the update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepMetrics {
    /// Mean loss of the batch.
    pub loss: f32,
    /// Global gradient norm before clipping.
    pub gradient_norm: f32,
}

/// A batch of positions on a device. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Batch {
    records: Handle,
    samples: usize,
}

/// Kernel launch of a step, and its duration.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Stage of the step: `derive` (inputs from records), `forward`, `backward` or `optimizer`.
    pub stage: &'static str,
    /// Time from the launch until the device finished.
    pub time: Duration,
}

/// Inputs, targets and buckets derived by the device from records.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Active inputs, `[views][batch]`.
    pub inputs: Vec<Vec<Vec<u32>>>,
    /// Target win chances for the side to move, `[batch]`.
    pub targets: Vec<f32>,
    /// Output buckets, `[batch]`.
    pub buckets: Vec<u32>,
}

/// State of a run: parameters and moments.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Current parameters.
    pub parameters: Parameters,
    /// AdamW's means of gradients and of their squares.
    pub moments: [Parameters; 2],
}

/// Buffers on the device, or a property of each.
struct Buffers<T> {
    lists: T,
    lengths: T,
    targets: T,
    buckets: T,
    weights: T,
    sums: T,
    losses: T,
    slopes: T,
    values: T,
    hidden: T,
    gradients: T,
    transposed: T,
    having: T,
    starts: T,
    members: T,
    row_parts: T,
    bias_parts: T,
    product_parts: T,
    square_parts: T,
    parameters: T,
    moments: [T; 2],
    gradient: T,
    bounds: T,
    ring: T,
}

impl<T> Buffers<T> {
    /// Creates each buffer by calling `make` with its length in 32-bit words.
    fn new(config: &Config, layout: &Layout, mut make: impl FnMut(usize) -> T) -> Buffers<T> {
        let architecture = config.architecture;
        let (views, width) = (architecture.views(), layout.width());
        let capacity = capacity(config);
        let rows = views * capacity;
        let short = capacity / SHORT_SEGMENT;
        let inputs = layout.later[0].inputs;
        let narrow = layout.later.len() > 1;
        let segments = if narrow {
            capacity / LONG_SEGMENT
        } else {
            short
        };
        let only_narrow = |words: usize| if narrow { words } else { 0 };
        // No buffer may be empty or shorter than a vector.
        let mut room = |words: usize| make(words.max(4));
        Buffers {
            lists: room(ENTRIES * rows),
            lengths: room(rows),
            targets: room(capacity),
            buckets: room(capacity),
            weights: room((INPUTS + 1) * width),
            sums: room(rows * width),
            losses: room(capacity),
            slopes: room(capacity),
            values: room(capacity),
            hidden: room(only_narrow(2 * capacity * NARROW)),
            gradients: room(only_narrow(2 * capacity * NARROW)),
            transposed: room(only_narrow(architecture.buckets * NARROW * inputs)),
            having: room(rows / GROUP * INPUTS),
            starts: room(rows / SEGMENT * (INPUTS + 1)),
            members: room(rows * ENTRIES),
            row_parts: room(rows / SEGMENT * INPUTS * width),
            bias_parts: room(short * views * width),
            product_parts: room(architecture.buckets * segments * layout.later[0].bucket_len()),
            square_parts: room(SQUARE_CUBES),
            parameters: room(layout.len),
            moments: [room(layout.len), room(layout.len)],
            gradient: room(layout.len),
            bounds: room(layout.len),
            ring: room(2 * RING),
        }
    }
}

/// Returns the positions that buffers have room for: a batch, padded to whole segments.
fn capacity(config: &Config) -> usize {
    config.batch.next_multiple_of(SEGMENT.max(LONG_SEGMENT))
}

/// Returns the device memory that training needs, in bytes, including queued batches.
pub fn memory(config: &Config) -> u64 {
    let layout = Layout::new(config.architecture);
    let mut words = 0;
    Buffers::new(config, &layout, |len| words += len as u64);
    4 * (words + (BATCHES * config.batch * RECORD_WORDS) as u64)
}

/// A network and its optimizer on a device.
pub struct Trainer<R: Runtime> {
    client: ComputeClient<R>,
    config: Config,
    layout: Layout,
    sums: Sums,
    buffers: Buffers<Handle>,
    /// Units of a cube of `first_layer::add_rows`.
    units: usize,
    step: u64,
    /// Number of steps with measurements not fetched yet.
    unfetched: usize,
    /// Time of each launch; `None` unless requested.
    times: Option<Vec<Launch>>,
}

/// Returns an array argument of the whole buffer, with elements of `bytes` bytes.
fn array<R: Runtime>(handle: &Handle, bytes: usize) -> ArrayArg<R> {
    let len = handle.size_in_used() as usize / bytes;
    // SAFETY: `len` elements of `bytes` bytes fit the buffer's size.
    unsafe { ArrayArg::from_raw_parts(handle.clone(), len) }
}

fn words<R: Runtime>(handle: &Handle) -> ArrayArg<R> {
    array(handle, 4)
}

fn fours<R: Runtime>(handle: &Handle) -> ArrayArg<R> {
    array(handle, 16)
}

fn cubes(units: usize) -> CubeCount {
    CubeCount::Static(units.div_ceil(UNITS) as u32, 1, 1)
}

fn plane(x: usize, y: usize) -> CubeCount {
    CubeCount::Static(x as u32, y as u32, 1)
}

/// Launches a kernel; if times are requested, waits for it and records its duration.
macro_rules! launch {
    ($self:ident, $stage:literal, $module:ident::$kernel:ident, $count:expr, $units:expr, $($argument:expr),* $(,)?) => {
        let began = $self.times.is_some().then(Instant::now);
        // SAFETY: every kernel stays within its buffers, sized by the layout that it is compiled
        // for; `unchecked` omits the clamping of indices.
        unsafe {
            $module::$kernel::launch_unchecked::<R>(
                &$self.client,
                $count,
                CubeDim::new_1d($units as u32),
                $($argument),*
            )
        };
        if let (Some(times), Some(began)) = (&mut $self.times, began) {
            cubecl::future::block_on($self.client.sync()).expect("a device that works");
            times.push(Launch {
                kernel: stringify!($kernel),
                stage: $stage,
                time: began.elapsed(),
            });
        }
    };
}

impl<R: Runtime> Trainer<R> {
    /// Uploads `start` to the device, with fresh optimizer state.
    pub fn new(client: ComputeClient<R>, config: Config, start: &Parameters) -> Trainer<R> {
        let architecture = config.architecture;
        let layout = Layout::new(architecture);
        let floats = |numbers: &[f32]| client.create_from_slice(bytemuck::cast_slice(numbers));
        let zeros = vec![0.0; layout.len];
        let buffers = Buffers {
            parameters: floats(&layout.flat(start)),
            moments: [floats(&zeros), floats(&zeros)],
            gradient: floats(&zeros),
            bounds: floats(&bounds(&layout, &config.bounds)),
            ..Buffers::new(&config, &layout, |words| client.empty(4 * words))
        };
        let units = client.properties().hardware.max_units_per_cube as usize;
        Trainer {
            sums: Sums {
                kind: Kind::from(architecture.activation),
                views: architecture.views(),
                activations: layout.activations,
                width: layout.width(),
                capacity: capacity(&config),
            },
            client,
            config,
            layout,
            buffers,
            units: if units < MOST_UNITS {
                UNITS
            } else {
                MOST_UNITS
            },
            step: 0,
            unfetched: 0,
            times: None,
        }
    }

    /// Uploads records as a new batch.
    ///
    /// # Panics
    /// If there are more than [`Config::batch`] records.
    pub fn send(&self, records: &[Record]) -> Batch {
        assert!(records.len() <= self.config.batch, "batch too large");
        Batch {
            records: self.client.create_from_slice(Record::bytes_of(records)),
            samples: records.len(),
        }
    }

    /// Takes one step on `batch` with learning rate `rate`. `result_share`, from 0 to 1, is the
    /// weight of the game's result in the target; the label has the rest.
    ///
    /// # Panics
    /// If the ring of measurements is full: call [`Trainer::fetch`] at least every 1,024 steps.
    pub fn learn(&mut self, batch: &Batch, rate: f64, result_share: f32) {
        assert!(self.unfetched < RING, "fetch the measurements first");
        self.step += 1;
        let slot = ((self.step - 1) % RING as u64) as u32;
        self.unfetched += 1;
        self.compose();
        self.evaluate(batch, result_share);
        self.gradients(batch.samples);
        let b = &self.buffers;
        launch!(
            self,
            "optimizer",
            optimizer::add_squares,
            plane(SQUARE_CUBES, 1),
            UNITS,
            words(&b.gradient),
            words(&b.square_parts),
            self.layout.len,
        );
        launch!(
            self,
            "optimizer",
            optimizer::measure,
            plane(1, 1),
            UNITS,
            words(&b.losses),
            words(&b.square_parts),
            words(&b.ring),
            batch.samples as u32,
            slot,
        );
        let [beta1, beta2] = self.config.betas;
        let correction = |beta: f32| 1.0 / (1.0 - beta.powi(self.step.min(1 << 30) as i32));
        let decay = 1.0 - rate * f64::from(self.config.weight_decay);
        launch!(
            self,
            "optimizer",
            optimizer::adamw,
            cubes(self.layout.len),
            UNITS,
            words(&b.gradient),
            words(&b.ring),
            words(&b.bounds),
            words(&b.parameters),
            words(&b.moments[0]),
            words(&b.moments[1]),
            slot,
            self.config.clip_norm,
            rate as f32,
            decay as f32,
            correction(beta1),
            correction(beta2),
            beta1,
            beta2,
            self.config.epsilon,
            self.layout.len,
        );
    }

    /// Computes the first layer's effective weights.
    fn compose(&mut self) {
        let width = self.layout.width();
        let b = &self.buffers;
        launch!(
            self,
            "forward",
            first_layer::compose,
            cubes((INPUTS + 1) * width),
            UNITS,
            words(&b.parameters),
            words(&b.weights),
            self.config.own_scale,
            self.config.bounds[0],
            width,
        );
    }

    /// Derives inputs, targets and buckets of a batch.
    fn derive(&mut self, batch: &Batch, result_share: f32) {
        let architecture = self.config.architecture;
        let b = &self.buffers;
        launch!(
            self,
            "derive",
            inputs::derive,
            cubes(batch.samples),
            UNITS,
            words(&batch.records),
            words(&b.lists),
            words(&b.lengths),
            words(&b.targets),
            words(&b.buckets),
            batch.samples as u32,
            result_share,
            HALF_K,
            self.sums.views as u32,
            architecture.mirrored,
            architecture.features == Features::All,
            architecture.buckets as u32,
            self.sums.capacity as u32,
        );
    }

    /// Computes values, losses and the losses' slopes.
    fn evaluate(&mut self, batch: &Batch, result_share: f32) {
        self.derive(batch, result_share);
        let samples = batch.samples;
        let (of, rows) = (self.sums, self.sums.views * self.sums.capacity);
        let vectors = of.width / 4;
        let b = &self.buffers;
        launch!(
            self,
            "forward",
            first_layer::sum_rows,
            plane(rows / GROUP, of.width / SLICE),
            GROUP * SLICE_VECTORS,
            words(&b.lists),
            words(&b.lengths),
            fours(&b.weights),
            fours(&b.parameters),
            fours(&b.sums),
            samples as u32,
            self.sums.capacity,
            rows,
            vectors,
            self.layout.bias() / 4,
        );
        let exponent = self.config.exponent;
        let count = plane(samples.div_ceil(SAMPLES), 1);
        if self.layout.later.len() == 1 {
            launch!(
                self,
                "forward",
                heads::evaluate_one,
                count,
                UNITS,
                words(&b.sums),
                words(&b.parameters),
                words(&b.targets),
                words(&b.buckets),
                words(&b.losses),
                words(&b.slopes),
                words(&b.values),
                samples as u32,
                HALF_K,
                exponent,
                exponent == 1.0,
                of,
                self.layout.later[0],
            );
        } else {
            let last = self.layout.later.len() - 1;
            let third = (last == 2).then(|| self.layout.later[1]);
            launch!(
                self,
                "forward",
                heads::evaluate_narrow,
                count,
                UNITS,
                words(&b.sums),
                words(&b.parameters),
                words(&b.targets),
                words(&b.buckets),
                words(&b.losses),
                words(&b.slopes),
                words(&b.values),
                words(&b.hidden),
                words(&b.gradients),
                samples as u32,
                HALF_K,
                exponent,
                exponent == 1.0,
                of,
                self.layout.later[0],
                third,
                self.layout.later[last],
            );
        }
    }

    /// Computes the gradient of all parameters.
    fn gradients(&mut self, samples: usize) {
        let (of, rows, width) = (
            self.sums,
            self.sums.views * self.sums.capacity,
            self.sums.width,
        );
        let buckets = self.config.architecture.buckets;
        let short = samples.div_ceil(SHORT_SEGMENT);
        let inputs = self.layout.later[0].inputs;
        let b = &self.buffers;
        if self.layout.later.len() == 1 {
            launch!(
                self,
                "backward",
                heads::back_one,
                plane(short, (inputs + 1).div_ceil(UNITS)),
                UNITS,
                words(&b.sums),
                words(&b.parameters),
                words(&b.slopes),
                words(&b.buckets),
                words(&b.bias_parts),
                words(&b.product_parts),
                samples as u32,
                buckets,
                of,
                self.layout.later[0],
            );
            self.join_products(0, short);
        } else {
            let last = self.layout.later.len() - 1;
            for layer in 0..=last {
                self.add_products(layer, samples);
            }
            let b = &self.buffers;
            launch!(
                self,
                "backward",
                heads::transpose,
                cubes(buckets * NARROW * inputs),
                UNITS,
                words(&b.parameters),
                words(&b.transposed),
                buckets,
                self.layout.later[0],
            );
            launch!(
                self,
                "backward",
                heads::back_narrow,
                plane(short, inputs.div_ceil(UNITS)),
                UNITS,
                words(&b.sums),
                words(&b.transposed),
                words(&b.gradients),
                words(&b.buckets),
                words(&b.bias_parts),
                samples as u32,
                of,
            );
        }
        let b = &self.buffers;
        launch!(
            self,
            "backward",
            optimizer::join,
            cubes(width),
            UNITS,
            words(&b.bias_parts),
            words(&b.gradient),
            (short * of.views) as u32,
            width,
            self.layout.bias(),
        );
        launch!(
            self,
            "backward",
            first_layer::find_rows,
            plane(rows / (GROUP * GROUPS), 1),
            UNITS,
            words(&b.lists),
            words(&b.lengths),
            words(&b.having),
            samples as u32,
            self.sums.capacity,
            rows,
        );
        let segments = rows / SEGMENT;
        launch!(
            self,
            "backward",
            first_layer::list_rows,
            plane(segments, 1),
            UNITS,
            words(&b.having),
            words(&b.starts),
            words(&b.members),
            SEGMENT / GROUP,
        );
        launch!(
            self,
            "backward",
            first_layer::add_rows,
            plane(segments, width / SLICE),
            self.units,
            words(&b.starts),
            words(&b.members),
            fours(&b.sums),
            fours(&b.row_parts),
            width / 4,
            self.units,
        );
        launch!(
            self,
            "backward",
            first_layer::join_rows,
            cubes(INPUTS * width / 4),
            UNITS,
            fours(&b.row_parts),
            words(&b.parameters),
            fours(&b.gradient),
            segments as u32,
            self.config.own_scale,
            self.config.bounds[0],
            width / 4,
        );
        launch!(
            self,
            "backward",
            first_layer::share,
            cubes(SHARED * width),
            UNITS,
            words(&b.gradient),
            self.config.own_scale,
            width,
        );
    }

    /// Computes the gradient of a later layer's weights, for networks with a second hidden layer.
    fn add_products(&mut self, layer: usize, samples: usize) {
        let last = self.layout.later.len() - 1;
        let dense = self.layout.later[layer];
        let long = samples.div_ceil(LONG_SEGMENT);
        let plane_len = self.sums.capacity * NARROW;
        let b = &self.buffers;
        let inputs = if layer == 0 { &b.sums } else { &b.hidden };
        let gradients = if layer == last {
            &b.slopes
        } else {
            &b.gradients
        };
        let inputs_begin = layer.saturating_sub(1) * plane_len;
        let gradients_begin = if layer == last { 0 } else { layer * plane_len };
        let weights = dense.bucket_len();
        launch!(
            self,
            "backward",
            heads::add_products,
            plane(long, weights.div_ceil(UNITS)),
            UNITS,
            words(inputs),
            words(gradients),
            words(&b.buckets),
            words(&b.product_parts),
            samples as u32,
            self.config.architecture.buckets,
            (layer == 0).then_some(self.sums),
            inputs_begin,
            gradients_begin,
            dense,
        );
        self.join_products(layer, long);
    }

    fn join_products(&mut self, layer: usize, segments: usize) {
        let layer = self.layout.later[layer];
        let len = self.config.architecture.buckets * layer.bucket_len();
        let b = &self.buffers;
        launch!(
            self,
            "backward",
            optimizer::join,
            cubes(len),
            UNITS,
            words(&b.product_parts),
            words(&b.gradient),
            segments as u32,
            len,
            layer.begin,
        );
    }

    /// Returns loss and gradient norm of each step since the last call, in order.
    pub fn fetch(&mut self) -> Vec<StepMetrics> {
        let ring: Vec<f32> = self.read(&self.buffers.ring);
        let first = self.step - self.unfetched as u64;
        let found = (first..self.step).map(|step| {
            let slot = (step % RING as u64) as usize;
            StepMetrics {
                loss: ring[2 * slot],
                gradient_norm: ring[2 * slot + 1],
            }
        });
        self.unfetched = 0;
        found.collect()
    }

    /// Returns the values in pawns for the side to move, `[batch]`.
    pub fn values(&mut self, batch: &Batch) -> Vec<f32> {
        self.compose();
        self.evaluate(batch, 0.0);
        let mut values = self.read(&self.buffers.values);
        values.truncate(batch.samples);
        values
    }

    /// Returns the gradient of the mean loss.
    pub fn gradient(&mut self, batch: &Batch, result_share: f32) -> Parameters {
        self.compose();
        self.evaluate(batch, result_share);
        self.gradients(batch.samples);
        self.layout.parameters(&self.read(&self.buffers.gradient))
    }

    /// Returns inputs, targets and buckets of a batch, as derived by the device.
    pub fn derived(&mut self, batch: &Batch, result_share: f32) -> Derived {
        self.derive(batch, result_share);
        let (rows, samples) = (self.sums.views * self.sums.capacity, batch.samples);
        let lists: Vec<u32> = self.read(&self.buffers.lists);
        let lengths: Vec<u32> = self.read(&self.buffers.lengths);
        let list = |row: usize| -> Vec<u32> {
            let entries = (0..lengths[row] as usize).map(|entry| lists[entry * rows + row]);
            entries.filter(|&input| input != inputs::NO_INPUT).collect()
        };
        let view = |view: usize| {
            (0..samples)
                .map(|at| list(view * self.sums.capacity + at))
                .collect()
        };
        let mut derived = Derived {
            inputs: (0..self.sums.views).map(view).collect(),
            targets: self.read(&self.buffers.targets),
            buckets: self.read(&self.buffers.buckets),
        };
        derived.targets.truncate(samples);
        derived.buckets.truncate(samples);
        derived
    }

    /// Returns parameters and moments without loss.
    pub fn state(&self) -> State {
        let [first, second] = &self.buffers.moments;
        State {
            parameters: self.parameters(),
            moments: [first, second].map(|moment| self.layout.parameters(&self.read(moment))),
        }
    }

    /// Restores the state after `step` steps.
    pub fn restore(&mut self, step: u64, state: &State) {
        let send = |parameters: &Parameters| {
            let flat = self.layout.flat(parameters);
            self.client.create_from_slice(bytemuck::cast_slice(&flat))
        };
        let [first, second] = &state.moments;
        let moments = [send(first), send(second)];
        self.buffers.parameters = send(&state.parameters);
        self.buffers.moments = moments;
        self.step = step;
        self.unfetched = 0;
    }

    /// Returns the current parameters.
    pub fn parameters(&self) -> Parameters {
        self.layout.parameters(&self.read(&self.buffers.parameters))
    }

    /// Blocks until the device is idle.
    pub fn wait(&self) {
        cubecl::future::block_on(self.client.sync()).expect("a device that works");
    }

    /// Takes a step and returns the duration of each launch, waiting for each.
    pub fn timed(&mut self, batch: &Batch, rate: f64) -> Vec<Launch> {
        self.wait();
        self.times = Some(Vec::new());
        self.learn(batch, rate, 0.0);
        self.times.take().expect("it was there")
    }

    fn read<T: bytemuck::Pod>(&self, handle: &Handle) -> Vec<T> {
        let bytes = self
            .client
            .read_one(handle.clone())
            .expect("a device that works");
        bytemuck::pod_collect_to_vec(&bytes)
    }
}

/// Returns the bound of each parameter: none for own and shared weights of the first layer, since
/// their sum is clamped instead.
fn bounds(layout: &Layout, of_layers: &[f32]) -> Vec<f32> {
    let mut bounds = vec![optimizer::UNBOUNDED; layout.len];
    let ends = layout.later.iter().map(|layer| layer.begin).skip(1);
    let ends: Vec<usize> = ends.chain([layout.len]).collect();
    bounds[layout.bias()..layout.later[0].begin].fill(of_layers[0]);
    for (index, (layer, end)) in layout.later.iter().zip(ends).enumerate() {
        bounds[layer.begin..end].fill(of_layers[index + 1]);
    }
    bounds
}
