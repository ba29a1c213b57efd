//! cuDNN: versions, descriptors, plans for convolutions, and the layout of recurrent networks' weights.
//!
//! How much a plan of a convolution needs as workspace is decided by closed heuristics: here it is what the settings
//! say. The weights of recurrent networks are laid out as documented; their reserve and workspace are estimates from
//! what has to be kept for the backward pass.

use crate::abi::{SUCCESS, Status, answers, creators, give, give_text, new_handle};
use crate::settings::settings;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

creators! { cudnnCreate cudnnCreateFilterDescriptor cudnnCreateConvolutionDescriptor cudnnCreateDropoutDescriptor
cudnnCreateCTCLossDescriptor cudnnCreateSpatialTransformerDescriptor cudnnCreateActivationDescriptor
cudnnCreatePoolingDescriptor cudnnCreateTensorDescriptor cudnnCreateRNNDescriptor
cudnnCreateRNNDataDescriptor cudnnCreateOpTensorDescriptor cudnnCreateReduceTensorDescriptor
cudnnCreateLRNDescriptor cudnnCreateAttnDescriptor cudnnCreateSeqDataDescriptor }
answers! {
    // handle, mode, operation, then five or more descriptors
    cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(_ _ _ _ _ _ _ _) -> usize = 0;
    cudnnGetBatchNormalizationTrainingExReserveSpaceSize(_ _ _ _ _) -> usize = 0;
    cudnnGetBatchNormalizationBackwardExWorkspaceSize(_ _ _ _ _ _ _ _ _ _) -> usize = 0;
    cudnnGetConvolutionForwardWorkspaceSize(_ _ _ _ _ _) -> usize = settings().cudnn_workspace as usize;
    cudnnGetConvolutionBackwardDataWorkspaceSize(_ _ _ _ _ _) -> usize = settings().cudnn_workspace as usize;
    cudnnGetConvolutionBackwardFilterWorkspaceSize(_ _ _ _ _ _) -> usize = settings().cudnn_workspace as usize;
    cudnnGetCTCLossWorkspaceSize(_ _ _ _ _ _ _ _) -> usize = 0;
    cudnnGetCTCLossWorkspaceSize_v8(_ _ _ _ _) -> usize = 0;
    cudnnDropoutGetStatesSize(_) -> usize = 1 << 20;
    cudnnGetStream(_) -> usize = 0;
}
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetVersion() -> usize {
    settings().cudnn.max(0) as usize
}
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCudartVersion() -> usize {
    settings().cuda.max(0) as usize
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetProperty(which: c_int, out: *mut c_int) -> Status {
    // 9.19.0 is 91900; before version 9, 8.9.2 was 8902.
    let version = settings().cudnn;
    let unit = if version >= 90_000 { 10_000 } else { 1000 };
    let value = match which {
        0 => version / unit,
        1 => version % unit / 100,
        _ => version % 100,
    };
    // SAFETY: a place for a number.
    unsafe { give(out, value) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetErrorString(_status: Status) -> *const c_char {
    c"CUDNN_STATUS_SUCCESS".as_ptr()
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetLastErrorString(out: *mut c_char, room: usize) {
    // SAFETY: a buffer of that length.
    unsafe { give_text(out, room, "") };
}

// Convolutions: the graph interface, and the one of version 7.

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendCreateDescriptor(_kind: c_int, out: *mut *mut c_void) -> Status {
    // SAFETY: the place for the descriptor.
    unsafe { give(out, new_handle()) };
    SUCCESS
}
/// A query of the heuristics offers one engine; lists of notes and knobs are empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnBackendGetAttribute(
    _descriptor: *mut c_void,
    name: c_int,
    _kind: c_int,
    room: i64,
    count: *mut i64,
    out: *mut c_void,
) -> Status {
    // SAFETY: room for `room` elements of the attribute's width, and a place for their number.
    unsafe {
        let found = match name {
            // results of the heuristics, the engine of a configuration: descriptors that the caller made
            202 | 300 => 1,
            // workspace of a configuration and of a plan
            303 | 402 => {
                if room > 0 {
                    give(out.cast::<i64>(), settings().cudnn_workspace as i64);
                }
                1
            }
            // shared memory of a configuration
            304 => {
                if room > 0 {
                    give(out.cast::<i32>(), 0);
                }
                1
            }
            // number of an engine
            1301 => {
                if room > 0 {
                    give(out.cast::<i64>(), 0);
                }
                1
            }
            _ => 0,
        };
        give(count, found);
    }
    SUCCESS
}
/// `cudnnConvolutionFwdAlgoPerf_t` and its two siblings: algorithm, status, time, memory, determinism, kind of math.
#[repr(C)]
pub struct Performance {
    algorithm: c_int,
    status: c_int,
    time: f32,
    memory: usize,
    determinism: c_int,
    math: c_int,
    reserved: [c_int; 3],
}
unsafe fn one_algorithm(wanted: c_int, returned: *mut c_int, results: *mut Performance) -> Status {
    let result = Performance {
        algorithm: 1,
        status: 0,
        time: 1.0,
        memory: settings().cudnn_workspace as usize,
        determinism: 1,
        math: 0,
        reserved: [0; 3],
    };
    // SAFETY: room for the wanted number of results, and a place for their number.
    unsafe {
        if wanted > 0 {
            give(results, result);
        }
        give(returned, c_int::from(wanted > 0));
    }
    SUCCESS
}
macro_rules! algorithms {
    ($($get:ident $find:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            _handle: usize, _x: usize, _w: usize, _convolution: usize, _y: usize, wanted: c_int, returned: *mut c_int,
            results: *mut Performance,
        ) -> Status {
            // SAFETY: as in `one_algorithm`.
            unsafe { one_algorithm(wanted, returned, results) }
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $find(
            _handle: usize, _x: usize, _x_data: usize, _w: usize, _w_data: usize, _convolution: usize, _y: usize,
            _y_data: usize, wanted: c_int, returned: *mut c_int, results: *mut Performance,
        ) -> Status {
            // SAFETY: as in `one_algorithm`.
            unsafe { one_algorithm(wanted, returned, results) }
        }
    )*};
}
algorithms! {
    cudnnGetConvolutionForwardAlgorithm_v7 cudnnFindConvolutionForwardAlgorithmEx
    cudnnGetConvolutionBackwardDataAlgorithm_v7 cudnnFindConvolutionBackwardDataAlgorithmEx
    cudnnGetConvolutionBackwardFilterAlgorithm_v7 cudnnFindConvolutionBackwardFilterAlgorithmEx
}

// Descriptors that are read again.

const MOST_DIMENSIONS: usize = 8;
#[derive(Clone, Copy, Default)]
struct Tensor {
    kind: c_int,
    count: usize,
    sizes: [c_int; MOST_DIMENSIONS],
    strides: [c_int; MOST_DIMENSIONS],
}
/// A recurrent network.
#[derive(Clone, Copy, Default)]
struct Recurrent {
    cell: c_int,
    bias: c_int,
    directions: u64,
    kind: c_int,
    input: u64,
    hidden: u64,
    projection: u64,
    layers: u64,
}
/// A batch of sequences.
#[derive(Clone, Copy, Default)]
struct Sequences {
    steps: u64,
    batch: u64,
}
#[derive(Clone, Copy)]
enum Descriptor {
    Tensor(Tensor),
    Recurrent(Recurrent),
    Sequences(Sequences),
}
static DESCRIPTORS: Mutex<BTreeMap<usize, Descriptor>> = Mutex::new(BTreeMap::new());

/// The lock, to be held while a thread forks.
pub fn held() -> Box<dyn std::any::Any> {
    Box::new(DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner))
}

fn set(descriptor: usize, value: Descriptor) -> Status {
    DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner).insert(descriptor, value);
    SUCCESS
}
fn get(descriptor: usize) -> Option<Descriptor> {
    DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner).get(&descriptor).copied()
}
macro_rules! destroyers {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(descriptor: usize) -> Status {
            DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner).remove(&descriptor);
            SUCCESS
        }
    )*};
}
destroyers! { cudnnDestroyTensorDescriptor cudnnDestroyRNNDescriptor cudnnDestroyRNNDataDescriptor }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnSetTensorNdDescriptor(
    descriptor: usize,
    kind: c_int,
    count: c_int,
    sizes: *const c_int,
    strides: *const c_int,
) -> Status {
    let mut tensor = Tensor { kind, count: count.clamp(0, MOST_DIMENSIONS as c_int) as usize, ..Tensor::default() };
    for place in 0..tensor.count {
        // SAFETY: both lists have `count` elements.
        unsafe {
            tensor.sizes[place] = if sizes.is_null() { 0 } else { *sizes.add(place) };
            tensor.strides[place] = if strides.is_null() { 0 } else { *strides.add(place) };
        }
    }
    set(descriptor, Descriptor::Tensor(tensor))
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetTensorNdDescriptor(
    descriptor: usize,
    room: c_int,
    kind: *mut c_int,
    count: *mut c_int,
    sizes: *mut c_int,
    strides: *mut c_int,
) -> Status {
    let tensor = match get(descriptor) {
        Some(Descriptor::Tensor(tensor)) => tensor,
        _ => Tensor::default(),
    };
    // SAFETY: places for two numbers, and lists with room for `room` elements.
    unsafe {
        give(kind, tensor.kind);
        give(count, tensor.count as c_int);
        for place in 0..tensor.count.min(room.max(0) as usize) {
            if !sizes.is_null() {
                *sizes.add(place) = tensor.sizes[place];
            }
            if !strides.is_null() {
                *strides.add(place) = tensor.strides[place];
            }
        }
    }
    SUCCESS
}

// Recurrent networks.

#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetRNNDescriptor_v8(
    descriptor: usize,
    _algorithm: c_int,
    cell: c_int,
    bias: c_int,
    direction: c_int,
    _input_mode: c_int,
    kind: c_int,
    _precision: c_int,
    _math: c_int,
    input: i32,
    hidden: i32,
    projection: i32,
    layers: i32,
) -> Status {
    let size = |value: i32| value.max(0) as u64;
    let recurrent = Recurrent {
        cell,
        bias,
        directions: if direction == 0 { 1 } else { 2 },
        kind,
        input: size(input),
        hidden: size(hidden),
        // A projection as wide as the state is none.
        projection: if projection == hidden { 0 } else { size(projection) },
        layers: size(layers),
    };
    set(descriptor, Descriptor::Recurrent(recurrent))
}
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetRNNDataDescriptor(
    descriptor: usize,
    _kind: c_int,
    _layout: c_int,
    steps: c_int,
    batch: c_int,
) -> Status {
    let sequences = Sequences { steps: steps.max(0) as u64, batch: batch.max(0) as u64 };
    set(descriptor, Descriptor::Sequences(sequences))
}

