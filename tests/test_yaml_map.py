"""YAML that is read strictly: which value a key has, and the place of what is refused."""

from pathlib import Path

import pytest

from headwater.dryrun.pipelines import libraries
from headwater.errors import SettingError
from headwater.yaml_map import read_yaml


def test_values_are_those_of_json_and_what_lacks_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "answers.yml"
    file.write_text("a.py:1: 7\na.py:2: 2026-11-25\na.py:3: [{x: 1.5}, ~]\nempty:\n")
    whole = read_yaml(file)
    assert [whole.value(one.text) for one in whole.names()] == [7, "2026-11-25", [{"x": 1.5}, None], None]
    assert (whole.text("empty", "target"), list(whole.map("lacks").names())) == ("target", [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("libraries:\n  - glob: jobs/**\n", ":2:11: expected keys and values (`key: value`), found a text."),
        ("libraries:\n  - glob: {includes: jobs}\n", ":2:12: unknown key 'includes'. Did you mean 'include'?"),
        ("libraries:\n  - file: a.py\n", "the key 'include' lacks here. Add it."),
        ("libraries: jobs\n", ":1:12: expected a list under 'libraries'"),
        ("name: a\nname: b\n", ":2:1: 'name' is there twice."),
        ("name: [a\n", ":2:1: no YAML: expected ',' or ']'"),
        ("", ":1:1: the file is empty"),
    ],
)
def test_a_mistake_in_a_project_of_pipelines_is_named_at_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "spark-pipeline.yml"
    file.write_text(text)
    with pytest.raises(SettingError) as refused:
        list(libraries(file))
    assert str(refused.value).startswith(str(file))
    assert message in str(refused.value)
