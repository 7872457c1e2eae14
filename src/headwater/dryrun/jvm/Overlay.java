package headwater.dryrun;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * A file system of which nothing changes: what is written is in a folder of the dry run, above what is really there.
 *
 * A path names the same file as ever, so that datasets have the names that they have in a run.
 */
public class Overlay extends FileSystem {
  public static final String FOLDER = "headwater.dryrun.folder";
  /** The class of a scheme's file system that the job's own settings name, by scheme. */
  public static final String BASE = "headwater.dryrun.base.";

  /** Paths below which nothing of the real file system is seen any more, for it was deleted. */
  private static final Set DELETED = Collections.synchronizedSet(new HashSet());

  public static void clear() { DELETED.clear(); }

  private FileSystem base;
  private RawLocalFileSystem upper;
  private String folder;

  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    String scheme = name.getScheme();
    Configuration plain = new Configuration(conf);
    plain.unset("fs." + scheme + ".impl");
    if (conf.get(BASE + scheme) != null) plain.set("fs." + scheme + ".impl", conf.get(BASE + scheme));
    base = scheme.equals("file") ? new RawLocalFileSystem() : real(scheme, plain);
    base.initialize(name, plain);
    upper = new RawLocalFileSystem();
    upper.initialize(URI.create("file:///"), plain);
    String authority = name.getAuthority() == null ? "" : name.getAuthority();
    folder = conf.get(FOLDER) + "/" + scheme + "/" + authority.replace(':', '_');
  }

  /** The file system that the overlay is above; one without files where Spark lacks its class. */
  private static FileSystem real(String scheme, Configuration conf) {
    try { return (FileSystem) ReflectionUtils.newInstance(FileSystem.getFileSystemClass(scheme, conf), conf); }
    catch (Exception missing) { return new NoFiles(); }
  }

  public String getScheme() { return base.getUri().getScheme(); }

  public URI getUri() { return base.getUri(); }

  public Path getWorkingDirectory() { return base.getWorkingDirectory(); }

  public void setWorkingDirectory(Path path) { base.setWorkingDirectory(path); }

  public Path getHomeDirectory() { return base.getHomeDirectory(); }

  public FSDataInputStream open(Path path, int size) throws IOException {
    return isAbove(path) ? upper.open(above(path), size) : base.open(visible(path), size);
  }

  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite, int size, short copies, long block, Progressable progress) throws IOException {
    if (!overwrite && exists(path)) throw new FileAlreadyExistsException("File already exists: " + path);
    if (exists(path) && getFileStatus(path).isDirectory()) throw new FileAlreadyExistsException(path + " is a directory");
    return upper.create(above(path), true, size, copies, block, progress);
  }

  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission, java.util.EnumSet flags, int size, short copies, long block, Progressable progress) throws IOException {
    return create(path, permission, flags.contains(org.apache.hadoop.fs.CreateFlag.OVERWRITE), size, copies, block, progress);
  }

  public FSDataOutputStream append(Path path, int size, Progressable progress) throws IOException {
    copyUp(path);
    return upper.append(above(path), size, progress);
  }

  public boolean rename(Path from, Path to) throws IOException {
    if (!exists(from)) throw new FileNotFoundException(String.valueOf(from));
    if (exists(to) && getFileStatus(to).isDirectory()) to = new Path(to, from.getName());
    copyUp(from);
    if (exists(to)) delete(to, true);
    upper.mkdirs(above(to).getParent());
    if (!upper.rename(above(from), above(to))) return false;
    DELETED.add(key(from));
    return true;
  }

  public boolean delete(Path path, boolean recursive) throws IOException {
    if (!exists(path)) return false;
    if (!recursive && getFileStatus(path).isDirectory() && listStatus(path).length > 0) throw new IOException("Directory " + path + " is not empty");
    if (isAbove(path)) upper.delete(above(path), true);
    DELETED.add(key(path));
    return true;
  }

  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    if (exists(path)) return getFileStatus(path).isDirectory();
    return upper.mkdirs(above(path));
  }

  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus self = getFileStatus(path);
    if (!self.isDirectory()) return new FileStatus[] {self};
    Map found = new TreeMap();
    if (!isHidden(path) && base.exists(path)) {
      FileStatus[] below = base.listStatus(path);
      for (int i = 0; i < below.length; i++) if (!isHidden(below[i].getPath())) found.put(below[i].getPath().getName(), below[i]);
    }
    if (isAbove(path)) {
      FileStatus[] ours = upper.listStatus(above(path));
      for (int i = 0; i < ours.length; i++) found.put(ours[i].getPath().getName(), moved(ours[i], new Path(qualified(path), ours[i].getPath().getName())));
    }
    return (FileStatus[]) found.values().toArray(new FileStatus[0]);
  }

  public FileStatus getFileStatus(Path path) throws IOException {
    return isAbove(path) ? moved(upper.getFileStatus(above(path)), qualified(path)) : base.getFileStatus(visible(path));
  }

  public void setPermission(Path path, FsPermission permission) { }

  public void setOwner(Path path, String user, String group) { }

  public void setTimes(Path path, long written, long read) { }

  /** What the real file system has at a path is copied, as it is about to change. */
  private void copyUp(Path path) throws IOException {
    FileStatus status = getFileStatus(path);
    if (status.isDirectory()) {
      FileStatus[] children = listStatus(path);
      for (int i = 0; i < children.length; i++) copyUp(children[i].getPath());
      upper.mkdirs(above(path));
    } else if (!isAbove(path)) {
      InputStream in = base.open(path);
      OutputStream out = upper.create(above(path));
      IOUtils.copyBytes(in, out, 65536, true);
    }
  }

  private boolean isAbove(Path path) throws IOException { return upper.exists(above(path)); }

  private Path above(Path path) { return new Path(folder + qualified(path).toUri().getPath()); }

  private Path qualified(Path path) { return base.makeQualified(path); }

  private String key(Path path) { return qualified(path).toString(); }

  private boolean isHidden(Path path) {
    for (Path one = qualified(path); one != null; one = one.getParent()) if (DELETED.contains(one.toString())) return true;
    return false;
  }

  private Path visible(Path path) throws IOException {
    if (isHidden(path)) throw new FileNotFoundException("File " + path + " does not exist");
    return path;
  }

  private static FileStatus moved(FileStatus status, Path path) {
    return new FileStatus(status.getLen(), status.isDirectory(), 1, status.getBlockSize(), status.getModificationTime(), path);
  }
}
