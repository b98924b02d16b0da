"""The plan that `assay init` writes, with a comment at every key."""

TEMPLATE = """\
# An assessment of {of}. Edit what is not so; then
#   assay check PLAN    tells what is wrong with it
#   assay start PLAN    begins

# Letters, digits, underscores, hyphens; at most 64.
assessment: {assessment}
seed: 1                        # same plan, seed and labels: same choices
population: finite             # finite: these very items; infinite: items like these

pool:
  # CSV, JSONL, Parquet and others; relative to this file, or an address (s3://...).
  predictions: {predictions}
{pool}
  # predicted_class, score_bin(10), equal_mass_bin(10), superclass(map.csv) (columns class and
  # superclass), a column's name, or a list of these for their product.
  groups: {groups}
  strata: {strata:<21}# strata inside every group, by score and opinions; 1: none

question:
  # identify: which groups are the worst (or best)?   compare: do groups differ?
  # estimate: how good is every group?
  task: {task}
  # accuracy; bias: mean score less accuracy; ece: calibration error; recall, precision,
  # f1: of the class `positive`; recall_by_class, f1_by_class: of each class; recall_macro,
  # precision_macro, f1_macro: the mean over the classes; judge_tpr, judge_tnr: how often a judge
  # of outputs is right;
  # cost: expected cost of the errors; confusion: the whole matrix (estimate only)
  metric: accuracy
  which: lowest                # identify: lowest or highest
  top: 1                       # identify: how many groups
  tolerance: 0.0               # identify: groups closer than this count as equal
  # shortlist: 2               # identify: name so many groups, among which the answer is
  {compare}compare: all               # compare: all pairs, [cat, dog], or a list of such pairs
  # bins: 10                   # ece: score bins of equal width, or equal_mass(10)
  # costs: costs.csv           # cost: rows true classes, columns predicted; or human, superclass
  # positive: cat              # recall, precision, f1: the class that is to be found

# What is believed before the first label: empirical (the scores, corrected and weighed by what
# the labels show), informative (the scores as they are, worth `strength` labels) or uniform.
prior: {{kind: {prior}}}
strategy: assay                # where a label tells most; random: anywhere

stop:
  # One rule, that of the task:
  {identify}mrr: {{threshold: 0.99, confidence: 0.95}}       # identify
  {compare}rope: {{epsilon: 0.05, confidence: 0.95}}      # compare: differ by more than epsilon
  {estimate}rmse: 0.02                                   # estimate: expected error over all groups
  # width: 0.1                                   # estimate: widest 95% interval
  guarantee: posterior         # or anytime: holds however often one looks, and costs more labels
  budget: null                 # at most so many labels; null: no limit
  min_per_group: 0             # labels that every group must have before the rule may fire
  # looks: 2                   # the rule must hold at so many looks, 10% more labels apart

annotation:{verdict}
  control: null                # name of the <Choices> in the labelling config; null: the only one
  per_item: 1
  rule: first                  # the first annotation of an item counts
  skips: 2                     # an item is offered no more after so many skips

queue:
  look_ahead: 3                # open tasks for each active annotator
  mode: import

label_studio:
  url: null                    # null: from the environment, LABEL_STUDIO_URL; the token is
                               # never written here
  project: new                 # new, or the number of an empty project
  title: null                  # null: the assessment's id
  config: null                 # file with a labelling config; null: made from the classes
  instruction: null            # what annotators read first
"""
