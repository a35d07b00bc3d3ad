"""Complaints of consumers: nearly all text, much of it repeated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from .draws import Array, chance, frame, listed, numerals, pick, start, words, zipf
from .prose import Prose, names

ROWS = 555_957
PRODUCTS = """Mortgage|Debt collection|Credit reporting|Credit card|Bank account or service|
Consumer Loan|Student loan|Payday loan|Money transfers|Prepaid card|Other financial service"""
ISSUES = """Loan modification,collection,foreclosure|Incorrect information on credit report|
Loan servicing, payments, escrow account|Cont'd attempts collect debt not owed|
Account opening, closing, or management|Disclosure verification of debt|
Communication tactics|Deposits and withdrawals|Application, originator, mortgage broker|
Billing disputes|Other|Managing the loan or lease|Problems when you are unable to pay|
Credit reporting company's investigation|False statements or representation|
Dealing with my lender or servicer|Unable to get credit report/credit score|
Improper contact or sharing of info|Identity theft / Fraud / Embezzlement|
Using a debit or ATM card|Closing/Cancelling account|Settlement process and costs"""
PUBLIC = """|Company chooses not to provide a public response|
Company has responded to the consumer and the CFPB and chooses not to provide a public response|
Company believes it acted appropriately as authorized by contract or law|
Company believes the complaint is the result of a misunderstanding|
Company disputes the facts presented in the complaint"""
TAGS = "|Older American|Servicemember|Older American, Servicemember"
CONSENT = "|Consent provided|Consent not provided|Other|Consent withdrawn"
WAYS = "Web|Referral|Phone|Postal mail|Fax|Email"
RESPONSES = """Closed with explanation|Closed with non-monetary relief|Closed with monetary relief|
Closed without relief|Closed|In progress|Closed with relief|Untimely response"""
STATES = listed("""
CA FL TX NY GA NJ PA IL VA MD OH NC MI AZ WA MA CO TN MO SC CT NV LA AL IN OR MN WI DC
DE KY OK UT NH NM MS KS AR ME ID RI HI PR NE WV IA MT VT AK SD WY ND AE AP GU VI""")


def complaints(scale: float = 1.0) -> pd.DataFrame:
    """Look-alike of consumer_complaints.csv.

    The original has 555,957 rows of 18 columns, one of them numeric: complaints with company,
    subject and outcome. Nothing is missing, and it takes 167 MB as CSV. These properties are alike:

    - The number of rows and columns.
    - Most columns have few values, some far more frequent than others. The 3,600 companies and the
      zip codes follow Zipf's law, and issues depend on products.
    - Some columns are mostly the empty string, which is not a missing value.
    - Every eighth row has a free text of about 1,000 letters, with names blackened as XXXX.
    - Rows are sorted by date.
    """
    rng, n = start("complaints", ROWS, scale)
    received = np.sort((rng.random(n) ** 0.7 * 1_600).astype(np.int64))
    sent = np.minimum(received + np.where(chance(rng, 0.6, n), 0, rng.geometric(0.25, n)), 1_620)
    days = [str(d) for d in pd.date_range("2011-12-01", periods=1_640).strftime("%m/%d/%Y")]

    products, issues = _split(PRODUCTS), _split(ISSUES)
    product = pick(rng, [33, 18, 16.5, 12, 11.5, 4, 3, 0.8, 0.7, 0.4, 0.1], n)
    issue = (product * 7 + pick(rng, zipf(len(issues), 1.5), n)) % len(issues)
    kinds = [f"{products[i // 6]} - {name}" for i, name in enumerate(names(rng, 66))]
    details = ["", *(f"{issues[i % len(issues)]} ({x})" for i, x in enumerate(names(rng, 67)))]
    company = pick(rng, zipf(3_605, 1.25, 3.0), n)
    detailed = pick(rng, zipf(len(details) - 1, 0.9), n) + 1

    told = chance(rng, 0.1202, n)
    open_to_all = received > 1_180
    consent = np.where(told, 1, np.where(open_to_all, pick(rng, [30, 0, 60, 9, 1], n), 0))
    answer = np.where(open_to_all, pick(rng, [48, 27, 16, 6, 2, 1], n), 0)
    state = pick(rng, [1.0, *zipf(len(STATES), 0.85, 1.5) * 140], n)
    return frame(
        {
            "date_received": words(received, days),
            "product": words(product, products),
            "sub_product": words(
                np.where(chance(rng, 0.285, n), 0, 1 + product * 6 + pick(rng, zipf(6), n)),
                ["", *kinds],
            ),
            "issue": words(issue, issues),
            "sub_issue": words(np.where(chance(rng, 0.618, n), 0, detailed), details),
            "consumer_complaint_narrative": _narratives(rng, told),
            "company_public_response": words(answer, _split(PUBLIC)),
            "company": words(company, _companies(rng)),
            "state": words(state, ["", *STATES]),
            "zipcode": _zip_codes(rng, state),
            "tags": words(pick(rng, [86, 8.4, 4.3, 1.3], n), _split(TAGS)),
            "consumer_consent_provided": words(consent, _split(CONSENT)),
            "submitted_via": words(pick(rng, [65, 19, 7.5, 7, 1.4, 0.1], n), _split(WAYS)),
            "date_sent_to_company": words(sent, days),
            "company_response_to_consumer": words(
                pick(rng, [73, 12.5, 7, 3.2, 2.4, 0.7, 0.9, 0.3], n), _split(RESPONSES)
            ),
            "timely_response": words(chance(rng, 0.976, n).astype(np.int8), ["No", "Yes"]),
            "consumer_disputed?": words(chance(rng, 0.203, n).astype(np.int8), ["No", "Yes"]),
            "complaint_id": _ids(rng, received),
        }
    )


def _split(text: str) -> list[str]:
    return [part.strip("\n") for part in text.split("|")]


def _companies(rng: np.random.Generator) -> list[str]:
    forms = ["", ", Inc.", ", LLC", " Bank", " Financial Services", " & Associates, P.C.", " Group"]
    ending = pick(rng, zipf(len(forms), 0.7), 3_605)
    made = names(rng, 7_210)
    pairs = zip(made[:3_605], made[3_605:], ending.tolist(), strict=True)
    return [f"{first} {second}{forms[e]}" for first, second, e in pairs]


def _zip_codes(rng: np.random.Generator, state: Array) -> pd.Series:
    """Five digits that depend on the state; some show only the first three digits."""
    n = len(state)
    local = pick(rng, zipf(700, 0.6, 5.0), n)
    code = (state.astype(np.int64) * 1_733 + local * 2) % 99_500 + 501
    text = numerals(np.arange(100_000), 5)
    hidden = [f"{code:03d}XX" for code in range(1_000)]
    known = [*text.to_pylist(), *hidden, ""]
    shown = np.where(chance(rng, 0.035, n), 100_000 + code // 100, code)
    return words(np.where(chance(rng, 0.008, n), len(known) - 1, shown), known)


def _narratives(rng: np.random.Generator, told: Array) -> pd.Series:
    """A long text where `told` is true, otherwise the empty string."""
    count = int(told.sum())
    prose = Prose(rng, n_words=30_000, n_phrases=600_000, hidden=0.04)
    lengths = rng.lognormal(np.log(730), 0.8, count)
    texts = prose.texts(np.minimum(lengths, 4_900))
    place = np.where(told, np.cumsum(told), 0)
    with_empty = pa.concat_arrays([pa.array([""], pa.large_string()), texts])
    return words(place, with_empty)


def _ids(rng: np.random.Generator, received: Array) -> Array:
    """Distinct ids that mostly rise with the date."""
    n = len(received)
    order = np.argsort(received + rng.exponential(1.2, n), kind="stable")
    ids = np.empty(n, np.int64)
    ids[order] = np.cumsum(rng.integers(1, 6, n)) + 1_015
    return ids
