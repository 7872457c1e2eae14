"""No secret leaves in a text, however it is written; names of columns stay; a long text costs its length."""

import json
import string
import time
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from tests.openlineage.secret_shapes import LINES, NAMES, PAIRS, SHAPES, STATEMENTS, TOKENS

from headwater.model import (
    CatalogEntry,
    Dataset,
    DatasetDescription,
    Facet,
    Gap,
    Job,
    Run,
    RunMoment,
    RunState,
    SchemaField,
    Statement,
)
from headwater.openlineage.settings.spark_conf import owners_from, tags_from
from headwater.openlineage.writing.events import run_event, to_json
from headwater.redaction import MASK, hold_no_literals, redact, redact_json, redact_literals, redact_sql

# Letters and digits hold a secret apart from any separator; the rest is what generators of passwords like.
PLAIN = st.text(string.ascii_letters + string.digits, min_size=8, max_size=24)
ODD = st.builds(lambda head, odd, tail: head + odd + tail, PLAIN, st.text("!#$%*+./=?^_|~-@", max_size=6), PLAIN)
ANY = PLAIN | ODD
AROUND = st.sampled_from(
    ["", "Job failed: ", "org.x.Error: cannot connect (", "line 3\n\tat org.x.Y(Z.scala:1)\n", "{a=1, "]
)
AFTER = st.sampled_from(["", " for user me", "\n\tat org.apache.spark.X(Y.scala:12)", ", user=me", "; retry"])


@pytest.mark.parametrize("notation", PAIRS.values(), ids=PAIRS)
def test_every_name_is_known_in_every_notation(notation: str) -> None:
    leaking = [name for name in NAMES if "hunter2Zq" in redact(notation.format(name=name, secret="hunter2Zq"))]
    assert leaking == []


@given(st.sampled_from(NAMES), st.sampled_from(sorted(PAIRS)), PLAIN, AROUND, AFTER)
def test_the_value_of_a_name_is_masked_in_every_notation(
    name: str, notation: str, secret: str, before: str, after: str
) -> None:
    text = before + PAIRS[notation].format(name=name, secret=secret) + after
    masked = redact(text)
    assert secret not in masked
    assert redact(masked) == masked


@given(st.sampled_from(sorted(SHAPES)), PLAIN, AROUND, AFTER)
def test_secrets_that_have_a_place_are_masked(shape: str, secret: str, before: str, after: str) -> None:
    masked = redact(before + SHAPES[shape].format(secret=secret) + after)
    assert secret not in masked
    assert redact(masked) == masked


@given(
    st.sampled_from(["property", "yaml", "json", "python", "flag", "environment in quotes", "xml", "sql option"]), ODD
)
@example("json", "abcdefgh!#$%abcdefgh")
def test_odd_characters_do_not_end_a_secret(notation: str, secret: str) -> None:
    masked = redact(PAIRS[notation].format(name="password", secret=secret))
    assert secret[-8:] not in masked
    assert secret[:8] not in masked


@given(ANY, st.sampled_from(NAMES))
@example("hunter2Zq", "contraseña")  # whose letter JSON and YAML escape
@example("hunter2Zq", "CONTRASEÑA")
def test_what_libraries_write_is_masked(secret: str, name: str) -> None:
    content = {"user": "me", name: f"{secret} \"and' {secret}"}
    for text in (json.dumps(content), json.dumps(json.dumps(content)), repr(content), yaml.safe_dump(content)):
        assert secret not in redact(text), text


@given(st.sampled_from(sorted(LINES)), PLAIN)
def test_the_rest_of_a_line_is_masked(shape: str, secret: str) -> None:
    masked = redact("of:\n" + LINES[shape].format(secret=secret) + "\nspark.app.name  shop")
    assert secret not in masked
    assert "shop" in masked
    assert redact(masked) == masked


@given(PLAIN)
def test_a_url_that_is_cut_off_in_its_password_is_masked(secret: str) -> None:
    assert redact(f"cannot reach postgresql://me:{secret}") == f"cannot reach postgresql://me:{MASK}"
    assert redact("cannot reach http://host:8080") == "cannot reach http://host:8080"


@given(st.sampled_from(sorted(STATEMENTS)), PLAIN)
def test_no_statement_holds_a_secret(shape: str, secret: str) -> None:
    masked = redact_sql(STATEMENTS[shape].format(secret=secret))
    assert secret not in masked
    assert redact_sql(masked) == masked


