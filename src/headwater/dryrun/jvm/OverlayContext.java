package headwater.dryrun;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileSystem;

/** The overlay for those who use Hadoop's FileContext. */
public class OverlayContext extends DelegateToFileSystem {
  public OverlayContext(URI name, Configuration conf) throws IOException, URISyntaxException {
    super(name, name.getScheme().equals("file") ? (FileSystem) new LocalOverlay() : new Overlay(), conf, name.getScheme(), false);
  }

  public int getUriDefaultPort() { return -1; }
}
