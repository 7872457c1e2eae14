"""The names of functions in texts, where extraction has a rule for them."""

from collections.abc import Mapping

_AGGREGATES = """
    any any_value approx_count_distinct approx_percentile approx_top_k array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if
    count_min_sketch covar_pop covar_samp every first first_value grouping_id histogram_numeric hll_sketch_agg
    hll_union_agg kurtosis last last_value listagg max max_by mean median min min_by mode nth_value percentile
    percentile_approx percentile_cont percentile_disc pivotfirst product regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev
    stddev_pop stddev_samp string_agg sum theta_sketch_agg theta_union_agg try_avg try_sum var_pop var_samp variance
    pandas_covar pandas_kurtosis pandas_mode pandas_product pandas_skewness pandas_stddev pandas_variance
"""
AGGREGATES = frozenset(_AGGREGATES.split())
"""Functions whose value is that of many rows."""

RANKS = frozenset({"cume_dist", "dense_rank", "ntile", "percent_rank", "rank", "row_number"})
"""Window functions whose arguments are the ORDER BY of their window."""

UNREAD = "body_of_a_sql_function"
"""The function that a text calls in the place of a SQL function whose body could not be read."""

CASTS = frozenset({"ansi_cast", "cast", "try_cast"})

CLASSES: Mapping[str, str] = {
    **dict.fromkeys(("any_value", "first", "first_value"), "First"),
    "approx_count_distinct": "HyperLogLogPlusPlus",
    **dict.fromkeys(("array_agg", "collect_list", "collect_set"), "CollectSet"),  # any may be DISTINCT
    "coalesce": "Coalesce",
    "count": "Count",
    "count_if": "CountIf",
    "crc32": "Crc32",
    "hash": "Murmur3Hash",
    "hive-hash": "HiveHash",
    "ifnull": "Coalesce",
    "isnull": "IsNull",
    "lag": "Lag",
    **dict.fromkeys(("last", "last_value"), "Last"),
    "lead": "Lead",
    "mask": "Mask",
    **dict.fromkeys(("max_by", "min_by"), "MaxBy"),
    "md5": "Md5",
    "nvl": "Coalesce",
    "precisetimestampconversion": "PreciseTimestampConversion",
    "regr_count": "Count",
    "sha": "Sha1",
    "sha1": "Sha1",
    "sha2": "Sha2",
    "windowspecdefinition": "WindowSpecDefinition",
    "xxhash64": "XxHash64",
    **dict.fromkeys(RANKS, "RowNumber"),
    **dict.fromkeys(
        (
            "assertnotnull",
            "checkoverflowintableinsert",
            "knownfloatingpointnormalized",
            "knownnotcontainsnull",
            "knownnotnull",
            "knownnullable",
            "normalizenanandzero",
            "promote_precision",
            "static_invoke",
            "tempresolvedcolumn",
        ),
        "KnownNotNull",
    ),
}
"""The classes of the functions that extraction has rules for, by the names that texts have for them."""
