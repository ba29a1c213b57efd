//! Models of earlier rounds that stay on the card.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "release-earlier-rounds",
    class: Class::Leak,
    title: || text!(en: "Release the models of earlier rounds", zh: "释放之前各轮的模型"),
    doc: || {
        text!(
            en: "A search that trains one model after another in one process keeps on the card whatever still has a \
                 name: boosters, their data, cached predictors. Delete them after each round, or give each round a \
                 process of its own, which frees everything for certain.",
            zh: "在同一进程中连续训练多个模型时，仍被引用的对象都会留在显存中：模型、数据、预测缓存。每轮结束后删除\
                 它们，或让每轮使用独立进程，可确保全部释放。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.05), numerics: Numerics::Same },
    knobs: &[
        line(Target::Program, "del model, data; gc.collect()")
            .note("after each round; surest: one process per round", "每轮之后；最可靠的是每轮一个进程"),
        line(Target::Xgboost, "del booster, dtrain; gc.collect()")
            .note("after each trial; surest: one process per trial", "每次试验之后；最可靠的是每次试验一个进程"),
        line(Target::LightGbm, "booster.free_dataset(); del booster; gc.collect()")
            .note("after each training", "每次训练之后"),
        line(Target::TensorFlow, "tf.keras.backend.clear_session()")
            .note(
                "before each model is made; what is made in a loop stays in the graph: make it once, before the loop",
                "每次建模之前；在循环中创建的会一直留在图里：应在循环之前只建一次",
            )
            .unless("graph"),
        line(Target::TensorFlow, "with tf.Graph().as_default(), tf.Session():")
            .note("around each model; surest: one process per model", "包住每个模型；最可靠的是每个模型一个进程")
            .when("graph"),
    ],
    fixtures: &["fix/rounds"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let facts = &case.incident.event.facts;
    if !case.on_gpu() {
        return Advice::Silent;
    }
    if let Some(count) = facts.number(Number::GraphVariables) {
        return Draft::new(case, &FIX)
            .when("graph", true)
            .frees_unknown(text!(en: "what models built before hold", zh: "先前构建的模型所占的部分"))
            .because(text!(
                en: "{count:.0} variables are in the graph, which keeps all that was built in it",
                zh: "图中已有 {count:.0} 个变量，图会保留其中构建的一切"
            ));
    }
    let Some(rounds) = facts.number(Number::RoundsBefore).filter(|rounds| *rounds >= 1.0) else {
        return Advice::Silent;
    };
    let rounds = rounds as u64;
    Draft::new(case, &FIX)
        .frees_unknown(text!(en: "what {rounds} earlier rounds left behind", zh: "之前 {rounds} 轮遗留的部分"))
        .because(match rounds {
            1 => text!(en: "one round had fitted before this one", zh: "此前已有一轮能够放下"),
            _ => text!(en: "{rounds} rounds had fitted before this one", zh: "此前已有 {rounds} 轮能够放下"),
        })
}
