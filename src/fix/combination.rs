//! Several changes together, where none is enough alone.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "combination",
    class: Class::Model,
    title: || text!(en: "Several changes together", zh: "多项改动合用"),
    doc: || {
        text!(
            en: "Where no single change covers what is missing, the cheapest set that does.",
            zh: "当单项改动都不足以补上缺口时，给出代价最小的组合。"
        )
    },
    helps: &[Work::Training],
    applies: |_| false,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[],
    fixtures: &[],
    advise,
};

fn advise(_case: &Case) -> Advice {
    Advice::Silent
}