@given(PLAIN, st.integers(0, 40))
def test_no_quoted_literal_of_an_expression_is_left_however_it_is_cut(name: str, end: int) -> None:
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    before = "CASE WHEN (`it's` = "
    masked = redact_literals(f"{before}'{quoted}') THEN a END"[: len(before) + 2 + end])
    assert masked.startswith(f"{before}'{MASK}'")
    assert name[:4] not in masked[len(before) :]


WORDS = st.sampled_from(
    ["c12", " + ", "(", "set ", "password", "=", "--", "/*", "//", ":", "@", "?a=", "%2f", "jdbc:oracle:thin:", "a.b"]
)


@given(st.lists(WORDS | PLAIN | st.sampled_from(sorted(TOKENS.values())), max_size=8).map("".join))
def test_an_expression_without_literals_is_masked_like_a_statement(text: str) -> None:
    assert redact_literals(text) == redact_sql(text)


@given(st.lists(st.lists(WORDS | PLAIN | st.sampled_from(sorted(TOKENS.values())), max_size=5).map("".join)))
def test_texts_without_literals_are_known_together_as_each_by_itself(texts: list[str]) -> None:
    assert hold_no_literals(texts) == all(hold_no_literals((text,)) for text in texts)


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_a_token_that_shows_itself_is_masked_anywhere(token: str) -> None:
    assert token not in redact(f"the server said {token}, which is wrong")
    assert token not in redact(f"path/{token}/x")
    assert token not in redact_sql(f"select '{token}'")
    assert token not in redact_literals(f"(a + {token})")


@pytest.mark.parametrize(
    "text",
    [
        "Column `token` cannot be resolved. Did you mean one of [`token`, `password_hash`, `api_key`]?",
        "struct<token:string,password_hash:string,secret:array<int>>",
        " |-- token: string (nullable = true)",
        "the columns token and password_hash are of no use",
        "abfss://container@account.dfs.core.windows.net/path cannot be read",
        "https://h/path/user@example.com and http://h:8080/x@y",
        "s3a://bucket/a=1/token=x".partition("token")[0],
        "at org.apache.spark.sql.catalyst.parser.TokenParser.parse(TokenParser.scala:12)",
        "the tokenizer: fast",
        "INSERT INTO t VALUES (?, ?)",
        "Job failed at 10:30:00: 3 tasks, id=7, user=me",
        "FATAL: password authentication failed for user me",
        "the token is expired, the API key is of no use, and the password was wrong",
        "java.net.ConnectException: Call From a/127.0.0.1 to h:9000 failed; see http://wiki/x:y",
        "org.apache.spark.SparkException: Job aborted: Task 0 in stage 1.0 (TID 1) (h executor driver)",
        "bound method SparkSession.sql of <pyspark.sql.session.SparkSession object at 0x7f00>, see a/b:c@main",
        "{1: 'a', 'b': [2, 3]} and Map(a -> b), a = 1, b: 2, c => 3",
        "spark.sql.shuffle.partitions     200\nspark.app.name  shop",
        "hdfs://nn:8020/user/x and 'http://h:80', 'me@x.com'",
        "no answer (http://h:8080)",
        "open `http://h:3000`.",
    ],
)
def test_names_and_plain_messages_stay(text: str) -> None:
    assert redact(text) == text


def test_expressions_of_a_statement_stay_and_its_literals_do_not() -> None:
    query = "select t.token, secret = t.secret, sha2(password_hash, 256) from t where pwd = u.pwd"
    assert redact_sql(query) == query
    assert "hunter2" not in redact_sql(
        "select * from jdbc where url = 'jdbc:mysql://u:hunter2@h/d' and password = 'hunter2'"
    )


def test_facets_are_masked_value_by_value_and_keep_their_shape() -> None:
    facet = {
        "fields": [{"name": "token", "type": "struct<password:string>"}],
        "columns": {"token": "a", "password": "b"},
        "conf": [{"name": "api_key", "value": "hunter2"}, {"key": "user", "value": "me"}],
        "deep": {"secret": {"any": ["hunter2", 7, True, None]}},
        "note": "postgresql://u:hunter2@h/db",
    }
    masked = redact_json(facet)
    assert "hunter2" not in json.dumps(masked)
    assert masked["fields"] == facet["fields"]
    assert masked["columns"] == facet["columns"]
    assert masked["deep"] == {"secret": {"any": [MASK, MASK, True, None]}}
    assert redact_json(masked) == masked


