"""Write the page of the paper's tables, or of the parts that are named."""

import argparse
from collections.abc import Callable
from pathlib import Path

from tests.bench.measuring import say
from tests.bench.paper import decisions, estimates, figures, supplement, tables
from tests.bench.paper.agreement import agreement
from tests.bench.paper.asked import asked
from tests.bench.paper.bound import bound
from tests.bench.paper.section import Section, Size, markdown

OURS: dict[str, Callable[[Size], Section]] = {  # nothing to say without runs of Assay
    "asked": asked,
    "stops": decisions.stops,
    "anytime": decisions.anytime,
    "claims": decisions.claims,
}
PARTS: dict[str, Callable[[Size], Section]] = OURS | {
    "3": estimates.table_3,
    "4": tables.table_4,
    "5": estimates.table_5,
    "bound": bound,
    "6": tables.table_6,
    "7": tables.table_7,
    "s1": estimates.supplement_table_1,
    "s2": supplement.table_2,
    "s34": supplement.table_3_and_4,
    "strength": supplement.prior_strength,
    "strength-ece": supplement.prior_strength_of_bins,
    "ece": supplement.frequentist_ece,
    "top-two": figures.top_two,
    "adaptive": figures.adaptive,
    "informed": figures.informed,
    "reliability": figures.reliability,
    "success": figures.success,
    "true-class": figures.true_class,
    "agreement": agreement,
}
HEAD = """# The paper's tables: printed, rerun, and Assay's

Ji, Logan, Smyth & Steyvers, “Active Bayesian Assessment for Black-Box Classifiers” (AAAI 2021), and
its supplement. † marks pools whose predictions are another model's than the paper's; only the other
rows can be compared with the printed numbers. DBpedia's predictions are not to be had.

"""


def main() -> None:
    """Make the named parts, or all, and the page of them."""
    parser = argparse.ArgumentParser(prog="make bench-paper", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=200, help="runs of the paper's method")
    parser.add_argument("--ours", type=int, default=0, help="runs of Assay; 0 leaves it out")
    parser.add_argument("--to", type=Path, default=Path(".assay/bench-paper"))
    wanted = parser.parse_args()
    unknown = [part for part in wanted.parts if part not in PARTS]
    if unknown or wanted.runs < 1 or wanted.ours < 0:
        wrong = f"{unknown[0]} is no part" if unknown else "runs are 1 or more, or 0 for --ours"
        parser.error(f"{wrong}; the parts are {', '.join(PARTS)}")
    wanted.to.mkdir(parents=True, exist_ok=True)
    text = [HEAD]
    for part in wanted.parts or [p for p in PARTS if wanted.ours or p not in OURS]:
        say(f"part {part}")
        section = PARTS[part](Size(wanted.runs, wanted.ours))
        text.append(markdown(section))
        for name, svg in section.plots.items():
            (wanted.to / f"{name}.svg").write_text(svg, encoding="utf-8")
    page = wanted.to / "README.md"
    page.write_text("\n".join(text), encoding="utf-8")
    say(f"written: {page}")


main()
