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
from headwater.openlineage.events import run_event, to_json
from headwater.openlineage.job_settings import owners_from, tags_from
from headwater.redaction import MASK, redact, redact_json, redact_sql

NAMES = (
    *(
        "password",
        "passwd",
        "pwd",
        "PASSWORD",
        "PGPASSWORD",
        "sslpassword",
        "db_password",
        "spring.datasource.password",
    ),
    *("pass", "DB_PASS", "passphrase", "secret", "SECRET", "client_secret", "clientSecret", "AWS_SECRET_ACCESS_KEY"),
    *(
        "fs.s3a.secret.key",
        "spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net",
        "AccountKey",
        "SharedAccessKey",
    ),
    *(
        "api_key",
        "apiKey",
        "api-key",
        "X-Api-Key",
        "private_key",
        "token",
        "access_token",
        "refreshToken",
        "GITHUB_TOKEN",
    ),
    *(
        "X-Amz-Security-Token",
        "credential",
        "credentials",
        "sig",
        "signing_key",
        "encryption-key",
        "storage_key",
        "auth",
    ),
)
# Letters and digits hold a secret apart from any separator; the rest is what generators of passwords like.
PLAIN = st.text(string.ascii_letters + string.digits, min_size=8, max_size=24)
ODD = st.builds(lambda head, odd, tail: head + odd + tail, PLAIN, st.text("!#$%*+./=?^_|~-@", max_size=6), PLAIN)
ANY = PLAIN | ODD
AROUND = st.sampled_from(
    ["", "Job failed: ", "org.x.Error: cannot connect (", "line 3\n\tat org.x.Y(Z.scala:1)\n", "{a=1, "]
)
AFTER = st.sampled_from(["", " for user me", "\n\tat org.apache.spark.X(Y.scala:12)", ", user=me", "; retry"])