/// Bytes of an element of a `cudnnDataType_t`.
fn width(kind: c_int) -> u64 {
    match kind {
        1 => 8,
        2 | 9 => 2,
        3 => 1,
        _ => 4,
    }
}

impl Recurrent {
    /// Matrices on the input's side; as many are on the state's.
    fn gates(&self) -> u64 {
        match self.cell {
            2 => 4,
            3 => 3,
            _ => 1,
        }
    }
    /// Width of what a layer gives to the next.
    fn output(&self) -> u64 {
        if self.projection > 0 { self.projection } else { self.hidden }
    }
    /// Rows and columns of a matrix of a pseudo-layer (a layer in one direction), or nothing where there is none.
    fn matrix(&self, layer: u64, matrix: u64) -> Option<(u64, u64)> {
        let gates = self.gates();
        let from = if layer < self.directions { self.input } else { self.output() * self.directions };
        match matrix {
            matrix if matrix < gates => Some((self.hidden, from)),
            matrix if matrix < 2 * gates => Some((self.hidden, self.output())),
            matrix if matrix == 2 * gates && self.projection > 0 => Some((self.projection, self.hidden)),
            _ => None,
        }
    }
    /// Bias vectors of a pseudo-layer: none, one per gate, two per gate.
    fn biases(&self) -> u64 {
        match self.bias {
            0 => 0,
            2 => 2 * self.gates(),
            _ => self.gates(),
        }
    }
    fn layer_elements(&self, layer: u64) -> u64 {
        (0..=2 * self.gates()).filter_map(|matrix| self.matrix(layer, matrix)).map(|(rows, cols)| rows * cols).sum()
    }
    fn pseudo_layers(&self) -> u64 {
        (self.layers * self.directions).min(1 << 16)
    }
    fn matrices(&self) -> u64 {
        (0..self.pseudo_layers()).map(|layer| self.layer_elements(layer)).sum()
    }
    /// First the matrices of all layers, then the biases of all layers.
    fn bytes(&self) -> u64 {
        (self.matrices() + self.pseudo_layers() * self.biases() * self.hidden) * width(self.kind)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetRNNWeightSpaceSize(_handle: usize, descriptor: usize, out: *mut usize) -> Status {
    let bytes = match get(descriptor) {
        Some(Descriptor::Recurrent(recurrent)) => recurrent.bytes(),
        _ => 0,
    };
    // SAFETY: a place for a number.
    unsafe { give(out, bytes as usize) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetRNNWeightParams(
    _handle: usize,
    descriptor: usize,
    layer: i32,
    _size: usize,
    weights: u64,
    matrix: i32,
    matrix_descriptor: usize,
    matrix_address: *mut u64,
    bias_descriptor: usize,
    bias_address: *mut u64,
) -> Status {
    let Some(Descriptor::Recurrent(recurrent)) = get(descriptor) else { return SUCCESS };
    let (layer, matrix) = (layer.max(0) as u64, matrix.max(0) as u64);
    let element = width(recurrent.kind);
    let described = |rows: u64, columns: u64| {
        let mut tensor = Tensor { kind: recurrent.kind, count: 3, ..Tensor::default() };
        tensor.sizes[..3].copy_from_slice(&[1, rows as c_int, columns as c_int]);
        tensor.strides[..3].copy_from_slice(&[(rows * columns) as c_int, columns as c_int, 1]);
        Descriptor::Tensor(tensor)
    };
    let mut place = None;
    if let Some((rows, columns)) = recurrent.matrix(layer, matrix) {
        let layers: u64 = (0..layer.min(recurrent.pseudo_layers())).map(|layer| recurrent.layer_elements(layer)).sum();
        let before: u64 =
            (0..matrix).filter_map(|matrix| recurrent.matrix(layer, matrix)).map(|(rows, cols)| rows * cols).sum();
        place = Some(weights + (layers + before) * element);
        if matrix_descriptor != 0 {
            set(matrix_descriptor, described(rows, columns));
        }
    }
    let mut bias = None;
    if matrix < recurrent.biases() {
        let before = layer * recurrent.biases() + matrix;
        bias = Some(weights + (recurrent.matrices() + before * recurrent.hidden) * element);
        if bias_descriptor != 0 {
            set(bias_descriptor, described(recurrent.hidden, 1));
        }
    }
    // SAFETY: places for two addresses, or null.
    unsafe {
        give(matrix_address, place.unwrap_or(0));
        give(bias_address, bias.unwrap_or(0));
    }
    SUCCESS
}
/// What the backward pass needs of every step: the gates, the state of the cell and the output. While it runs: the
/// gates of one layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetRNNTempSpaceSizes(
    _handle: usize,
    descriptor: usize,
    mode: c_int,
    sequences: usize,
    work: *mut usize,
    reserve: *mut usize,
) -> Status {
    let (mut workspace, mut reserved) = (0, 0);
    if let (Some(Descriptor::Recurrent(recurrent)), Some(Descriptor::Sequences(sequences))) =
        (get(descriptor), get(sequences))
    {
        let states =
            sequences.steps * sequences.batch * recurrent.hidden * recurrent.directions * width(recurrent.kind);
        workspace = states * recurrent.gates();
        reserved = if mode == 0 { 0 } else { states * (recurrent.gates() + 2) * recurrent.layers };
    }
    // SAFETY: places for two numbers.
    unsafe {
        give(work, workspace as usize);
        give(reserve, reserved as usize);
    }
    SUCCESS
}
