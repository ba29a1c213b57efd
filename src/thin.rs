//! Series that are kept within a bound by giving up every second value.

/// Gives up every second value; of an odd number the first and the last stay.
pub(crate) fn halve<T>(values: &mut Vec<T>) {
    let mut keep = false;
    values.retain(|_| {
        keep = !keep;
        keep
    });
}

#[cfg(test)]
mod tests {
    use super::halve;

    #[test]
    fn the_first_and_the_last_of_an_odd_number_stay() {
        let mut values = vec![1, 2, 3, 4, 5];
        halve(&mut values);
        assert_eq!(values, [1, 3, 5]);
    }
}
