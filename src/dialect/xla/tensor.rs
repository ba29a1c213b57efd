//! `OOM when allocating tensor with shape[32,64,112,112] and type float`: bytes from a shape.

use crate::dialect::field::after;

/// Bytes of an element of a TensorFlow type, as its messages name them (`DataTypeString`), and of NumPy's.
pub fn element(name: &str) -> Option<u64> {
    Some(match name {
        "float" | "float32" | "int32" | "uint32" | "qint32" => 4,
        "double" | "float64" | "int64" | "uint64" | "complex64" => 8,
        "half" | "float16" | "bfloat16" | "int16" | "uint16" | "qint16" | "quint16" => 2,
        "bool" | "int8" | "uint8" | "qint8" | "quint8" | "float8_e4m3fn" | "float8_e5m2" => 1,
        "complex128" => 16,
        _ => return None,
    })
}

/// The elements of the shape in `shape[a,b,c]`; `None` for a scalar, a torn shape or a product beyond 64 bits.
pub fn elements(text: &str) -> Option<f64> {
    product(text).map(|n| n as f64)
}

fn dimensions(text: &str) -> Option<Vec<u64>> {
    let shape = after(text, "shape")?.trim_start().strip_prefix('[')?;
    let (dimensions, _) = shape.split_once(']')?;
    dimensions.split(',').take(32).map(|d| d.trim().parse().ok()).collect()
}

fn product(text: &str) -> Option<u64> {
    dimensions(text)?.into_iter().try_fold(1u64, u64::checked_mul)
}

/// The widest filter that convolutions have.
const WIDEST_FILTER: u64 = 11;

/// The first dimension of a shape of four and more, as what layers pass on has: the samples. A filter's second one is a
/// side of a few elements.
pub fn first_of_many(text: &str) -> Option<u64> {
    let all = dimensions(text).filter(|all| all.len() >= 4)?;
    all.first().copied().filter(|_| all.get(1).is_some_and(|second| *second > WIDEST_FILTER))
}

/// The side of the largest square in the shape: two equal neighbours, as in `[60000,60000]`.
pub fn square(text: &str) -> Option<u64> {
    dimensions(text)?.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).max()
}

/// Bytes of the tensor, where its type is printed and has a fixed size.
pub fn bytes(text: &str) -> Option<u64> {
    let name = after(text, "and type ")?.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()?;
    product(text)?.checked_mul(element(name)?)
}

/// The path of the node that a line names as the one that failed: `[[Node: gradients/a/mul = Mul[T=…`, `{{node a/b}}`,
/// `[[node a/b (defined at …)]]`.
pub fn node(text: &str) -> Option<&str> {
    let (_, rest) = ["[[Node: ", "{{node ", "[[node "].iter().find_map(|mark| text.split_once(mark))?;
    rest.split([' ', '}', ']']).next().filter(|name| !name.is_empty())
}

/// Copies of one part of a graph from which on it is built anew for each piece of work: a model for several devices has
/// its gradients as often as there are devices.
const BUILT_AGAIN: u64 = 20;

/// Keras makes a part named `training` for each model that it compiles: a generator, its discriminator and the two
/// together are three.
const COMPILED_AGAIN: u64 = 4;

/// How often the failing node's part of the graph had been built before, by its name: TensorFlow numbers what is made
/// under a name that is taken (`gradients_412/…`, `training_31/…`, `sequential_57/…`; `block1_conv2_77/…`, whose own
/// name has numbers already). Layers are numbered the same way, so a bare `dense_30/…` tells nothing.
pub fn built_before(text: &str) -> Option<u64> {
    let (name, _) = node(text)?.split_once('/')?;
    let (base, count) = name.rsplit_once('_')?;
    let least = if base == "training" { COMPILED_AGAIN } else { BUILT_AGAIN };
    let count: u64 = count.parse().ok().filter(|count| *count >= least)?;
    let numbered = |part: &str| part.len() > 1 && part.ends_with(|c: char| c.is_ascii_digit());
    let own = base.split_once('_').is_some_and(|(block, layer)| {
        [block, layer].iter().all(|part| numbered(part) && part.starts_with(|c: char| c.is_ascii_alphabetic()))
    });
    (matches!(base, "gradients" | "training" | "sequential" | "functional") || own).then_some(count)
}

/// The highest number that TensorFlow gave a variable without a name of its own, `Variable_2014/read`: so many there
/// are in the graph. Below a thousand they may be one model's.
pub fn variables(text: &str) -> Option<u64> {
    const ONE_MODELS: u64 = 1000;
    let number = |(at, name): (usize, &str)| {
        let digits = text[at + name.len()..].split(|c: char| !c.is_ascii_digit()).next()?;
        let begins = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        digits.parse::<u64>().ok().filter(|count| begins && *count >= ONE_MODELS)
    };
    text.match_indices("Variable_").filter_map(number).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_and_a_type_give_bytes() {
        assert_eq!(bytes("tensor with shape[8,3,5] and type half on /job:x"), Some(240));
        assert_eq!(bytes("tensor with shape[8,3,5] and type double"), Some(960));
        assert_eq!(bytes("tensor with shape[8,3,5] and type string"), None);
        assert_eq!(bytes("tensor with shape[8,3,5]"), None);
        assert_eq!(elements("tensor with shape[8,3,5]"), Some(120.0));
        assert_eq!(elements("tensor with shape[4294967296,4294967296,4]"), None);
        assert_eq!(elements("tensor with shape[8,3"), None);
        assert_eq!(built_before("[[Node: training_10/Adam/mul_23 = Mul[T="), Some(10));
        assert_eq!(built_before("[[Node: training_2/Adam/mul_23 = Mul[T="), None, "the parts of a GAN");
        assert_eq!(built_before("[[Node: gradients_412/layer3/mul_grad/Mul = Mul[T="), Some(412));
        assert_eq!(built_before("[[{{node block1_conv2_77/convolution}}]]"), Some(77));
        assert_eq!(built_before("[[{{node sequential_57/dense_114/MatMul}}]]"), Some(57));
        assert_eq!(built_before("[[{{node gradients_3/layer3/mul}}]]"), None, "one for each device");
        assert_eq!(built_before("[[{{node batch_normalization_94/cond}}]]"), None, "a layer of many");
        assert_eq!(built_before("[[{{node stage2_conv_64/conv}}]]"), None, "a name without a number of its own");
        assert_eq!(variables("(sub_2594/x, Variable_2014/read)]]"), Some(2014));
        assert_eq!(variables("(sub_94/x, Variable_31/read), MyVariable_5000"), None, "one model's");
        assert_eq!((square("shape[2,9,9,4]"), square("shape[9,4,9]")), (Some(9), None));
    }
}
