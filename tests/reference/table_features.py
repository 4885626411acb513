"""The features of a table by skrub alone, one chain of transformers per column: what `TableEncoder` must give."""

import numpy as np
from sklearn.preprocessing import OneHotEncoder, RobustScaler
from skrub import StringEncoder, TableVectorizer


def vectorized(train, rows, *, far_from_zero=()):
    """Fit to some rows and encode others; returns the numbers and the names of the features."""
    vectorizer = TableVectorizer(
        cardinality_threshold=40,
        low_cardinality=OneHotEncoder(handle_unknown="ignore", dtype=np.float32, sparse_output=False),
        high_cardinality=StringEncoder(random_state=0),
        drop_if_constant=True,
        datetime_format="dates are recognised before: %Y-%m-%d",
        specific_transformers=[(RobustScaler(with_scaling=False), list(far_from_zero))] if far_from_zero else (),
    ).fit(train)
    encoded = vectorizer.transform(rows)
    with np.errstate(over="ignore"):
        numbers = np.column_stack([column.to_numpy().astype(np.float32) for column in encoded])
    numbers[np.isinf(numbers)] = np.nan
    return numbers, encoded.columns
