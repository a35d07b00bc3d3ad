"""Loans and how they were paid back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from .draws import (
    Array,
    chance,
    decimals,
    frame,
    glue,
    holes,
    listed,
    months,
    numerals,
    pick,
    series,
    start,
    words,
    zipf,
)
from .prose import Prose

ROWS = 887_379
MONTHS = 103  # from June 2007 on
STATES = listed("""
CA NY TX FL IL NJ PA OH GA VA NC MI MD MA AZ WA CO MN IN CT MO TN NV WI AL OR SC LA
KY OK KS AR UT NM HI WV NH RI DC MT DE AK MS WY SD VT NE ME ND IA ID""")
STATUS = ["Current", "Fully Paid", "Charged Off", "Late (31-120 days)", "Issued", "Default"]
PURPOSES = listed("""
debt_consolidation credit_card home_improvement other major_purchase small_business
car medical moving vacation house wedding renewable_energy educational""")
RECENT = listed("""
open_acc_6m open_il_6m open_il_12m open_il_24m mths_since_rcnt_il total_bal_il il_util
open_rv_12m open_rv_24m max_bal_bc all_util inq_fi total_cu_tl inq_last_12m""")

Columns = dict[str, Any]


def loans(scale: float = 1.0) -> pd.DataFrame:
    """Look-alike of loan.csv, the loans of a lender between 2007 and 2015.

    The original has 887,379 rows of 74 columns: about two numeric columns for each column of text,
    nearly 15 million missing values, 421 MB as CSV. These properties are alike:

    - The number of rows and of missing values; the names, order and kinds of the columns.
    - Amounts and rates have two decimals, but some totals of payments have ten.
    - Counts with missing values are decimals, such as 2.0.
    - Fourteen columns have values only for the last 12 % of the loans, and three for at most half
      of the loans.
    - Text has few different values (grades, states, "Dec-2011") or many (employers, titles,
      addresses of web pages, descriptions of every sixth loan or so).
    - Missing text is the empty string, which does not count as missing.
    - Rows are sorted by date.
    """
    rng, n = start("loans", ROWS, scale)
    month = np.sort((MONTHS * rng.beta(3.4, 1.0, n)).astype(np.int64))
    columns: Columns = {}
    columns["id"] = 54_734 + np.cumsum(rng.integers(1, 155, n))
    columns["member_id"] = 70_473 + np.cumsum(rng.integers(1, 167, n))
    _add_terms(rng, n, month, columns)
    _add_people(rng, n, month, columns)
    _add_credit(rng, n, columns)
    _add_payments(rng, n, month, columns)
    _add_rare(rng, n, month, columns)
    return frame({name: columns[name] for name in ORDER})


ORDER = listed("""
id member_id loan_amnt funded_amnt funded_amnt_inv term int_rate installment grade
sub_grade emp_title emp_length home_ownership annual_inc verification_status issue_d loan_status
pymnt_plan url desc purpose title zip_code addr_state dti delinq_2yrs earliest_cr_line
inq_last_6mths mths_since_last_delinq mths_since_last_record open_acc pub_rec revol_bal revol_util
total_acc initial_list_status out_prncp out_prncp_inv total_pymnt total_pymnt_inv total_rec_prncp
total_rec_int total_rec_late_fee recoveries collection_recovery_fee last_pymnt_d last_pymnt_amnt
next_pymnt_d last_credit_pull_d collections_12_mths_ex_med mths_since_last_major_derog policy_code
application_type annual_inc_joint dti_joint verification_status_joint acc_now_delinq tot_coll_amt
tot_cur_bal open_acc_6m open_il_6m open_il_12m open_il_24m mths_since_rcnt_il total_bal_il il_util
open_rv_12m open_rv_24m max_bal_bc all_util total_rev_hi_lim inq_fi total_cu_tl
inq_last_12m""")


def _add_terms(rng: np.random.Generator, n: int, month: Array, columns: Columns) -> None:
    """Terms of the loan: amount, duration and rate."""
    round_sums = pick(rng, zipf(14, 0.7), n) * 2_500 + 2_500
    odd = rng.integers(40, 1_400, n) * 25
    amount = np.minimum(np.where(chance(rng, 0.55, n), round_sums, odd), 35_000).astype(np.float64)
    long = chance(rng, 0.3, n)
    grade = np.clip(rng.normal(9.5, 6.5, n) + 5 * long, 0, 34.9).astype(np.int64)
    rates = decimals(5.32 + np.arange(35) * 0.68, 2)
    revised = decimals(rates[:, None] + rng.normal(0, 0.45, (35, 24)), 2)
    rate = np.maximum(5.32, revised[grade, month * 24 // MONTHS])
    per_month = rate / 1_200
    times = np.where(long, 60, 36)
    columns["loan_amnt"] = amount
    columns["funded_amnt"] = amount
    cut = chance(rng, 0.06, n)
    columns["funded_amnt_inv"] = np.where(cut, decimals(amount * rng.random(n), 2), amount)
    columns["term"] = words(long.astype(np.int8), [" 36 months", " 60 months"])
    columns["int_rate"] = rate
    columns["installment"] = decimals(amount * per_month / (1 - (1 + per_month) ** -times), 2)
    columns["grade"] = words(grade // 5, "ABCDEFG")
    columns["sub_grade"] = words(grade, [f"{g}{i}" for g in "ABCDEFG" for i in range(1, 6)])
    columns["issue_d"] = words(month, months("2007-06-01", MONTHS, "%b-%Y"))
    columns["url"] = series(
        glue("https://www.example.com/browse/loanDetail.action?loan_id=", numerals(columns["id"]))
    )
    columns["policy_code"] = np.ones(n)
    columns["pymnt_plan"] = words(chance(rng, 0.00001, n).astype(np.int8), "ny")
    columns["initial_list_status"] = words(chance(rng, 0.485, n).astype(np.int8), "fw")


def _add_people(rng: np.random.Generator, n: int, month: Array, columns: Columns) -> None:
    """The borrower: job, place and purpose."""
    prose = Prose(rng, n_words=20_000, n_phrases=300_000)
    titles = prose.texts(np.full(210_000, 17.0)).to_pylist()
    known = pa.array(["", *(text.strip(".!,").title() for text in titles)], pa.large_string())
    rank = (210_000 * rng.random(n) ** 2.6).astype(np.int64) + 1
    columns["emp_title"] = words(np.where(chance(rng, 0.058, n), 0, rank), known)
    lengths = ["10+ years", "< 1 year", "1 year", *(f"{i} years" for i in range(2, 10)), "n/a"]
    held = [33, 8, 6.5, 9, 8, 6, 6.2, 4.8, 5, 4.9, 3.9, 5]
    columns["emp_length"] = words(pick(rng, held, n), lengths)
    homes = ["MORTGAGE", "RENT", "OWN", "OTHER", "NONE", "ANY"]
    columns["home_ownership"] = words(pick(rng, [50, 40, 9.8, 0.1, 0.05, 0.01], n), homes)
    income = np.exp(rng.normal(11.08, 0.53, n))
    columns["annual_inc"] = np.where(
        chance(rng, 0.85, n), np.rint(income / 1_000) * 1_000, decimals(income, 2)
    )
    checked = ["Source Verified", "Verified", "Not Verified"]
    columns["verification_status"] = words(pick(rng, [37, 33, 30], n), checked)
    purpose = pick(rng, [59, 23, 5.8, 4.8, 2, 1.2, 1.1, 1, 0.6, 0.5, 0.4, 0.3, 0.1, 0.05], n)
    columns["purpose"] = words(purpose, PURPOSES)
    usual = [name.replace("_", " ").capitalize() for name in PURPOSES]
    own = prose.texts(np.full(60_000, 15.0)).to_pylist()
    rank = len(usual) + (60_000 * rng.random(n) ** 2).astype(np.int64)
    columns["title"] = words(np.where(chance(rng, 0.87, n), purpose, rank), [*usual, *own])
    area = (1_000 * rng.beta(1.1, 1.2, n)).astype(np.int64)
    columns["zip_code"] = words(area, [f"{code:03d}xx" for code in range(1_000)])
    state = (area * 51 // 1_000 + pick(rng, zipf(51, 2.2), n)) % len(STATES)
    columns["addr_state"] = words(state, STATES)
    columns["desc"] = _descriptions(rng, prose, month)
    columns["application_type"] = words(
        chance(rng, 0.0006, n).astype(np.int8), ["INDIVIDUAL", "JOINT"]
    )


def _descriptions(rng: np.random.Generator, prose: Prose, month: Array) -> pd.Series:
    """In the middle years, texts with the day of entry; otherwise empty."""
    told = chance(rng, 0.52, len(month)) & (month > 20) & (month < 76)
    count = int(told.sum())
    when = numerals(rng.integers(1, 29, count), 2)
    text = prose.texts(rng.lognormal(np.log(130), 0.9, count))
    year = words(month[told] // 12 + 7, [f"{y:02d}" for y in range(20)]).array
    texts = glue("  Borrower added on 06/", when, "/", pa.array(year), " > ", text, "<br>")
    known = pa.concat_arrays([pa.array([""], pa.large_string()), texts])
    return words(np.where(told, np.cumsum(told), 0), known)


def _add_credit(rng: np.random.Generator, n: int, columns: Columns) -> None:
    """The credit history of the borrower, nearly empty for a few."""
    unknown = chance(rng, 0.00003, n)
    columns["dti"] = decimals(np.clip(rng.normal(18.1, 8.3, n), 0, 40), 2)
    begun = months("1950-01-01", 760, "%b-%Y")
    columns["earliest_cr_line"] = words((760 * rng.beta(7, 2.6, n)).astype(np.int64), begun)
    few = {"delinq_2yrs": 0.31, "inq_last_6mths": 0.69, "pub_rec": 0.2, "acc_now_delinq": 0.005}
    for name, mean in few.items():
        columns[name] = holes(rng.geometric(1 / (1 + mean), n) - 1, unknown)
    accounts = np.clip(rng.gamma(5, 2.3, n), 1, 90).astype(np.int64)
    columns["open_acc"] = holes(accounts, unknown)
    columns["total_acc"] = holes(accounts + rng.negative_binomial(3, 0.18, n), unknown)
    columns["revol_bal"] = np.floor(np.exp(rng.normal(9.35, 1.0, n)))
    used = decimals(np.clip(rng.normal(55, 24, n), 0, 120), 1)
    columns["revol_util"] = holes(used, chance(rng, 0.0006, n))
    columns["collections_12_mths_ex_med"] = holes(chance(rng, 0.013, n), chance(rng, 0.00016, n))
    for name, share in (
        ("mths_since_last_delinq", 0.512),
        ("mths_since_last_record", 0.845),
        ("mths_since_last_major_derog", 0.75),
    ):
        past = np.minimum(rng.gamma(1.6, 21, n), 180).astype(np.int64)
        columns[name] = holes(past, chance(rng, share, n))


def _add_payments(rng: np.random.Generator, n: int, month: Array, columns: Columns) -> None:
    """Payments received and outstanding."""
    done = chance(rng, 0.23, n) | (month < 50)
    failed = chance(rng, 0.055, n)
    status = np.where(done, np.where(failed, 2, 1), np.where(failed, 3, 0))
    status[month > MONTHS - 2] = 4
    columns["loan_status"] = words(status, STATUS)
    amount = columns["funded_amnt"]
    age = np.minimum((MONTHS - month) / 40, 0.97)
    share = np.where(done, np.where(failed, rng.random(n) * 0.7, 1.0), age * rng.uniform(0.7, 1, n))
    principal = np.where(share == 1, amount, decimals(amount * share, 2))
    interest = decimals(principal * columns["int_rate"] / 100 * rng.uniform(0.4, 2.4, n), 2)
    late = np.where(chance(rng, 0.014, n), decimals(rng.gamma(2, 14, n), 2), 0.0)
    recovered = np.where(done & failed & chance(rng, 0.6, n), decimals(amount * 0.1 * share, 2), 0)
    paid = principal + interest + late + recovered
    fine = decimals(paid + rng.random(n) * 0.01, 10)
    columns["total_pymnt"] = np.where(done & chance(rng, 0.7, n), fine, decimals(paid, 2))
    columns["total_pymnt_inv"] = decimals(paid * columns["funded_amnt_inv"] / amount, 2)
    columns["total_rec_prncp"] = principal
    columns["total_rec_int"] = interest
    columns["total_rec_late_fee"] = late
    columns["recoveries"] = recovered
    columns["collection_recovery_fee"] = decimals(recovered * 0.18, 4)
    out = np.where(done, 0.0, decimals(amount - principal, 2))
    columns["out_prncp"] = out
    shared = chance(rng, 0.2, n)
    columns["out_prncp_inv"] = np.where(shared, decimals(out * 0.9987, 2), out)
    whole = decimals(amount * rng.random(n), 2)
    columns["last_pymnt_amnt"] = np.where(done, whole, columns["installment"])
    known = ["", *months("2007-06-01", MONTHS + 3, "%b-%Y")]
    ended = np.minimum(month + 1 + rng.integers(0, 60, n), MONTHS)
    columns["last_pymnt_d"] = words(np.where(status == 4, 0, np.where(done, ended, MONTHS)), known)
    columns["next_pymnt_d"] = words(np.where(done, 0, MONTHS + 1), known)
    recent = np.where(chance(rng, 0.83, n), MONTHS, ended)
    columns["last_credit_pull_d"] = words(recent, known)


def _add_rare(rng: np.random.Generator, n: int, month: Array, columns: Columns) -> None:
    """Columns that most rows lack: for the last months, second borrowers and later years."""
    early = month < 60
    columns["tot_coll_amt"] = holes(
        np.where(chance(rng, 0.14, n), rng.integers(1, 3_000, n), 0), early
    )
    columns["tot_cur_bal"] = holes(np.floor(np.exp(rng.normal(11.3, 1.2, n))), early)
    columns["total_rev_hi_lim"] = holes(np.rint(np.exp(rng.normal(5.5, 0.8, n))) * 100, early)
    old = np.arange(n) < 0.88 * n
    for i, name in enumerate(RECENT):
        if name in ("total_bal_il", "max_bal_bc"):
            value = np.floor(np.exp(rng.normal(9, 1.2, n)))
        elif name.endswith("util"):
            value = decimals(np.clip(rng.normal(65, 20, n), 0, 200), 1)
        else:
            value = (rng.geometric(0.25 + 0.03 * i, n) - 1).astype(np.float64)
        columns[name] = holes(value, old)
    alone = ~chance(rng, 0.0006, n)
    columns["annual_inc_joint"] = holes(np.rint(rng.gamma(8, 14, n)) * 1_000, alone)
    columns["dti_joint"] = holes(decimals(rng.normal(18, 7, n), 2), alone)
    verified = np.where(alone, 0, pick(rng, [0, 57, 31, 12], n))
    columns["verification_status_joint"] = words(
        verified, ["", "Not Verified", "Verified", "Source Verified"]
    )
