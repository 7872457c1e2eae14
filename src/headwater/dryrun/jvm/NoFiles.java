package headwater.dryrun;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** A file system out of reach: there is nothing in it, and nothing can be written. */
public class NoFiles extends FileSystem {
  private URI name;

  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    this.name = URI.create(name.getScheme() + "://" + (name.getAuthority() == null ? "" : name.getAuthority()));
  }

  public URI getUri() { return name; }

  public Path getWorkingDirectory() { return new Path(name + "/"); }

  public void setWorkingDirectory(Path path) { }

  public FSDataInputStream open(Path path, int size) throws IOException { throw missing(path); }

  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite, int size, short copies, long block, Progressable progress) throws IOException { throw missing(path); }

  public FSDataOutputStream append(Path path, int size, Progressable progress) throws IOException { throw missing(path); }

  public boolean rename(Path from, Path to) throws IOException { throw missing(from); }

  public boolean delete(Path path, boolean recursive) { return false; }

  public boolean mkdirs(Path path, FsPermission permission) throws IOException { throw missing(path); }

  public FileStatus[] listStatus(Path path) throws IOException { throw missing(path); }

  public FileStatus getFileStatus(Path path) throws IOException { throw missing(path); }

  private static FileNotFoundException missing(Path path) { return new FileNotFoundException(path + " is out of reach"); }
}
