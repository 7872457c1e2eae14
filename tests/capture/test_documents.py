"""docs/running.md says what the settings are."""

from dataclasses import fields
from pathlib import Path

from headwater.capture.settings import CaptureSettings

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "running.md").read_text()


def test_every_setting_stands_in_the_table_with_its_default() -> None:
    rows = {
        row.split("|")[2].strip(" `"): row for row in TEXT.splitlines() if row.count("|") == 6 and "`HEADWATER_" in row
    }
    assert set(rows) == {field.name for field in fields(CaptureSettings)}
    for field in fields(CaptureSettings):
        assert f"`HEADWATER_{field.name.upper()}`" in rows[field.name]
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            assert f"| {field.default:g} |".replace("2e+06", "2000000") in rows[field.name]
