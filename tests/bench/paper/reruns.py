"""What the authors' released code gave when it was rerun on these pools (their quirks included).

UPrior, IPrior, IPrior+TS in every triple. 20newsgroups is another model than the paper's. Rows of
fewer than 20 runs are left out: they prove nothing.
"""

Triple = tuple[float | None, float | None, float | None]

# Table 3, RMSE x 100: pool -> runs, N -> what is printed under N (it is at N + 10)
TABLE_3: dict[str, tuple[int, dict[int, Triple]]] = {
    "svhn": (100, {20: (13.0, 5.2, 3.3), 50: (7.9, 4.9, 3.2), 100: (5.3, 4.2, 3.1)}),
    "20newsgroups": (
        40,
        {40: (22.7, 14.7, 12.0), 100: (12.9, 10.6, 8.3), 200: (8.5, 7.5, 5.9)},
    ),
}
TABLE_3_AT_N: dict[str, tuple[int, dict[int, Triple]]] = {
    "svhn": (100, {20: (18.9, 4.9, 3.5), 50: (8.9, 5.0, 3.3), 100: (5.5, 4.3, 3.1)}),
    "20newsgroups": (
        40,
        {40: (24.4, 15.1, 12.8), 100: (14.3, 11.3, 8.8), 200: (8.8, 7.6, 6.1)},
    ),
}
# Table 5, error of the ECE in percent
TABLE_5: dict[str, tuple[int, dict[int, Triple]]] = {
    "svhn": (100, {20: (421.6, 86.0, 51.6), 50: (153.2, 91.6, 42.2), 100: (107.5, 66.6, 33.3)}),
    "cifar100": (60, {20: (74.7, 26.9, 28.9), 50: (37.1, 21.1, 26.3), 100: (21.6, 19.8, 24.5)}),
    "20newsgroups": (
        40,
        {20: (16.7, 38.9, 33.2), 50: (11.8, 25.1, 20.6), 100: (8.7, 17.4, 13.5)},
    ),
}
# Table 6, percent of the pool to mean MRR > .99: (pool, m) -> triple, runs of each
TABLE_6: dict[tuple[str, int], tuple[Triple, tuple[int, int, int]]] = {
    ("cifar100", 1): ((83.2, 84.1, 24.4), (150, 150, 100)),
    ("cifar100", 10): ((99.6, 99.9, 55.0), (150, 150, 100)),
    ("svhn", 1): ((91.4, 91.8, 84.7), (24, 24, 120)),
    ("svhn", 3): ((100.0, 100.0, 96.8), (24, 24, 24)),
    ("20newsgroups", 1): ((79.3, 79.3, 37.0), (30, 30, 30)),
    ("20newsgroups", 3): ((73.8, 73.4, 40.9), (30, 30, 30)),
}
# Supplement Table 1, RMSE x 100 of the bins, runs as in Table 5
SUPPLEMENT_1: dict[str, tuple[int, dict[int, Triple]]] = {
    "svhn": (100, {20: (13.1, 5.1, 3.1), 50: (6.2, 4.6, 2.4), 100: (4.7, 3.7, 1.9)}),
    "cifar100": (60, {20: (23.8, 13.3, 12.5), 50: (15.4, 11.8, 10.0), 100: (10.8, 9.5, 8.4)}),
}
