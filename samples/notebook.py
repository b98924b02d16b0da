# ruff: noqa: T201 (a notebook shows what it has)
"""An assessment in a notebook, after `assay demo`: every `# %%` begins a cell.

ASSAY_HOME=.assay/demo python samples/notebook.py digits-worst-class
"""

import sys

import assay

# %% Read it. Frames of pandas, as of this moment; nothing is changed by looking.
name = sys.argv[1] if len(sys.argv) > 1 else "digits-worst-class"
digits = assay.open(name)
print(digits.text)

# %% The groups, the least accurate first: posterior mean with its 95% interval, and labels.
groups = digits.groups.sort_values("mean")
print(groups[["mean", "low", "high", "labelled", "size", "p_lowest"]].round(3).to_string())

# %% Who labelled how much, and how long it took them.
judgements = digits.judgements
print(judgements.groupby("author")["seconds"].agg(["size", "median"]).to_string())

# %% Where the labels went: what was chosen, in batches of twenty.
choices = digits.choices
spent = choices.groupby([choices.index // 20 * 20, "group"]).size().unstack(fill_value=0)
print(spent.to_string())

# %% What the classifier said against what the annotators said.
settled = judgements.drop_duplicates("item").dropna(subset="outcome")
print(settled.groupby(["predicted", "outcome"]).size().unstack(fill_value=0).to_string())

# %% What was published.
print(digits.decisions[["decided_at", "kind", "reason", "labels", "confidence"]].to_string())

# %% Everything of the report, as a value. In a notebook it is shown as its page, `digits` in short.
report = digits.report()
print(report.question_text)
