"""Run in a copy of the product that was extended: opens every page, tab and newcomer, and prints what it found.

Not a test by itself; ``test_extension`` runs it as a program of its own, since what is discovered stays discovered.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

# the choice of a method on each question's page: (page, question, control, the newcomer's key)
METHODS = (
    ("selection", "most_common", "selection_method"),
    ("selection", "best_rule", "rule_method"),
    ("thresholding", "alarm", "alarm_method"),
    ("thresholding", "alarm", "alarm_method_general"),
    ("experts", "follow", "experts_method"),
    ("experts", "fixed_choice", "linear_method"),
    ("training", "predict", "training_method"),
)


def main(copy: Path) -> dict[str, Any]:
    """Every fact the test asks about."""
    from dashboard import catalogue
    from dashboard.controls import Choice, Setting
    from dashboard.question import CannotAsk
    from dpcore.datasets import samples
    from tests.questions.samples import sample_case

    found: dict[str, Any] = {"pages": {}, "methods": [], "measures": [], "problems": []}
    found["samples"] = [known.key for known in samples()]
    for page, kind in catalogue.every():
        found["pages"].setdefault(page.key, []).append(kind.key)
    # every catalogue key is asked for on its page, and every tab of it is made
    for _, kind in catalogue.every():
        for sample in ("newcomer", "forecasts", "breast_cancer"):
            read = Setting()
            try:
                kind.ask(sample_case(sample), read)
            except CannotAsk:
                continue
            for key, (_, control) in read.seen.items():
                if isinstance(control, Choice) and "newcomer" in control.options:
                    question = kind.ask(sample_case(sample), Setting({key: "newcomer"}))
                    for tab in question.tabs:
                        tab.blocks()
                    if not question.view.empty:
                        question.view.picture(question.view.first)
                    (found["measures"] if "metric" in key else found["methods"]).append([kind.key, key])
            break
    # and the app itself draws them
    os.environ["EPSILON_LAB_WARM_UP"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        from dpcore.ledger import Ledger

        os.environ["EPSILON_LAB_KEY"] = str(Path(folder) / "ledger.key")
        os.environ["EPSILON_LAB_LEDGER"] = f"sqlite:///{folder}/ledger.db"
        Ledger.open(create=True).close()
        for page in catalogue.pages():
            app = AppTest.from_file(str(copy / "dashboard" / "app.py"), default_timeout=120)
            app.query_params["data"] = "newcomer"
            for name, _, key in METHODS:
                if name == page.key:
                    app.query_params[key] = "newcomer"
            app.run()
            app.switch_page(catalogue.address(page.key)).run()
            found["problems"] += [f"{page.key}: {error.value}" for error in app.exception]
        for key in ("data", "budget"):
            app.switch_page(catalogue.address(key)).run()
            found["problems"] += [f"{key}: {error.value}" for error in app.exception]
            if key == "data":
                app.segmented_control(key="from").set_value("samples").run()
                said = "\n".join(str(one.value) for one in app.markdown)
                found["on_data_page"] = "A newcomer among samples" in said
    return found


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    print(json.dumps(main(Path(sys.argv[1]))))
