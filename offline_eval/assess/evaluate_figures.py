"""The evaluation's drawings: risk against coverage beside the baselines, and confidence against what was right."""

from offline_eval.assess.evaluate_records import EvaluationReport
from offline_eval.report.charts_curve import reliability_curve
from offline_eval.report.charts_risk import RiskCurve, risk_curves
from offline_eval.report.page import Figure


def evaluation_figures(report: EvaluationReport) -> list[Figure]:
    """Two drawings for each system that has assertions."""
    figures = []
    for group in report.groups:
        if not group.n_asserted:
            continue
        risk, trust = f"{group.group}: risk and coverage", f"{group.group}: confidence and share of right answers"
        curves = [RiskCurve(policy.policy, policy.curve) for policy in group.policies]
        figures.append(Figure(risk, risk_curves(curves, title=risk)))
        figures.append(
            Figure(trust, reliability_curve(group.reliability, title=trust, x_name="confidence", y_name="right"))
        )
    return figures
