package headwater;

import java.io.StringWriter;
import java.util.Iterator;
import java.util.Map;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

/**
 * What Iceberg reports of a scan and of a commit, as the texts of JSON objects.
 *
 * Iceberg keeps both itself, so no reporter of ours is put into its catalogs. Names are those of the facets
 * icebergScanReport and icebergCommitReport of the OpenLineage Spark integration.
 */
public class IcebergReports {
  private static final String[] SCAN_COUNTERS = new String[] {
    "resultDataFiles", "resultDeleteFiles", "totalDataManifests", "totalDeleteManifests", "scannedDataManifests", "skippedDataManifests", "totalFileSizeInBytes",
    "totalDeleteFileSizeInBytes", "skippedDataFiles", "skippedDeleteFiles", "scannedDeleteManifests", "skippedDeleteManifests", "indexedDeleteFiles", "equalityDeleteFiles", "positionalDeleteFiles"};
  /** The names in a snapshot's summary, each followed by that in the facet. */
  private static final String[] COMMIT_COUNTERS = new String[] {
    "added-data-files", "addedDataFiles", "deleted-data-files", "removedDataFiles", "total-data-files", "totalDataFiles",
    "added-delete-files", "addedDeleteFiles", "added-equality-delete-files", "addedEqualityDeleteFiles", "added-position-delete-files", "addedPositionalDeleteFiles",
    "removed-delete-files", "removedDeleteFiles", "removed-equality-delete-files", "removedEqualityDeleteFiles", "removed-position-delete-files", "removedPositionalDeleteFiles",
    "total-delete-files", "totalDeleteFiles", "added-records", "addedRecords", "deleted-records", "removedRecords", "total-records", "totalRecords",
    "added-files-size", "addedFilesSizeInBytes", "removed-files-size", "removedFilesSizeInBytes", "total-files-size", "totalFilesSizeInBytes",
    "added-position-deletes", "addedPositionalDeletes", "removed-position-deletes", "removedPositionalDeletes", "total-position-deletes", "totalPositionalDeletes",
    "added-equality-deletes", "addedEqualityDeletes", "removed-equality-deletes", "removedEqualityDeletes", "total-equality-deletes", "totalEqualityDeletes"};

  /** The report of a scan that has been planned, its filter without values; null of scans that are not Iceberg's. */
  public static String scan(Object scan) {
    if (scan == null || !scan.getClass().getName().startsWith("org.apache.iceberg.")) return null;
    try {
      Object report = Reflection.call(Reflection.field(scan, "scanReportSupplier"), "get");
      if (report == null) return null;
      StringWriter text = new StringWriter();
      JsonGenerator out = new JsonFactory().createGenerator(text);
      out.writeStartObject();
      writeNumber(out, "snapshotId", Reflection.call(report, "snapshotId"));
      String filter = sanitized(Reflection.call(report, "filter"));
      if (filter != null) out.writeStringField("filterDescription", filter);
      Object names = Reflection.call(report, "projectedFieldNames");
      if (names instanceof Iterable) {
        out.writeArrayFieldStart("projectedFieldNames");
        Iterator i = ((Iterable) names).iterator();
        while (i.hasNext()) out.writeString(String.valueOf(i.next()));
        out.writeEndArray();
      }
      out.writeObjectFieldStart("scanMetrics");
      Object metrics = Reflection.call(report, "scanMetrics");
      Object duration = Reflection.call(Reflection.call(metrics, "totalPlanningDuration"), "totalDuration");
      writeNumber(out, "totalPlanningDuration", Reflection.call(duration, "toMillis"));
      for (int i = 0; i < SCAN_COUNTERS.length; i++) writeNumber(out, SCAN_COUNTERS[i], Reflection.call(Reflection.call(metrics, SCAN_COUNTERS[i]), "value"));
      out.writeEndObject();
      out.writeEndObject();
      out.close();
      return text.toString();
    } catch (Throwable unlike) { return null; }
  }

  /** The report of the commit that made a snapshot; null where its summary cannot be read. */
  public static String commit(Object snapshot) {
    Object summary = Reflection.call(snapshot, "summary");
    if (!(summary instanceof Map)) return null;
    try {
      StringWriter text = new StringWriter();
      JsonGenerator out = new JsonFactory().createGenerator(text);
      out.writeStartObject();
      writeNumber(out, "snapshotId", Reflection.call(snapshot, "snapshotId"));
      writeNumber(out, "sequenceNumber", Reflection.call(snapshot, "sequenceNumber"));
      out.writeStringField("operation", String.valueOf(Reflection.call(snapshot, "operation")));
      out.writeObjectFieldStart("commitMetrics");
      for (int i = 0; i < COMMIT_COUNTERS.length; i += 2) {
        Object count = ((Map) summary).get(COMMIT_COUNTERS[i]);
        if (count != null) writeNumber(out, COMMIT_COUNTERS[i + 1], Long.valueOf(String.valueOf(count)));
      }
      out.writeEndObject();
      out.writeEndObject();
      out.close();
      return text.toString();
    } catch (Throwable unlike) { return null; }
  }

  /** A filter with its literals replaced as Iceberg logs it, and without their hashes: short values can be guessed from those. */
  private static String sanitized(Object filter) {
    try {
      Class texts = filter.getClass().getClassLoader().loadClass("org.apache.iceberg.expressions.ExpressionUtil");
      Class expression = filter.getClass().getClassLoader().loadClass("org.apache.iceberg.expressions.Expression");
      String text = (String) texts.getMethod("toSanitizedString", new Class[] {expression}).invoke(null, new Object[] {filter});
      return text.replaceAll("\\(hash-[0-9a-f]+\\)", "(value)");
    } catch (Throwable unlike) { return null; }
  }

  private static void writeNumber(JsonGenerator out, String name, Object number) throws java.io.IOException {
    if (number instanceof Number) out.writeNumberField(name, ((Number) number).longValue());
  }
}
