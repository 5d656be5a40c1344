"""The decisions suite: our default, the paper's EDDI, GDFS and DIME on many datasets."""
