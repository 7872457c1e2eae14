package headwater.dryrun;

import org.apache.hadoop.fs.LocalFileSystem;

/** The overlay of local files; Hadoop casts what it has for them to this type. */
public class LocalOverlay extends LocalFileSystem {
  public LocalOverlay() { super(new Overlay()); }
}
