"""What makes DuckDB believe the footer of a Parquet file, or work out a cell by what others hold.

The footer says between which values each piece of a column lies; "not a number" is left out of that. So a comparison is
answered without a look at the cell, and one row more may change what another one's cell is.
"""

from __future__ import annotations

BELIEVING = (
    "statistics_propagation",  # works out comparisons, counts and group tables by statistics
    "compressed_materialization",
    "filter_pushdown",  # these hand conditions to the reader of a file, which holds them against the statistics
    "join_filter_pushdown",
    "row_group_pruner",
    "top_n",
    "late_materialization",
)
"""What DuckDB improves by statistics, or by conditions that are held against them; none of it is ever on."""
