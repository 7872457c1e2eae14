package headwater;

import com.univocity.parsers.csv.CsvParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.execution.datasources.csv.CSVUtils;

/**
 * The names in the header of CSV files, which a reader's schema passes over: Spark reads by position then (its option enforceSchema).
 *
 * No plan has them, so the first line of one file is read, on a thread of its own and once for each state of the file.
 * Whoever asks waits for a limited time; a file system that was late is not asked again.
 */
public class Headers implements Runnable {
  private static final long LONGEST = 2000;
  private static final int LONGEST_LINE = 1 << 20;
  private static final int MOST_KEPT = 1000;
  private static final String[] NONE = new String[0];
  /** Names by file and time of its last change; none where it could not be read. */
  private static final Map KEPT = Collections.synchronizedMap(new HashMap());
  /** The file systems whose answer came too late. */
  private static final Set LATE = Collections.synchronizedSet(new HashSet());

  private final Path file;
  private final Configuration conf;
  private final CSVOptions options;
  private final boolean sensitive;
  private volatile String[] names = NONE;

  private Headers(Path file, Configuration conf, CSVOptions options, boolean sensitive) {
    this.file = file;
    this.conf = conf;
    this.options = options;
    this.sensitive = sensitive;
  }

  /** The names in the header of the first file of an index that has rows; empty of files without a header, and where none can be read. */
  public static String[] of(Object index, Object options, Object session) {
    if (!"true".equalsIgnoreCase(Targets.option(options, "header")) || !(options instanceof scala.collection.immutable.Map)) return NONE;
    FileStatus first = first(Reflection.call(index, "allFiles"));
    if (first == null) return NONE;
    String key = first.getPath() + " " + first.getModificationTime();
    String[] known = (String[]) KEPT.get(key);
    if (known != null) return known;
    if (KEPT.size() >= MOST_KEPT) KEPT.clear();
    String[] found = read(first.getPath(), (scala.collection.immutable.Map) options, (SparkSession) session);
    KEPT.put(key, found);
    return found;
  }

  private static FileStatus first(Object files) {
    FileStatus first = null;
    if (!(files instanceof scala.collection.Iterable)) return first;
    for (scala.collection.Iterator i = ((scala.collection.Iterable) files).iterator(); i.hasNext();) {
      FileStatus file = (FileStatus) i.next();
      if (file.getLen() > 0 && (first == null || file.getPath().compareTo(first.getPath()) < 0)) first = file;
    }
    return first;
  }

  private static String[] read(Path file, scala.collection.immutable.Map options, SparkSession session) {
    String system = file.toUri().getScheme() + "://" + file.toUri().getAuthority();
    if (LATE.contains(system)) return NONE;
    Configuration conf = session.sessionState().newHadoopConfWithOptions(options);
    Headers asked = new Headers(file, conf, new CSVOptions(options, true, "UTC"), session.sessionState().conf().caseSensitiveAnalysis());
    Thread thread = new Thread(asked, "headwater-headers");
    thread.setDaemon(true);
    thread.start();
    try { thread.join(LONGEST); } catch (InterruptedException ended) { Thread.currentThread().interrupt(); }
    if (!thread.isAlive()) return asked.names;
    LATE.add(system);
    thread.interrupt();
    return NONE;
  }

  public void run() {
    try {
      CompressionCodec codec = new CompressionCodecFactory(conf).getCodec(file);
      InputStream bytes = file.getFileSystem(conf).open(file);
      try {
        String line = header(new BufferedReader(new InputStreamReader(codec == null ? bytes : codec.createInputStream(bytes), options.charset())));
        if (line == null) return;
        names = CSVUtils.makeSafeHeader(new CsvParser(options.asParserSettings()).parseLine(line), sensitive, options);
      } finally { bytes.close(); }
    } catch (Throwable unreadable) { } // the reader's own names stay
  }

  /** The first line that is neither empty nor a comment, as CSVExprUtils.extractHeader takes it; null of a file of long or no lines. */
  private String header(BufferedReader lines) throws IOException {
    for (int read = 0; read < LONGEST_LINE;) {
      String line = line(lines, LONGEST_LINE - read);
      if (line == null) return null;
      if (!line.trim().isEmpty() && !(options.isCommentSet() && line.startsWith(String.valueOf(options.comment())))) return line;
      read += line.length() + 1;
    }
    return null;
  }

  /** The next line; null where there is none, or none within so many characters. */
  private static String line(BufferedReader text, int longest) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = text.read(); next != '\n'; next = text.read()) {
      if (next < 0) return line.length() == 0 ? null : line.toString();
      if (line.length() == longest) return null;
      if (next != '\r') line.append((char) next);
    }
    return line.toString();
  }
}
