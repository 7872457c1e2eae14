package headwater;

import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.spark.rdd.RDD;

/**
 * What the rows of an RDD are made of, as far as the RDDs that it depends on say.
 *
 * The way back ends at an RDD whose rows are known to be a DataFrame's, and at RDDs that read: files by their paths.
 */
public class Origins {
  private static final int MOST = 10000;
  private static final int MOST_KNOWN = 100000;
  private static final String PATHS = "mapreduce.input.fileinputformat.inputdir";
  /** Ids of RDDs that were reported with the plan of a DataFrame; an application has one SparkContext, which counts them. */
  private static final Set KNOWN = Collections.synchronizedSet(new HashSet());
  /** By checkpointed RDD: what of() found before. */
  private static final Map KEPT = Collections.synchronizedMap(new HashMap());
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

  /** An RDD will be checkpointed, which cuts off what it depends on. */
  public static void keep(RDD rdd) throws IOException {
    if (KEPT.size() >= MOST) KEPT.clear();
    KEPT.put(Integer.valueOf(rdd.id()), withTexts(of(rdd)));
  }

  /** What of() found, its sources as they would be written: they hold on to settings and blocks. */
  private static Object[] withTexts(Object[] found) throws IOException {
    Set texts = new LinkedHashSet();
    java.util.Iterator sources = ((Set) found[2]).iterator();
    while (sources.hasNext()) texts.add(text(sources.next()));
    return new Object[] {found[0], found[1], texts, found[3]};
  }

  private static String text(Object source) throws IOException {
    if (source instanceof String) return (String) source;
    StringWriter text = new StringWriter();
    JsonGenerator out = new JsonFactory().createGenerator(text);
    writeSource(out, (RDD) source);
    out.close();
    return text.toString();
  }

  /** Another SparkContext counts its RDDs anew. */
  public static void forget() { KNOWN.clear(); JSON.clear(); KEPT.clear(); }

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
    while (found.hasNext()) out.writeRawValue(text(found.next()));
    if (!all) { out.writeStartObject(); out.writeStringField("class", "more than " + MOST + " RDDs"); out.writeEndObject(); }
    out.writeEndArray();
  }

  /** Whether an RDD is one of those with these ids, or depends on one. */
  public static boolean isMadeOf(RDD root, Collection ids) {
    if (ids.isEmpty()) return false;
    Set seen = new HashSet();
    ArrayDeque open = new ArrayDeque();
    open.push(root);
    while (!open.isEmpty() && seen.size() < MOST) {
      RDD rdd = (RDD) open.pop();
      if (!seen.add(Integer.valueOf(rdd.id()))) continue;
      if (ids.contains(Integer.valueOf(rdd.id()))) return true;
      pushParents(rdd, open);
    }
    return false;
  }

  /** To ask a union for its dependencies would list the files that it reads, earlier perhaps than the program means to. */
  private static boolean pushParents(RDD rdd, ArrayDeque open) {
    Object united = rdd instanceof org.apache.spark.rdd.UnionRDD ? Reflection.call(rdd, "rdds") : null;
    scala.collection.Iterator parents = (united != null ? (scala.collection.Iterable) united : rdd.dependencies()).iterator();
    if (!parents.hasNext()) return false;
    while (parents.hasNext()) open.push(united != null ? parents.next() : ((org.apache.spark.Dependency) parents.next()).rdd());
    return true;
  }

  private static boolean find(RDD root, Set known, Set sources) {
    boolean all = true;
    Set seen = new HashSet();
    ArrayDeque open = new ArrayDeque();
    open.push(root);
    while (!open.isEmpty()) {
      RDD rdd = (RDD) open.pop();
      if (!seen.add(Integer.valueOf(rdd.id()))) continue;
      if (seen.size() > MOST) return false;
      if (KNOWN.contains(Integer.valueOf(rdd.id()))) { known.add(Integer.valueOf(rdd.id())); continue; }
      Object[] kept = (Object[]) KEPT.get(Integer.valueOf(rdd.id()));
      if (kept != null) { known.addAll((Set) kept[1]); sources.addAll((Set) kept[2]); all &= ((Boolean) kept[3]).booleanValue(); }
      else if (!pushParents(rdd, open)) sources.add(rdd);
    }
    return all;
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

  /** Files by their folders, which are fewer, one file that Spark has not written by its own path; and the columns that are read of them. */
  private static void writeFiles(JsonGenerator out, scala.collection.Iterable partitions, Object schema) throws IOException {
    Set folders = new LinkedHashSet();
    Set known = new LinkedHashSet();
    scala.collection.Iterator i = partitions.iterator();
    while (i.hasNext() && folders.size() < MOST) {
      Object[] files = (Object[]) Reflection.call(i.next(), "files");
      for (int n = 0; files != null && n < files.length; n++) known.add(String.valueOf(Reflection.call(files[n], "filePath")));
    }
    for (java.util.Iterator file = known.iterator(); file.hasNext(); ) folders.add(folder((String) file.next()));
    writeNames(out, "paths", known.size() == 1 && isAlone((String) known.iterator().next()) ? known.toArray() : folders.toArray());
    if (schema instanceof org.apache.spark.sql.types.StructType) writeNames(out, "columns", ((org.apache.spark.sql.types.StructType) schema).fieldNames());
  }

  /** Whether a file may have been read by its own path: none of the files into which Spark writes a dataset. */
  private static boolean isAlone(String file) {
    String folder = folder(file);
    return !file.startsWith("part-", file.lastIndexOf('/') + 1) && folder.indexOf('=', folder.lastIndexOf('/') + 1) < 0;
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
