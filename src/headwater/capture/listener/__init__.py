"""The tap where nothing can be compiled in the JVM: listeners in Python, called through py4j."""
