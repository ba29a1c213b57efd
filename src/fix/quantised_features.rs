//! Gradient boosting: features as bins, data in pieces.

use super::prelude::*;
use crate::incident::context::Frame;

pub const FIX: Fix = Fix {
    id: "quantised-features",
    class: Class::Loading,
    title: || text!(en: "Quantised features, fewer bins, external memory", zh: "量化特征、减少分箱、外存训练"),
    doc: || {
        text!(
            en: "A DMatrix holds the data in float32 beside the quantised copy that training uses; a \
                 QuantileDMatrix holds only the latter. Histograms grow with bins × features × leaves. External \
                 memory keeps pages of the data on the host.",
            zh: "DMatrix 除训练用的量化副本外还保留 float32 数据；QuantileDMatrix 只保留前者。直方图随 分箱数 × 特征\
                 数 × 叶子数 增长。外存模式把数据分页放在主机上。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    // What was refused with room for it many times over would be refused again.
    applies: |case| !case.refused_with_room(),
    costs: Costs { slows: (0.0, 0.4), numerics: Numerics::Benign },
    knobs: &[
        line(Target::Xgboost, "dtrain = xgb.QuantileDMatrix(X, y, max_bin=128)")
            .note(
                "larger data: xgb.ExtMemQuantileDMatrix(iterator)",
                "数据更大时用 xgb.ExtMemQuantileDMatrix(iterator)",
            )
            .unless("quantised"),
        line(Target::Xgboost, "dtrain = xgb.QuantileDMatrix(X, y, max_bin=128)").unless("quantised").older(),
        said(
            Target::Xgboost,
            "max_bin=64 and a smaller max_depth among the parameters",
            "在参数中设 max_bin=64，并减小 max_depth",
        )
        .unless("quantised")
        .older(),
        said(
            Target::Xgboost,
            "max_bin=64 where the matrix is made, and smaller batches from its iterator",
            "构建矩阵时设 max_bin=64，并减小迭代器每批的大小",
        )
        .when("quantised"),
        line(Target::LightGbm, "params.update(max_bin=63, num_leaves=63)"),
        line(Target::Catboost, "CatBoostClassifier(task_type=\"GPU\", border_count=32, max_ctr_complexity=1)"),
    ],
    fixtures: &["catboost/pool", "lightgbm/cuda"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let used = |frame: &Frame| frame.code.as_deref().is_some_and(|code| code.contains("QuantileDMatrix"));
    let quantised = case.context.frames.iter().any(used);
    Draft::new(case, &FIX)
        .when("quantised", quantised)
        .titled(match quantised {
            true => text!(en: "Fewer bins, smaller batches of data", zh: "减少分箱数，缩小数据批次"),
            false => (FIX.title)(),
        })
        .frees_unknown(text!(
            en: "about rows × features × 4 bytes for the float copy; the log prints neither",
            zh: "float 副本约为 行数 × 特征数 × 4 字节；日志未打印这些数"
        ))
        .because(join(
            text!(en: "the data stands on the card more than once", zh: "数据在显存中不止一份"),
            case.situation(),
        ))
}
