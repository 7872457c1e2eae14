"""Committed files read the same on every machine."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOSTS = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|maven\.org|maven\.apache\.org|--index-url|--find-links",
    re.IGNORECASE,
)
PRIVATE_FOLDERS = re.compile(r"(?<![\w.])/(?:root|work)/\w")


def tracked_text() -> dict[str, str]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = {}
    for name in names.split("\0"):
        path = ROOT / name
        if name and path.is_file() and path != Path(__file__):
            texts[name] = path.read_bytes().decode("utf-8", errors="replace")
    return texts


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return tracked_text()


def matches(texts: dict[str, str], pattern: re.Pattern[str]) -> list[str]:
    return [f"{name}: {found.group()}" for name, text in texts.items() if (found := pattern.search(text))]


def test_no_tracked_file_names_a_package_host(texts: dict[str, str]) -> None:
    assert matches(texts, HOSTS) == []


def test_no_tracked_file_names_a_folder_of_one_machine(texts: dict[str, str]) -> None:
    assert matches(texts, PRIVATE_FOLDERS) == []


def test_every_pinned_version_is_a_name_and_a_version(texts: dict[str, str]) -> None:
    lines = [line for name, text in texts.items() if name.endswith("constraints.txt") for line in text.splitlines()]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []


def test_make_targets_named_in_the_documents_exist(texts: dict[str, str]) -> None:
    targets = set(re.findall(r"^([a-z-]+):", texts["Makefile"], re.MULTILINE))
    documents = [text for name, text in texts.items() if name.endswith(".md")]
    named = {target for text in documents for target in re.findall(r"(?:`|^\s{4}|^)make ([a-z-]+)", text, re.MULTILINE)}
    assert named - targets == set()


def test_tests_named_in_the_documents_exist(texts: dict[str, str]) -> None:
    """Promises of a server stand beside the tests that hold them."""
    named = {
        page: set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text))
        for page, text in texts.items()
        if page.endswith(".md")
    }
    assert {"docs/server.md", "docs/threat-model.md"} <= {page for page, tests in named.items() if tests}
    missing = [
        f"{page}: {path}::{test}"
        for page, tests in named.items()
        for path, test in sorted(tests)
        if not re.search(rf"^ *def {test}\(", texts.get(path, ""), re.MULTILINE)
    ]
    assert missing == []


def test_files_named_in_the_documents_exist(texts: dict[str, str]) -> None:
    documents = {name: texts[name] for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")}
    named = {path for text in documents.values() for path in re.findall(r"`((?:[\w-]+/)+[\w.-]*)`", text)}
    assert [
        path for path in sorted(named) if not ((ROOT / path).exists() or (ROOT / "src/headwater" / path).exists())
    ] == []


def test_every_decision_has_a_number_of_its_own_which_its_title_has_too(texts: dict[str, str]) -> None:
    titles = {Path(name).name[:4]: text for name, text in texts.items() if name.startswith("docs/decisions/")}
    assert len(titles) == sum(name.startswith("docs/decisions/") for name in texts)
    assert [number for number, text in titles.items() if number not in text.split("\n", 1)[0]] == []
