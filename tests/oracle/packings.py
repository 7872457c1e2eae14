"""Packings: values put into structs, arrays and maps, handed on in some form, and leaves taken out of them again.

Each form makes a struct (code, tier), so that forms nest; those that take a leaf end a chain of them.
"""

from tests.oracle.forms import Forms

PACKINGS: Forms = {
    "struct": (
        "named_struct('code', {string}, 'tier', {int})",
        "CASE WHEN {boolean} THEN {struct} WHEN {boolean} THEN {struct} END",
        "coalesce({struct}, {struct})",
        "if({boolean}, {struct}, NULL)",
        "array({struct}, {struct})[1]",
        "element_at(array({struct}, {struct}), -1)",
        "map('a', {struct}, 'b', {struct})['b']",
        "element_at(map({string}, {struct}), 'x')",
        "transform(array({struct}, {struct}), s -> named_struct('code', s.code, 'tier', s.tier + {int}))[0]",
        "filter(array({struct}, {struct}), s -> s.tier > {int})[0]",
        "zip_with(array({struct}), array({struct}), (x, y) -> named_struct('code', x.code, 'tier', y.tier))[0]",
        "sort_array(array({struct}, {struct}))[0]",
        "CAST(struct({string}, {int}) AS STRUCT<code: STRING, tier: INT>)",
        "map_values(map('a', {struct}))[0]",
        "flatten(array(array({struct}), array({struct})))[1]",
    ),
    "string": ("{struct}.code", "array({struct}, {struct}).code[0]", "array({string}, {string})[1]"),
    "int": (
        "{struct}.tier",
        "map('p', {int}, 'q', {int})['p']",
        "aggregate(array({struct}, {struct}), 0, (a, s) -> a + coalesce(s.tier, 0))",
        "size(filter(array({struct}, {struct}), s -> s.code > 'c'))",
    ),
    "boolean": ("exists(array({struct}, {struct}), s -> s.tier > {int})",),
}

PACKED_AGGREGATES: Forms = {
    "string": ("max_by({struct}, {scalar}).code", "max({struct}).code", "min_by({struct}, {int}).code"),
    "int": (
        "max_by({struct}, {scalar}).tier",
        "array_max(transform(collect_list({struct}), s -> s.tier))",
        "array_max(collect_set({struct}).tier)",
    ),
}

PACKED_WINDOWS: Forms = {
    "string": (
        "(lag({struct}) OVER (ORDER BY {total})).code",
        "(first_value({struct}) OVER (PARTITION BY {scalar} ORDER BY {total})).code",
    ),
    "int": ("(lead({struct}, 1, {struct}) OVER (ORDER BY {total})).tier",),
}

PACKED_SUBQUERIES: Forms = {
    "string": ("(SELECT max_by(struct(q.name AS code, q.age AS tier), q.id) FROM customers q WHERE q.age > 17).code",),
    "int": ("(SELECT max(struct(q.name AS code, q.age AS tier)) FROM customers q).tier",),
}
