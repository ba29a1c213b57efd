//! What a pass works on and how, as single lines tell: one sample by its printed shape, a penalty on gradients.

use super::Clue;

/// Clues that a line holds, given in lower case.
pub(super) fn clues(lower: &str, found: &mut Vec<Clue>) {
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if one_sample(lower) {
        found.push(Clue::OneSample);
    }
    // vLLM's workers and their forks name the method that failed; other programs end with that phrase.
    if says(&["executing method load_model", "model load failed"]) {
        found.push(Clue::LoadsModel);
    }
    if says(&["unfreez", "unfroze"]) {
        found.push(Clue::Unfrozen);
    }
    if says(&["volatile was removed and now has no effect"]) {
        found.push(Clue::VolatileIgnored);
    }
    // Who trains a discriminator prints its loss, and beside it that of the regulariser.
    let regularised = ["reg=", "reg:", "reg =", "gp=", "gp:", "gp ="].iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let before = lower.get(..at).and_then(|before| before.bytes().next_back());
            before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
        })
    });
    if says(&["gradient_penalty", "gradient penalty", "r1_penalty"]) || says(&["d_loss", "loss_d"]) && regularised {
        found.push(Clue::GradientPenalty);
    }
}

/// A picture has sides of so many pixels or more, its latent as well; the kernel of a convolution has not.
const LEAST_SIDE: u32 = 17;

/// What stands before a shape whose first dimension is 1.
const SHAPES: [&str; 7] =
    ["torch.size([1, ", "size: (1, ", "size: [1, ", "size (1, ", "shape: (1, ", "shape: [1, ", "shape (1, "];

/// What programs print that look for pictures and found one, and code that makes a batch of one.
const FOUND_ONE: [&str; 5] =
    ["found 1 image", "found 1 file", "processing 1 image", "expand_dims(image, axis=0)", "expand_dims(img, axis=0)"];

/// True where a shape of four or five dimensions is printed whose first is 1 and whose last two are sides, or a single
/// picture is counted.
fn one_sample(lower: &str) -> bool {
    let shaped = || {
        let (_, rest) = SHAPES.iter().find_map(|shape| lower.split_once(shape))?;
        let (sizes, _) = rest.split_once([']', ')'])?;
        let sizes: Vec<u32> = sizes.split(", ").filter_map(|size| size.parse().ok()).collect();
        Some(matches!(sizes.as_slice(), [_, .., height, width] if (3..=4).contains(&sizes.len())
            && *height >= LEAST_SIDE && *width >= LEAST_SIDE))
    };
    FOUND_ONE.iter().any(|words| lower.contains(words)) || shaped() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<Clue> {
        let mut found = Vec::new();
        clues(&text.to_ascii_lowercase(), &mut found);
        found
    }

    #[test]
    fn one_sample_is_told_by_its_shape() {
        for line in [
            "input: torch.Size([1, 3, 1080, 1920])",
            "clip torch.Size([1, 4, 13, 60, 90]) in bf16",
            "input size: (1, 3, 1600, 1920)",
            "Found 1 images. Saving files to out/",
        ] {
            assert_eq!(told(line), [Clue::OneSample], "{line}");
        }
        for line in [
            "input: torch.Size([8, 3, 64, 64])",
            "input size: (12, 3, 640, 640)",
            "Found 12 images",
            "conv.weight torch.Size([1, 1, 3, 3])",
            "pos torch.Size([1, 197, 768])",
        ] {
            assert!(told(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_penalty_on_gradients_is_told_by_its_name() {
        for line in ["it 40: d_loss 0.7, gp: 0.01", "d_loss=1.1 reg=0.02", "gradient_penalty.backward()"] {
            assert_eq!(told(line), [Clue::GradientPenalty], "{line}");
        }
        assert!(told("loss 0.7, l2_reg=0.01").is_empty());
    }
}
