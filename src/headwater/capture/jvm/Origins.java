package headwater;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.spark.rdd.RDD;

/**
 * What the rows of an RDD are made of, as far as the RDDs that it depends on tell.
 *
 * The way back ends at an RDD whose rows are known to be a DataFrame's, and at RDDs that read: files by their paths.
 */
public class Origins {
  private static final int MOST = 10000;
  private static final int MOST_KNOWN = 100000;
  private static final String PATHS = "mapreduce.input.fileinputformat.inputdir";
  /** Ids of RDDs that were told of with the plan of a DataFrame; an application has one SparkContext, which counts them. */
  private static final Set KNOWN = Collections.synchronizedSet(new HashSet());
  private static final Map JSON = Collections.synchronizedMap(new HashMap());

  /** From now on the way back of other RDDs ends at this one. */
  public static void know(int rdd) {
    if (KNOWN.size() >= MOST_KNOWN) KNOWN.clear();
    KNOWN.add(Integer.valueOf(rdd));
  }

  /** And its rows are those of a DataFrame with these columns, as JSON. */
  public static void knowJson(int rdd, String[] columns) {
    know(rdd);
    if (JSON.size() >= MOST_KNOWN) JSON.clear();
    JSON.put(Integer.valueOf(rdd), columns);
  }

  /** The columns of the DataFrame whose rows an RDD has as JSON; null of others. */
  public static String[] json(int rdd) { return (String[]) JSON.get(Integer.valueOf(rdd)); }

  /** Another SparkContext counts its RDDs anew. */
  public static void forget() { KNOWN.clear(); JSON.clear(); }

  /** By its dependencies as they are now: the id, ids of known RDDs above it or itself, all others where it begins, whether that is all. */
  public static Object[] of(RDD rdd) {
    Set known = new LinkedHashSet();
    Set sources = new LinkedHashSet();
    boolean all = find(rdd, known, sources);
    return new Object[] {Integer.valueOf(rdd.id()), known, sources, Boolean.valueOf(all)};
  }

  public static void write(JsonGenerator out, RDD rdd) throws IOException { write(out, of(rdd)); }

  /** The fields ``rdd``, ``known`` and ``sources`` of what of() found. */
  public static void write(JsonGenerator out, Object[] found) throws IOException {
    writeFound(out, (Integer) found[0], (Set) found[1], (Set) found[2], ((Boolean) found[3]).booleanValue());
  }

  private static void writeFound(JsonGenerator out, Integer rdd, Set known, Set sources, boolean all) throws IOException {
    out.writeNumberField("rdd", rdd.intValue());
    out.writeArrayFieldStart("known");
    java.util.Iterator ids = known.iterator();
    while (ids.hasNext()) out.writeNumber(((Integer) ids.next()).intValue());
    out.writeEndArray();
    out.writeArrayFieldStart("sources");
    java.util.Iterator found = sources.iterator();
    while (found.hasNext()) writeSource(out, (RDD) found.next());
    if (!all) { out.writeStartObject(); out.writeStringField("class", "more than " + MOST + " RDDs"); out.writeEndObject(); }
    out.writeEndArray();
  }

  private static boolean find(RDD root, Set known, Set sources) {
    Set seen = new HashSet();
    ArrayDeque open = new ArrayDeque();
    open.push(root);
    while (!open.isEmpty()) {
      RDD rdd = (RDD) open.pop();
      if (!seen.add(Integer.valueOf(rdd.id()))) continue;
      if (seen.size() > MOST) return false;
      if (KNOWN.contains(Integer.valueOf(rdd.id()))) { known.add(Integer.valueOf(rdd.id())); continue; }
      scala.collection.Iterator parents = rdd.dependencies().iterator();
      if (!parents.hasNext()) sources.add(rdd);
      while (parents.hasNext()) open.push(((org.apache.spark.Dependency) parents.next()).rdd());
    }
    return true;
  }

  private static void writeSource(JsonGenerator out, RDD rdd) throws IOException {
    out.writeStartObject();
    out.writeStringField("class", Reflection.className(rdd));
    Object files = Reflection.call(rdd, "filePartitions");
    Object conf = rdd instanceof org.apache.spark.rdd.HadoopRDD ? Reflection.call(rdd, "getJobConf") : Reflection.call(rdd, "getConf");
    if (files instanceof scala.collection.Iterable) writeFiles(out, (scala.collection.Iterable) files, Reflection.call(rdd, "readSchema"));
    else if (conf instanceof org.apache.hadoop.conf.Configuration) {
      writePaths(out, ((org.apache.hadoop.conf.Configuration) conf).get(PATHS));
      Object format = Reflection.field(rdd, "inputFormatClass");
      if (format instanceof Class && !((Class) format).getName().contains("Text")) writeNames(out, "columns", new Object[] {"key", "value"});
    }
    out.writeEndObject();
  }

  /** Files by their folders, which are fewer; and the columns that are read of them. */
  private static void writeFiles(JsonGenerator out, scala.collection.Iterable partitions, Object schema) throws IOException {
    Set folders = new LinkedHashSet();
    scala.collection.Iterator i = partitions.iterator();
    while (i.hasNext() && folders.size() < MOST) {
      Object[] files = (Object[]) Reflection.call(i.next(), "files");
      for (int n = 0; files != null && n < files.length; n++) folders.add(folder(String.valueOf(Reflection.call(files[n], "filePath"))));
    }
    writeNames(out, "paths", folders.toArray());
    if (schema instanceof org.apache.spark.sql.types.StructType) writeNames(out, "columns", ((org.apache.spark.sql.types.StructType) schema).fieldNames());
  }

  private static String folder(String file) {
    return file.lastIndexOf('/') > 0 ? file.substring(0, file.lastIndexOf('/')) : file;
  }

  private static void writePaths(JsonGenerator out, String paths) throws IOException {
    if (paths == null) return;
    String[] names = org.apache.hadoop.util.StringUtils.split(paths);
    for (int i = 0; i < names.length; i++) names[i] = org.apache.hadoop.util.StringUtils.unEscapeString(names[i]);
    writeNames(out, "paths", names);
  }

  private static void writeNames(JsonGenerator out, String name, Object[] values) throws IOException {
    out.writeArrayFieldStart(name);
    for (int i = 0; i < values.length; i++) out.writeString(name.equals("paths") ? Secrets.place((String) values[i]) : (String) values[i]);
    out.writeEndArray();
  }
}
