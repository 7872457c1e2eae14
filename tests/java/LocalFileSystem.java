package org.apache.hadoop.fs.quick;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFs;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Local files that get no mode of their own, for which Hadoop starts the program chmod: nine times for a write. */
public class LocalFileSystem extends org.apache.hadoop.fs.LocalFileSystem {

  public LocalFileSystem() {
    super(new Files());
  }

  private static class Files extends RawLocalFileSystem {

    @Override
    public void setPermission(Path path, FsPermission permission) {}
  }

  /** The same by Hadoop's newer interface, which checkpoints of streams use. */
  public static class Checksummed extends ChecksumFs {

    public Checksummed(URI uri, Configuration conf) throws IOException, URISyntaxException {
      super(new Raw(conf));
    }
  }

  private static class Raw extends DelegateToFileSystem {

    Raw(Configuration conf) throws IOException, URISyntaxException {
      super(URI.create("file:///"), new Files(), conf, "file", false);
    }

    @Override
    public boolean isValidName(String name) {
      return true;
    }
  }
}
