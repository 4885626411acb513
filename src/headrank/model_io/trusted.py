"""The allowlist of model files: every class, type and function by its exact name, with its loader.

skops trusts a name in any position: a function that is trusted as a value could also be called as a constructor. So
each name here is bound to the one loader of skops that may rebuild it. Loaders that are not listed are never trusted:
bound methods, partials and ``operator`` functions would run code chosen by the file; legacy random number generators
and sparse matrices contain indices that are used unchecked.

By default skops also trusts all estimators of scikit-learn and all ufuncs. Of these, only the ones below are allowed.
"""

from headrank.model_io.registry import LOGICAL_NAMES_OF_0_1, known_classes

_HEADRANK = (*known_classes(), *LOGICAL_NAMES_OF_0_1)
_SCIKIT_LEARN = (
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",  # its trees are checked: see contents.py
    "sklearn.feature_extraction.text.TfidfTransformer",
    "sklearn.feature_extraction.text.TfidfVectorizer",  # its vocabulary is checked
    "sklearn.frozen._frozen.FrozenEstimator",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.model_selection._split.GroupKFold",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.StratifiedGroupKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",  # its counts of categories are checked
    "sklearn.preprocessing._label.LabelEncoder",
)
_SKRUB = (
    "skrub._apply_to_each_col.ApplyToEachCol",
    "skrub._check_input.CheckInputDataFrame",
    "skrub._clean_categories.CleanCategories",
    "skrub._clean_null_strings.CleanNullStrings",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._drop_uninformative.DropUninformative",
    "skrub._duration_to_float.DurationToFloat",
    "skrub._squashing_scaler.SquashingScaler",
    "skrub._squashing_scaler._MinMaxScaler",
    "skrub._string_encoder.StringEncoder",
    "skrub._table_vectorizer.PassThrough",
    "skrub._table_vectorizer.ShortReprDict",
    "skrub._table_vectorizer.TableVectorizer",
    "skrub._to_datetime.ToDatetime",
    "skrub._to_float.ToFloat",
    "skrub._to_str.ToStr",
    "skrub.selectors._base.All",
    "skrub.selectors._base.And",
    "skrub.selectors._base.Cols",
    "skrub.selectors._base.Filter",  # calls its predicate, which must be one of the functions below
    "skrub.selectors._base.Inv",
    "skrub.selectors._base.Or",
    "skrub.selectors._base.Sub",
)
_COLUMN_TYPES = (  # in the training table; names of types with at most a unit and a time zone
    "polars.datatypes.classes.Boolean",
    "polars.datatypes.classes.Date",
    "polars.datatypes.classes.Datetime",
    "polars.datatypes.classes.Float32",
    "polars.datatypes.classes.Float64",
    "polars.datatypes.classes.Int16",
    "polars.datatypes.classes.Int32",
    "polars.datatypes.classes.Int64",
    "polars.datatypes.classes.Int8",
    "polars.datatypes.classes.String",
    "polars.datatypes.classes.UInt16",
    "polars.datatypes.classes.UInt32",
    "polars.datatypes.classes.UInt64",
    "polars.datatypes.classes.UInt8",
)
_SIZES = ("8", "16", "32", "64")
_NUMBERS = (
    *(f"numpy.{kind}{size}" for kind in ("int", "uint") for size in _SIZES),
    "numpy.bool",
    "numpy.float32",
    "numpy.float64",
    "numpy.str_",
)

KEY_TYPES = frozenset({"builtins.str", "builtins.int"})
"""Types of dictionary keys that survive conversion to JSON strings. A bool would always come back as True."""

TRUSTED: dict[str, frozenset[str]] = {
    "DictNode": frozenset({"builtins.dict"}),
    "ListNode": frozenset({"builtins.list"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "JsonNode": frozenset({"builtins.str"}),  # numbers, strings, booleans and None
    "TypeNode": KEY_TYPES | set(_NUMBERS),  # types as values: keys of dictionaries, and the dtype parameter of encoders
    "NdArrayNode": frozenset({"numpy.ndarray", *_NUMBERS}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "ObjectNode": frozenset(_HEADRANK + _SCIKIT_LEARN + _SKRUB + _COLUMN_TYPES),
    "LossNode": frozenset({"sklearn._loss._loss.CyHalfBinomialLoss"}),
    # In gradient boosting, for growing more trees. Only PCG64, which has two plain numbers as its state.
    "RandomGeneratorNode": frozenset({"numpy.random._generator.Generator"}),
    # The predicates of TableVectorizer: they inspect the type and values of a column and return a bool.
    "FunctionNode": frozenset(
        {
            "skrub._dataframe._common.is_any_date",
            "skrub._dataframe._common.is_categorical",
            "skrub._dataframe._common.is_numeric",
            "skrub._table_vectorizer._created_by_predicate",
            "skrub.selectors._selectors._cardinality_below",
        }
    ),
}
"""The trusted names of each loader."""


def names() -> list[str]:
    """Return all trusted names for skops, with the current paths of headrank's own classes."""
    return sorted(frozenset().union(*TRUSTED.values()).difference(_HEADRANK).union(known_classes().values()))
