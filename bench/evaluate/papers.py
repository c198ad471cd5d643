# SPDX-License-Identifier: Apache-2.0
"""What the papers report, to be set beside what we measure.

RaceMob: Kasikci, Zamfir, Candea, SOSP 2013. RaceChaser: Biswas, Cao, Zhang, Bond, Wood, CC 2017.
"""
import collections

# RaceMob, Tables 1 to 4, by program. `ours`: the subject that stands for it.
Row = collections.namedtuple(
    "Row", "ours candidates hang crash both_orders single_order not_aliasing context "
           "synchronisation unknown overhead tsan_races tsan_overhead")

RACEMOB = {
    "Apache": Row(None, 118, 0, 0, 0, 8, 10, 61, 1, 38, 1.74, 8, 25207.79),
    "SQLite": Row("sqlite3", 88, 3, 0, 0, 0, 31, 10, 37, 7, 1.60, 3, 1428.57),
    "Memcached": Row("memcached", 7, 0, 0, 1, 0, 0, 2, 3, 1, 0.10, 0, 3102.32),
    "Fmm": Row("nbody", 176, 0, 0, 5, 53, 33, 61, 10, 14, 4.54, 58, 47888.07),
    "Barnes": Row("nbody", 166, 0, 0, 10, 6, 65, 28, 49, 8, 2.98, 16, 30640.00),
    "Ocean": Row("stencil", 115, 0, 0, 0, 3, 13, 42, 47, 10, 2.05, 3, 3069.39),
    "Pbzip2": Row("pbzip2", 65, 0, 3, 2, 4, 0, 21, 34, 1, 2.90, 9, 3001.00),
    "Knot": Row("pool", 65, 0, 0, 0, 2, 18, 28, 13, 4, 1.27, 2, 751.47),
    "Aget": Row("aget", 24, 0, 0, 0, 4, 2, 10, 7, 1, 3.00, 2, 184.22),
    "Pfscan": Row("pfscan", 17, 0, 0, 0, 2, 0, 4, 11, 0, 3.03, 1, 13402.15),
}
RACEMOB_MEAN, RACEMOB_WORST = 2.32, 4.54    # percent, Table 2
RACEMOB_IDLE, RACEMOB_IDLE_WORST = 1, 2.51  # percent, said of Figure 5: below, but for Fmm

# The grounds of our verdicts that are the rows of RaceMob's Table 1.
GROUNDS = {
    "hang": ("causes hang",), "crash": ("causes crash",), "both_orders": ("both orders",),
    "single_order": ("single order",), "not_aliasing": ("not aliasing",),
    "context": ("single thread",), "synchronisation": ("synchronised", "longest pause timed out"),
    "unknown": ("unordered, not proved", "synchronised in too few runs",
                "timed out in too few runs", "not seen", "not tried"),
}

# RaceMob, Table 5: races found of those there are.
RACEMOB_TABLE_5 = {"bench1": "1/1", "bench2": "1/1", "bench3": "1/1", "bench4": "3/3"}

# RaceChaser, Table 2: distinct races found in ten trials, by RaceChaser and by LiteHB.
RACECHASER_TABLE_2 = {
    "hsqldb6": (10, 10), "lusearch6": (0, 0), "xalan6": (17, 17), "avrora9": (7, 7),
    "luindex9": (2, 2), "lusearch9": (0, 0), "sunflow9": (2, 2), "xalan9": (7, 7),
    "pjbb2000": (7, 7), "pjbb2005": (1, 1),
}
# RaceChaser, said of Figure 2: mean overhead in percent, at r_max = 5 %, and of LiteHB.
RACECHASER_MEAN, LITEHB_MEAN = 1.0, 20
