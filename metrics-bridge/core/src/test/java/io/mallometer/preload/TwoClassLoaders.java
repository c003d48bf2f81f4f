package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.jmx.NativeMemoryMBeans;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Two web applications that each bring the bridge and JNA, in one server: class loaders that share
 * nothing but the JDK.
 */
public final class TwoClassLoaders {

  private TwoClassLoaders() {}

  /** Starts both, closes the first, then the second, and says what each saw. */
  public static void main(String[] arguments) throws Exception {
    AutoCloseable first = application();
    System.out.println("first=" + first);
    AutoCloseable second = application();
    System.out.println("second=" + second);
    first.close();
    System.out.println("after the first closed: " + second.toString().split(" ")[1]);
    second.close();
    for (int i = 0; i < 100 && !Program.mallometerThreads().isEmpty(); i++) {
      Thread.sleep(20);
    }
    System.out.println(
        "after both closed: threads="
            + Program.mallometerThreads().size()
            + " "
            + second.toString().split(" ")[1]);
  }

  private static AutoCloseable application() throws Exception {
    List<URL> classPath = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(":")) {
      classPath.add(Path.of(entry).toUri().toURL());
    }
    ClassLoader loader =
        new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    return (AutoCloseable)
        loader.loadClass(Application.class.getName()).getDeclaredConstructor().newInstance();
  }

  /** What one web application does. */
  public static final class Application implements AutoCloseable {
    private final Mallometer mallometer = Mallometer.open();
    private final NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer);

    @Override
    public void close() {
      beans.close();
      mallometer.close();
    }

    @Override
    public String toString() {
      return mallometer.status().state() + " registered=" + beans.registered();
    }
  }
}
