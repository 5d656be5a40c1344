"""The analyst's pages. All of them work without JavaScript."""
