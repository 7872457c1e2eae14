"""The reading that questions and the catalog share: what a caller may see, fields and versions of datasets, pages."""
