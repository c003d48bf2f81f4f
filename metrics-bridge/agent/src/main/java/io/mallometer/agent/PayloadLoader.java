package io.mallometer.agent;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Loads classes and resources from a nested jar that is held in memory, less than a megabyte.
 *
 * <p>Its parent is the platform class loader: it does not see the application's classes, nor the
 * application its. So each may have JNA or Prometheus' client in a version of its own.
 */
final class PayloadLoader extends ClassLoader {

  private static final String JAR = "/mallometer-payload.jar";
  private static final String PROTOCOL = "mallometer-agent";

  private final Map<String, byte[]> entries;

  private PayloadLoader(Map<String, byte[]> entries) {
    super("mallometer-agent", ClassLoader.getPlatformClassLoader());
    this.entries = entries;
  }

  /** Reads the payload that lies beside this class. */
  static PayloadLoader open() throws IOException {
    try (InputStream jar = PayloadLoader.class.getResourceAsStream(JAR)) {
      if (jar == null) {
        throw new FileNotFoundException(JAR + " is missing in the agent's jar");
      }
      return new PayloadLoader(read(jar));
    }
  }

  private static Map<String, byte[]> read(InputStream jar) throws IOException {
    Map<String, byte[]> entries = new HashMap<>();
    try (JarInputStream input = new JarInputStream(jar)) {
      for (JarEntry entry = input.getNextJarEntry();
          entry != null;
          entry = input.getNextJarEntry()) {
        if (!entry.isDirectory()) {
          entries.put(entry.getName(), input.readAllBytes());
        }
      }
    }
    return entries;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] bytes = entries.get(name.replace('.', '/') + ".class");
    if (bytes == null) {
      throw new ClassNotFoundException(name);
    }
    return defineClass(name, bytes, 0, bytes.length, getClass().getProtectionDomain());
  }

  @Override
  protected @Nullable URL findResource(String name) {
    byte[] bytes = entries.get(name);
    try {
      return bytes == null ? null : new URL(PROTOCOL, "", -1, "/" + name, new InMemory(bytes));
    } catch (MalformedURLException e) {
      return null;
    }
  }

  @Override
  protected Enumeration<URL> findResources(String name) {
    URL found = findResource(name);
    return Collections.enumeration(found == null ? List.of() : List.of(found));
  }

  /** Opens a URL by handing out bytes. */
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