PAIRS = {
    "property": "{name}={secret}",
    "properties with spaces": "{name} = {secret}",
    "yaml": "\n{name}: {secret}\n",
    "yaml in quotes": "{name}: '{secret}'",
    "yaml block": "{name}: |\n  {secret}\n  {secret}\nuser: x",
    "json": '{{"user": "me", "{name}": "{secret}", "x": 1}}',
    "json in json": '{{\\"{name}\\": \\"a {secret}\\"}}',
    "python": "{{'{name}': '{secret}'}}",
    "python bytes or kwargs": 'f({name}="{secret}")',
    "python pairs": "[('{name}', '{secret}')]",
    "ruby": ":{name} => '{secret}'",
    "scala map": "Map({name} -> {secret}, a -> b)",
    "scala pair": "({name},{secret})",
    "java map": "{{a=b, {name}={secret}, c=d}}",
    "xml": "<{name}>{secret}</{name}>",
    "hadoop xml": "<property><name>{name}</name><value>{secret}</value></property>",
    "named values": '{{"name": "{name}", "value": "{secret}"}}',
    "flag": "tool --{name} {secret} --other x",
    "flag with =": "tool --{name}={secret}",
    "java flag": "java -D{name}={secret} Main",
    "environment": "export {name}={secret}",
    "environment in quotes": "{name}='{secret}' tool",
    "sql option": "OPTIONS ({name} '{secret}', dbtable 't')",
    "reader's option": 'option("{name}", "{secret}")',
    "connection string": "Endpoint=sb://h/;{name}={secret};EntityPath=x",
    "jdbc parameter": "jdbc:sqlserver://h:1433;databaseName=x;{name}={secret};encrypt=true",
    "odbc braces": "Driver=x;{name}={{{secret}}};Server=y",
    "query": "GET https://h/p?a=b&{name}={secret}&c=d",
    "escaped query": "a%3Db%26{name}%3D{secret}",
}
SHAPES = {
    "url": "postgresql://me:{secret}@db.local:5432/shop",
    "url without user": "redis://:{secret}@h:6379/0",
    "url with a token": "https://{secret}@github.local/x.git",
    "s3": "s3a://KEY:{secret}@bucket/path",
    "s3 with slashes": "s3a://KEY:hun/{secret}/ter@bucket/path",
    "url in quotes": "'mysql://me:{secret}@h/db'",
    "mongo": "mongodb+srv://me:{secret}@a.h,b.h/db?retryWrites=true",
    "jdbc": "jdbc:postgresql://me:{secret}@h/db",
    "oracle": "jdbc:oracle:thin:scott/{secret}@h:1521:x",
    "sas": "https://a.blob.core.windows.net/c/f?sv=2020&sig={secret}&se=1",
    "signed": "https://b.s3.amazonaws.com/k?X-Amz-Signature={secret}",
    "relative": "GET /c/f?sig={secret} failed",
    "bearer": "Authorization: Bearer {secret}",
    "bearer in json": '{{"Authorization": "Bearer {secret}"}}',
    "bearer in python": "{{'authorization': 'bearer {secret}'}}",
    "bearer alone": "sent Bearer {secret} to h",
    "basic": "Authorization: Basic {secret}==",
    "curl": "curl -u me:{secret} https://h",
    "curl's header": "curl -H 'Authorization: Token {secret}' h",
    "java flag of a short name": "java -Dauth={secret} Main",
    "cookie": "Cookie: session={secret}; other={secret}",
    "sql": "CREATE USER me IDENTIFIED BY '{secret}'",
    "postgres": "ALTER ROLE me PASSWORD '{secret}'",
    "kafka": 'org.x.PlainLoginModule required username="me" password="{secret}";',
    "pem": "-----BEGIN RSA PRIVATE KEY-----\n{secret}\n{secret}==\n-----END RSA PRIVATE KEY-----",
    "pem cut off": "-----BEGIN PRIVATE KEY-----\n{secret}\n{secret}",
    "pem in json": '"-----BEGIN PRIVATE KEY-----\\n{secret}\\n-----END PRIVATE KEY-----\\n"',
    "cut off": "{{'password': '{secret}",
}
# What shows itself, without a name.
TOKENS = {
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "gitlab": "glpat-abcdefghij0123456789",
    "slack": "xoxb-123456789012-abcdef",
    "databricks": "dapi0123456789abcdef0123456789abcdef",
    "headwater": "hw_0123456789ab_" + "0123456789abcdef" * 4,
}


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
def test_what_libraries_write_is_masked(secret: str, name: str) -> None:
    content = {"user": "me", name: f"{secret} \"and' {secret}"}
    for text in (json.dumps(content), json.dumps(json.dumps(content)), repr(content), yaml.safe_dump(content)):
        assert secret not in redact(text), text


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_a_token_that_shows_itself_is_masked_anywhere(token: str) -> None:
    assert token not in redact(f"the server said {token}, which is wrong")
    assert token not in redact(f"path/{token}/x")
    assert token not in redact_sql(f"select '{token}'")


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


PARTS = (
    *(
        ";(),&",
        "//a:",
        "://",
        "token",
        "password=",
        "?",
        "?a",
        "basic ",
        "bearer ",
        "eyJ",
        "eyJa.",
        "'",
        '\\"',
        "token='",
    ),
    *("token:\\'", "password: |\n", "password: |\n ", "(token", "-token", "--", "a=b&", "jdbc:oracle:thin:", "@", " "),
    *("authorization:", "-----BEGIN PRIVATE KEY-----", "\n", "\t\n", "token \n", "-u ", "<token>", "token</name>"),
    *("identified by ", "token: {", "token: [", "token%3D", "cookie:", "bearer a", "-Dtoken ", "jdbc:;", "\\\\"),
)


def seconds(text: str) -> float:
    """The least of three: the machine may do something else meanwhile."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        redact(text)
        redact_sql(text)
        taken.append(time.process_time() - began)
    return min(taken)


@pytest.mark.parametrize("part", PARTS)
def test_a_text_of_four_times_the_length_takes_about_four_times_as_long(part: str) -> None:
    short = seconds(part * (10_000 // len(part)))
    long = seconds(part * (40_000 // len(part)))
    assert long < 8 * short + 0.005
