//! The shape of a model, as far as memory depends on it.

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct Architecture {
    /// `model_type` of the configuration.
    pub family: String,
    pub body: Body,
    /// Parameters in all.
    pub parameters: f64,
    /// Parameters of the matrices that autocast copies to 16 bit: those of linear layers and convolutions.
    pub matrix_parameters: f64,
    /// Those of the largest single tensor.
    pub largest_tensor: f64,
    /// Longest sequence that the model was made for, in tokens.
    pub max_positions: Option<f64>,
    /// Parameters of an embedding that is the head's matrix too; 0 where there is none.
    pub tied_embedding: f64,
    /// True where only the number of parameters is known and the rest is that of a usual model of its size.
    pub guessed: bool,
    /// True where what the layers keep for backward is not known here.
    pub serves_only: bool,
    /// How the weights are stored, where the configuration says that they are quantised.
    pub stored: Option<Stored>,
}

/// Quantised weights as `quantization_config` describes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// `quant_method`.
    pub method: String,
    /// Bytes of a parameter of the quantised matrices, scales included.
    pub width: f64,
}

/// How the layers are made up.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Layers of attention and MLP over tokens.
    Transformer(Transformer),
    /// Encoder and decoder with cross attention (T5).
    EncoderDecoder { encoder: Transformer, decoder: Transformer },
    /// Convolutions: bytes do not follow tokens but the maps of each stage.
    Convolutions(Convolutions),
}

/// Which implementation of the layer, as far as it keeps other tensors for backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Gpt2,
    Llama,
    NeoX,
    Opt,
    /// Post-norm: the normalised output is the residual.
    Bert,
    Vit,
    T5,
}

/// Activation of the MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `gelu`, `silu`: one kernel that keeps its input.
    Fused,
    /// `gelu_new` and relatives written out in Python, which keep every step.
    WrittenOut,
    /// Keeps its result, which the next layer keeps anyway.
    Relu,
}

/// What only some families have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quirks {
    /// Tokens of one sample where the model fixes them (patches of an image).
    pub fixed_tokens: Option<f64>,
    /// Norms of a layer beyond the usual two.
    pub further_norms: f64,
    /// Norms that stay 32-bit until after their weight (Gemma).
    pub wide_norms: bool,
    /// Queries and keys are normalised.
    pub head_norms: bool,
    /// One projection makes queries, keys and values, and stays alive as long as one of them.
    pub fused_projection: bool,
    /// Scores and logits go through tanh (Gemma 2).
    pub soft_capped: bool,
    /// Elements that a layer's cache holds of a token, where keys and values are compressed together.
    pub latent: Option<f64>,
    /// Layers that look back over a window only.
    pub window: Option<Window>,
}

/// A sliding window of attention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    pub tokens: f64,
    /// How many layers have it.
    pub layers: f64,
}

/// A stack of equal layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Transformer {
    pub style: Style,
    pub layers: f64,
    pub hidden: f64,
    pub heads: f64,
    pub kv_heads: f64,
    pub head_size: f64,
    /// Width of the MLP.
    pub mlp: f64,
    pub gated: bool,
    pub activation: Activation,
    /// True when dropout after attention and MLP is on in training.
    pub dropout: bool,
    pub attention_dropout: bool,
    pub vocabulary: f64,
    /// A loss over the vocabulary for every token.
    pub language_head: bool,
    pub quirks: Quirks,
    /// Parameters of one layer, for sharded gathering and checkpoints.
    pub layer_parameters: f64,
}

impl Transformer {
    /// Width of all query heads.
    pub fn query_width(&self) -> f64 {
        self.heads * self.head_size
    }

    /// Width of all key (or value) heads.
    pub fn kv_width(&self) -> f64 {
        self.kv_heads * self.head_size
    }
}

/// What a convolutional network keeps for one image.
#[derive(Debug, Clone, PartialEq)]
pub struct Convolutions {
    pub style: ConvolutionStyle,
    /// Depth and channels of each stage.
    pub stages: Vec<(f64, f64)>,
    /// Channels after the stem (ResNet).
    pub stem: f64,
    /// Channels of the image.
    pub channels: f64,
    /// Side of the image where the configuration gives one.
    pub image: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvolutionStyle {
    /// 1×1, 3×3, 1×1 convolutions; the 3×3 on a quarter of the channels.
    Bottleneck,
    /// Two 3×3 convolutions.
    Basic,
    ConvNext,
}

impl Architecture {
    /// Whether its layers are those of T5.
    pub fn is_t5(&self) -> bool {
        match &self.body {
            Body::Transformer(stack) | Body::EncoderDecoder { decoder: stack, .. } => stack.style == Style::T5,
            Body::Convolutions(_) => false,
        }
    }

    /// Parameters that quantisation is about: the matrices inside of layers, or of their experts alone (mxfp4).
    pub fn quantisable(&self) -> f64 {
        let of = |stack: &Transformer| {
            let attention = 2.0 * stack.hidden * (stack.query_width() + stack.kv_width());
            let spared =
                if self.stored.as_ref().is_some_and(|stored| stored.method == "mxfp4") { attention } else { 0.0 };
            stack.layers * (stack.layer_parameters - spared).max(0.0)
        };
        match &self.body {
            Body::Transformer(stack) => of(stack),
            Body::EncoderDecoder { encoder, decoder } => of(encoder) + of(decoder),
            Body::Convolutions(_) => self.parameters,
        }
        .min(self.parameters)
    }

    /// A decoder of the usual proportions with so many parameters: layers of 128 times their number in width.
    pub fn of_size(parameters: f64) -> Architecture {
        let hidden = (parameters * 128.0 / 12.0).cbrt().max(64.0);
        let layers = (hidden / 128.0).max(1.0);
        let vocabulary = 32_000.0;
        let heads = (hidden / 64.0).max(1.0);
        let in_layers = (parameters - 2.0 * vocabulary * hidden).max(0.5 * parameters);
        let stack = Transformer {
            style: Style::Llama,
            layers,
            hidden,
            heads,
            kv_heads: heads,
            head_size: 64.0,
            mlp: 2.7 * hidden,
            gated: true,
            activation: Activation::Fused,
            dropout: false,
            attention_dropout: false,
            vocabulary,
            language_head: true,
            quirks: Quirks::default(),
            layer_parameters: in_layers / layers,
        };
        Architecture {
            family: String::new(),
            body: Body::Transformer(stack),
            parameters,
            matrix_parameters: parameters,
            largest_tensor: vocabulary * hidden,
            max_positions: None,
            tied_embedding: 0.0,
            guessed: true,
            serves_only: false,
            stored: None,
        }
    }
}

/// A transformer of one stack, its parameters counted from those of its layers and those `outside` of them.
pub(super) fn transformer(
    stack: Transformer,
    matrices_of_layer: f64,
    outside: f64,
    outside_matrices: f64,
    embedding: f64,
    max_positions: Option<f64>,
) -> Architecture {
    let parameters = stack.layers * stack.layer_parameters + outside;
    let widest = stack.mlp * stack.hidden;
    Architecture {
        family: String::new(),
        parameters,
        matrix_parameters: stack.layers * matrices_of_layer + outside_matrices,
        largest_tensor: embedding.max(widest),
        max_positions,
        tied_embedding: 0.0,
        guessed: false,
        serves_only: false,
        stored: None,
        body: Body::Transformer(stack),
    }
}