def moment(secret: str) -> RunMoment:
    """A failed run whose every text holds a secret, and a dataset with columns that are named like secrets."""
    seen = DatasetDescription(
        Dataset("file", "/lake/keys"),
        (SchemaField("token", "string"), SchemaField("password_hash", "string")),
        source=f"https://u:{secret}@h",
        catalog=CatalogEntry("iceberg", "jdbc", "cat", f"jdbc:mysql://u:{secret}@h/c", f"s3a://K:{secret}@b/w"),
        facets=(Facet("theirs", json.dumps({"url": f"https://u:{secret}@h", "password": secret})),),
    )
    gaps = (Gap("error", f"password={secret}", f"cannot read s3a://K:{secret}@b"),)
    return RunMoment(
        Run("01890000-0000-7000-8000-000000000001", Job("jobs", "job")),
        RunState.FAIL,
        datetime(2026, 1, 1, tzinfo=UTC),
        statement=Statement((seen,), (), gaps),
        sql=f"create table t using jdbc options (password '{secret}')",
        source=f"https://u:{secret}@git.local/x",
        error=f"no postgresql://u:{secret}@h/db for {{'password': '{secret}'}}",
        stack_trace=f"org.x.E: api_key: {secret}\n\tat x\nCaused by: Authorization: Bearer {secret}",
    )


def test_no_text_of_an_event_holds_a_secret_and_columns_keep_their_names() -> None:
    event: dict[str, Any] = json.loads(to_json(run_event(moment("hunter2"))))
    assert "hunter2" not in json.dumps(event)
    assert event["run"]["facets"]["errorMessage"]["message"] == "no postgresql://…@h/db for {'password': …}"
    fields = event["inputs"][0]["facets"]["schema"]["fields"]
    assert [field["name"] for field in fields] == ["token", "password_hash"]


def test_tags_and_owners_of_a_configuration_are_masked() -> None:
    tags = tags_from("api_key:hunter2;env:prod;url:https\\://u\\:hunter2@h")
    assert [(tag.key, tag.value) for tag in tags] == [("api_key", MASK), ("env", "prod"), ("url", "https://…@h")]
    assert "hunter2" not in str(owners_from({"job.owners.team": "password=hunter2"}))


# fmt: off
PARTS = (
    ";(),&", "//a:", "://", "token", "password=", "?", "?a", "basic ", "bearer ", "eyJ", "eyJa.", "'", "\\\"",
    "token='", "token:\\'", "password: |\n", "password: |\n ", "(token", "-token", "--", "a=b&", "jdbc:oracle:thin:",
    "@", " ", "authorization:", "-----BEGIN PRIVATE KEY-----", "\n", "\t\n", "token \n", "-u ", "<token>",
    "token</name>", "identified by ", "token: {", "token: [", "token%3D", "cookie:", "bearer a", "-Dtoken ", "jdbc:;",
    "\\\\", "pwdpwd", "---token", "--token ", "%2F%2Fa", "%252F", "\\/\\/a", "//a b", "//a:b ", "a:b@c", "a:b@c/",
    "a@b:1/", "mysql ", "mysql -", "mysql a -p", "sshpass -p", "API key ", "token provided: ", "token was ",
    "token ab1", "|a.token ", "a.token  \n", "spark.token a\n", "aes_encrypt(", "aes_encrypt('a'", "aes_encrypt((",
    "'token=", "/*", "/* token ", "&quot;", "token=&quot;", "<![CDATA[", "<token><![CDATA[", "value=", "value=a,",
    "value: 'a", "value=a, name=b", "token: {{", "token: {{{a", "token</name><a>b</a>", "authorization=\"",
    "authorization: a=\"", "authorization: a, b=", "SG.aaaaaaaaaaaaaaaa.", "abc8Q~", "A", "A/", "MII", "MIIAAAA/",
    "Private-Lines: 1\n", "set token=", "jdbc:oracle:thin:\"", "/webhook/", "token%253D", "\\u0022", "token\\u003d",
    "name: token\n",
)
# fmt: on


def seconds(text: str) -> float:
    began = time.process_time()
    redact(text)
    redact_sql(text)
    return time.process_time() - began


@pytest.mark.parametrize("part", PARTS)
def test_a_text_of_four_times_the_length_takes_about_four_times_as_long(part: str) -> None:
    """One measurement of three is enough: the machine may do something else meanwhile."""
    short, long = (part * (length // len(part)) for length in (10_000, 40_000))
    assert any(seconds(long) < 8 * seconds(short) + 0.005 for _ in range(3))
