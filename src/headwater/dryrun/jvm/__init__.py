"""The part of a dry run that is inside the driver's JVM: an overlay of files, and relations without rows."""
