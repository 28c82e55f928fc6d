"""What the environment sets of Streamlit counts as it says, and not as Streamlit's own default."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard import __main__ as command_line

SAID = {
    "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": ("server.maxUploadSize", "5", 5),
    "STREAMLIT_CLIENT_SHOW_ERROR_DETAILS": ("client.showErrorDetails", "none", "none"),
    "STREAMLIT_SERVER_ENABLE_STATIC_SERVING": ("server.enableStaticServing", "false", False),
    "STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS": (
        *("server.corsAllowedOrigins", "https://a.example https://b.example"),
        ["https://a.example", "https://b.example"],
    ),
}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The settings that each server is started with."""
    every: list[dict[str, Any]] = []
    monkeypatch.setattr(command_line, "_serve", lambda changes, **_: every.append(changes))
    monkeypatch.delenv("EPSILON_LAB_LEDGER", raising=False)
    return every


@pytest.mark.parametrize("variable", SAID)
def test_what_the_environment_sets_counts(
    variable: str, started: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was told to show no details of a failure once showed all of them."""
    name, text, value = SAID[variable]
    shipped = command_line.settings()
    assert name in shipped, "one of those that are left out for the environment's"
    monkeypatch.setenv(variable, text)
    assert command_line.main(["serve"]) == 0
    assert started[0][name] == value
    assert started[0] == started[0] | {other: shipped[other] for other in shipped if other != name} | {
        "server.address": "127.0.0.1",
        "server.allowedHosts": started[0]["server.allowedHosts"],
    }


def test_without_it_streamlit_s_default_would_count(
    started: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dashboard.serving import own_settings

    monkeypatch.setattr(own_settings, "said", dict)
    for variable in SAID:
        with pytest.raises((AssertionError, KeyError)), monkeypatch.context() as only:
            test_what_the_environment_sets_counts(variable, started, only)


def test_the_call_comes_first_and_a_secret_is_left_to_streamlit(
    started: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")  # noqa: S104 - not bound
    monkeypatch.setenv("STREAMLIT_SERVER_ALLOWED_HOSTS", "*")
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", "1")
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", "known")
    assert command_line.main(["serve", "--port", "9601"]) == 0
    assert (started[0]["server.address"], started[0]["server.port"]) == ("127.0.0.1", 9601)
    assert "*" not in started[0]["server.allowedHosts"]
    assert "server.cookieSecret" not in started[0], "Streamlit takes none that it is handed"


@pytest.mark.parametrize(
    ("variable", "text", "must"),
    [
        ("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "many", "a whole number"),
        ("STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION", "perhaps", "true or false"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    variable: str,
    text: str,
    must: str,
    started: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(variable, text)
    assert command_line.main(["serve"]) == 2
    told = capsys.readouterr().err
    assert told == f"epsilon-lab: {variable} must be {must}\n"
    assert started == []
