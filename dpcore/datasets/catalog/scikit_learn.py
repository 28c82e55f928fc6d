"""Tables that come with scikit-learn, which is imported only when one of them is loaded."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.datasets.entry import Request, Sample
from dpcore.datasets.schema import Column, Schema

# Public bounds, rounded outwards from the ranges that scikit-learn's documentation states.
_CELLS = {
    "radius": (0, 40),
    "texture": (0, 50),
    "perimeter": (0, 300),
    "area": (0, 5000),
    "smoothness": (0, 0.25),
    "compactness": (0, 1.2),
    "concavity": (0, 1.5),
    "concave points": (0, 0.3),
    "symmetry": (0, 0.7),
    "fractal dimension": (0, 0.25),
}
_ERRORS = {"radius": 3, "texture": 5, "perimeter": 25, "area": 600, "smoothness": 0.05, "compactness": 0.15}
_ERRORS |= {"concavity": 0.4, "concave points": 0.06, "symmetry": 0.1, "fractal dimension": 0.03}
_BODY = {
    "age": (18, 80, "years"),
    "bmi": (15, 45, "kg/m²"),
    "bp": (50, 150, "average blood pressure"),
    "s1": (80, 310, "total serum cholesterol"),
    "s2": (30, 250, "low-density lipoproteins"),
    "s3": (15, 110, "high-density lipoproteins"),
    "s4": (1, 10, "total cholesterol over high-density"),
    "s5": (3, 7, "log of serum triglycerides"),
    "s6": (50, 130, "blood sugar"),
}
_WINE = {
    "alcohol": (10, 16),
    "malic_acid": (0, 6),
    "ash": (1, 4),
    "alcalinity_of_ash": (10, 32),
    "magnesium": (60, 180),
    "total_phenols": (0, 4),
    "flavanoids": (0, 6),
    "nonflavanoid_phenols": (0, 1),
    "proanthocyanins": (0, 4),
    "color_intensity": (0, 14),
    "hue": (0, 2),
    "od280/od315_of_diluted_wines": (1, 5),
    "proline": (200, 1800),
}


def _breast_cancer(request: Request) -> pd.DataFrame:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer(as_frame=True)
    frame: pd.DataFrame = bunch.data.assign(diagnosis=np.asarray(bunch.target_names)[bunch.target])
    return frame


def _diabetes(request: Request) -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(as_frame=True, scaled=False)
    group = np.where(bunch.data["sex"] == 1, "group 1", "group 2")
    frame: pd.DataFrame = bunch.data.assign(progression=bunch.target, sex=group)
    return frame


def _digits(request: Request) -> pd.DataFrame:
    from sklearn.datasets import load_digits

    bunch = load_digits(as_frame=True)
    frame: pd.DataFrame = bunch.data.assign(digit=bunch.target.astype("str"))
    return frame


def _wine(request: Request) -> pd.DataFrame:
    from sklearn.datasets import load_wine

    bunch = load_wine(as_frame=True)
    frame: pd.DataFrame = bunch.data.assign(cultivar=[f"cultivar {number + 1}" for number in bunch.target])
    return frame


def _cell_columns() -> tuple[Column, ...]:
    means = (Column(name=f"mean {name}", type="number", low=low, high=high) for name, (low, high) in _CELLS.items())
    errors = (Column(name=f"{name} error", type="number", low=0, high=high) for name, high in _ERRORS.items())
    worst = (Column(name=f"worst {name}", type="number", low=low, high=high) for name, (low, high) in _CELLS.items())
    return (*means, *errors, *worst)


SAMPLES = (
    Sample(
        key="breast_cancer",
        title="Breast tumours, 569 biopsies",
        about="One row per biopsy: thirty measurements of cell nuclei, and whether the tumour was malignant.",
        origin="W. Wolberg, N. Street, O. Mangasarian, Breast Cancer Wisconsin (Diagnostic), UCI, 1995, CC BY 4.0",
        rows=569,
        simulated=False,
        rank=6,
        why=(
            ("training", "Is a tumour malignant: a small, clean table on which a private model can still do well."),
            ("selection", "Which single measurement and cut-off predicts best."),
        ),
        asks=(("selection", "rule", ("diagnosis",)),),
        schema=Schema(
            columns=(
                Column(name="diagnosis", type="category", categories=("benign", "malignant")),
                *_cell_columns(),
            )
        ),
        load=_breast_cancer,
    ),
    Sample(
        key="diabetes",
        title="Diabetes, 442 patients",
        about="One row per patient: ten measurements, and how far the disease had progressed a year later.",
        origin="B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, Annals of Statistics 32, 2004",
        rows=442,
        simulated=False,
        rank=7,
        why=(
            ("training", "How far will the disease progress: a regression on a few hundred people."),
            ("selection", "What is the median body mass index."),
        ),
        asks=(("training", "regress", ("progression",)), ("selection", "quantile", ("bmi",))),
        schema=Schema(
            columns=(
                Column(name="progression", type="number", low=0, high=350, about="disease progression after a year"),
                Column(name="sex", type="category", categories=("group 1", "group 2"), about="coded without names"),
                *(
                    Column(name=name, type="number", low=low, high=high, about=about)
                    for name, (low, high, about) in _BODY.items()
                ),
            )
        ),
        load=_diabetes,
    ),
    Sample(
        key="digits",
        title="Handwritten digits, 1,797 images",
        about="One row per image: 64 grey values and the digit written. 43 people wrote them; a row is one image.",
        origin="E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits (test set), UCI, 1998, CC BY 4.0",
        rows=1_797,
        simulated=False,
        rank=8,
        why=(
            ("training", "Is it a given digit: many columns, where the number of them costs accuracy."),
            ("selection", "Which digit is most common: a near tie, the hardest case for a private choice."),
        ),
        schema=Schema(
            columns=(
                Column(name="digit", type="category", categories=tuple(str(digit) for digit in range(10))),
                *(
                    Column(name=f"pixel_{row}_{place}", type="integer", low=0, high=16)
                    for row in range(8)
                    for place in range(8)
                ),
            ),
            unit="image",
        ),
        load=_digits,
    ),
    Sample(
        key="wine",
        title="Italian wines, 178 bottles",
        about="One row per bottle: thirteen chemical measurements and which of three cultivars it is from.",
        origin="M. Forina et al., S. Aeberhard, Wine, UCI Machine Learning Repository, 1991, CC BY 4.0",
        rows=178,
        simulated=False,
        rank=9,
        why=(
            ("selection", "Which cultivar is most common, and what is the median alcohol: few rows, so noise shows."),
            ("training", "Is it the first cultivar: easy without privacy, hard with it."),
        ),
        schema=Schema(
            columns=(
                Column(name="cultivar", type="category", categories=("cultivar 1", "cultivar 2", "cultivar 3")),
                *(Column(name=name, type="number", low=low, high=high) for name, (low, high) in _WINE.items()),
            ),
            unit="bottle",
        ),
        load=_wine,
    ),
)
