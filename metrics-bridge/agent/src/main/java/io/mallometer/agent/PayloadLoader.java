package io.mallometer.agent;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Loads classes and resources from nested jars that are held in memory (1 to 2 MB).
 *
 * <p>Inside an application its parent is the platform class loader, so that the payload and the
 * application do not see each other's classes, and each may use its own version of JNA and of
 * Prometheus' client. JNA cannot be relocated instead, because its native part finds its classes by
 * name.
 */
final class PayloadLoader extends ClassLoader {

  /** The jar of the code that runs inside an application. */
  static final String BRIDGE = "mallometer-payload.jar";

  static final String COMMANDS = "mallometer-commands.jar";

  private static final String PROTOCOL = "mallometer-agent";

  private final List<NestedJar> jars;

  private PayloadLoader(List<NestedJar> jars, ClassLoader parent) {
    super("mallometer-agent", parent);
    this.jars = jars;
  }

  /**
   * Reads jars from the jar or directory that contains this class. The parent is asked first for
   * each class.
   */
  static PayloadLoader open(ClassLoader parent, String... names)
      throws IOException, URISyntaxException {
    List<NestedJar> jars = new ArrayList<>();
    URL place = PayloadLoader.class.getProtectionDomain().getCodeSource().getLocation();
    @Nullable File agent = place.getProtocol().equals("file") ? new File(place.toURI()) : null;
    for (String name : names) {
      byte @Nullable [] jar =
          agent != null && agent.isFile() ? inJar(agent, name) : inDirectory(name);
      if (jar == null) {
        throw new FileNotFoundException(name + " is missing in the agent's jar");
      }
      jars.add(new NestedJar(jar));
    }
    return new PayloadLoader(jars, parent);
  }

  /**
   * Reads a jar inside the agent's jar. This way loads fewer classes of the JDK than a URL
   * connection, and copies less than {@code readAllBytes}.
   */
  private static byte @Nullable [] inJar(File agent, String name) throws IOException {
    try (ZipFile outer = new ZipFile(agent)) {
      @Nullable ZipEntry entry = outer.getEntry(name);
      if (entry == null) {
        return null;
      }
      byte[] jar = new byte[Math.toIntExact(entry.getSize())];
      outer.getInputStream(entry).readNBytes(jar, 0, jar.length);
      return jar;
    }
  }

  /**
   * Reads a jar from the class path, for an application whose class path has the agent's classes.
   */
  private static byte @Nullable [] inDirectory(String name) throws IOException {
    try (InputStream jar = PayloadLoader.class.getResourceAsStream("/" + name)) {
      return jar == null ? null : jar.readAllBytes();
    }
  }

  Set<String> packages() {
    Set<String> packages = new HashSet<>();
    for (NestedJar jar : jars) {
      packages.addAll(jar.packages());
    }
    return packages;
  }

  private byte @Nullable [] read(String name) {
    byte @Nullable [] found = null;
    for (int i = 0; i < jars.size() && found == null; i++) {
      found = jars.get(i).read(name);
    }
    return found;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte @Nullable [] bytes = read(name.replace('.', '/') + ".class");
    if (bytes == null) {
      throw new ClassNotFoundException(name);
    }
    byte[] file = JnaClass.of(name, bytes);
    return defineClass(name, file, 0, file.length, getClass().getProtectionDomain());
  }

  @Override
  protected @Nullable URL findResource(String name) {
    byte @Nullable [] bytes = read(name);
    @Nullable URL unpacked = bytes == null ? null : UnpackedJna.url(name, bytes);
    if (unpacked != null) {
      return unpacked;
    }
    try {
      return bytes == null ? null : new URL(PROTOCOL, "", -1, "/" + name, new InMemory(bytes));
    } catch (MalformedURLException e) {
      return null;
    }
  }

  /** Returns a resource, which is the same for all modules of this class loader. */
  @Override
  protected @Nullable URL findResource(String unused, String name) {
    return findResource(name);
  }

  @Override
  protected Enumeration<URL> findResources(String name) {
    URL found = findResource(name);
    return Collections.enumeration(found == null ? List.of() : List.of(found));
  }

  private static final class InMemory extends URLStreamHandler {
    private final byte[] bytes;

    InMemory(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    protected URLConnection openConnection(URL url) {
      return new URLConnection(url) {
        @Override
        public void connect() {
          connected = true;
        }

        @Override
        public InputStream getInputStream() {
          return new ByteArrayInputStream(bytes);
        }
      };
    }
  }
}
