"""A plan with its predictions, and how a command that failed is read."""

from click.testing import Result

CSV = "item_id,predicted,score,text\n" + "".join(
    f"i{n},{'ab'[n % 2]},0.{5 + n % 5},text {n}\n" for n in range(12)
)
PLAN = """\
assessment: mine
pool: {predictions: p.csv, predicted: predicted, score: score, data: {text: text}}
question: {task: identify}
"""


def failed(result: Result) -> str:
    """The message of a command that failed as it should: one sentence, no traceback."""
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert result.stderr.startswith("Error: ")
    return result.stderr
