//! State vectors: each qubit doubles them.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "smaller-state-vector",
    class: Class::Precision,
    title: || text!(en: "Single precision, several GPUs, or another method", zh: "单精度、多 GPU 或换用其他模拟方法"),
    doc: || {
        text!(
            en: "A state vector of n qubits has 2^n amplitudes of 16 bytes (complex128) or 8 (complex64): 30 qubits \
                 are 16 GiB or 8 GiB. Single precision buys one qubit, twice the GPUs another; tensor networks and \
                 matrix product states do not store the state at all.",
            zh: "n 个量子比特的态矢量有 2^n 个振幅，每个 16 字节（complex128）或 8 字节（complex64）：30 个量子比特\
                 为 16 GiB 或 8 GiB。单精度可多一个量子比特，GPU 数量翻倍再多一个；张量网络和矩阵乘积态不存储整个\
                 态。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Benign },
    knobs: &[
        line(Target::Qiskit, "AerSimulator(method=\"matrix_product_state\")")
            .note("or precision=\"single\", blocking_enable=True", "或 precision=\"single\", blocking_enable=True"),
        line(Target::PennyLane, "qml.device(\"lightning.gpu\", wires=n, c_dtype=np.complex64)"),
        said(
            Target::Cuquantum,
            "use complex64 state vectors, or distribute the state over twice the GPUs",
            "使用 complex64 态矢量，或把态分布到两倍的 GPU",
        ),
    ],
    fixtures: &["simulation/custatevec", "simulation/aer"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // Where half the state is still more than there is, only another method is left.
    let half_fits = match (case.requested(), case.capacity()) {
        (Some(requested), Some(capacity)) => requested.low / 2 <= capacity.high,
        _ => true,
    };
    Draft::new(case, &FIX)
        .of_request()
        .frees_if(
            case.requested().map(|requested| {
                let (all, half) = (show(requested.middle()), show(requested.middle() / 2));
                (
                    Interval::between(requested.low / 2, requested.high / 2),
                    text!(en: "single precision: {all} → {half}", zh: "单精度：{all} → {half}"),
                )
            }),
            text!(
                en: "half of the state in single precision; the log does not print the number of qubits",
                zh: "单精度可减半；日志未打印量子比特数"
            ),
        )
        .weight(if half_fits { 1.0 } else { 0.5 })
        .certainty(Certainty::Likely)
        .because(text!(
            en: "the state vector is one array that doubles with each qubit",
            zh: "态矢量是一个随量子比特数翻倍的数组"
        ))
}
