"""Files with tables: delimited text, Excel and Parquet, with limits on what a file may contain."""
