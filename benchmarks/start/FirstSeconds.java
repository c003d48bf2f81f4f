import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import javax.tools.ToolProvider;

/**
 * Does the same work in each run, in 45 equal steps over nine seconds: zlib, direct buffers,
 * threads and regular expressions. Two of the steps also compile Java classes and run them, so that
 * the JVM allocates at many hundreds of call sites.
 */
public final class FirstSeconds {

  private static final int STEPS = 45;
  private static final long STEP_MILLIS = 200;
  private static final int COMPILES_EVERY = 20;
  private static final int COMPILATIONS = 2;
  private static final int METHODS = 40;

  private static final List<Object> KEPT = new ArrayList<>();

  private FirstSeconds() {}

  public static void main(String[] arguments) throws Exception {
    long began = System.currentTimeMillis();
    System.out.println("begins");
    for (int step = 0; step < STEPS; step++) {
      compress(step);
      allocate();
      match(step);
      if (step % COMPILES_EVERY == 0 && step < COMPILATIONS * COMPILES_EVERY) {
        compile("Compiled" + step);
      }
      Thread.sleep(Math.max(0, began + (step + 1) * STEP_MILLIS - System.currentTimeMillis()));
    }
    System.in.read();
  }

  private static void compress(int step) throws Exception {
    byte[] text = numbers(step).getBytes();
    byte[] packed = new byte[2 * text.length];
    Deflater deflater = new Deflater(1 + step % 9);
    deflater.setInput(text);
    deflater.finish();
    int length = deflater.deflate(packed);
    Inflater inflater = new Inflater();
    inflater.setInput(packed, 0, length);
    inflater.inflate(new byte[text.length]);
    if (step % 3 == 0) {
      deflater.end();
      inflater.end();
    } else {
      KEPT.add(deflater);
      KEPT.add(inflater);
    }
  }

  private static String numbers(int step) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 4_000; i++) {
      text.append(i * 31 + step).append(i % 7 == 0 ? '\n' : ' ');
    }
    return text.toString();
  }

  private static void allocate() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(1 << (10 + i % 8));
      if (i % 4 == 0) {
        KEPT.add(buffer);
      }
    }
    Thread thread = new Thread(() -> KEPT.add(ByteBuffer.allocateDirect(4_096)));
    thread.start();
    thread.join();
  }

  private static void match(int step) {
    Pattern.compile("(a|b)*c+[d-z]{" + (1 + step) + "}").matcher("abababccdefg".repeat(50)).find();
  }

  private static void compile(String name) throws Exception {
    File directory = Files.createTempDirectory("mallometer-bench-").toFile();
    File source = new File(directory, name + ".java");
    StringBuilder text = new StringBuilder("public class " + name + " {\n");
    for (int i = 0; i < METHODS; i++) {
      text.append("public static int f" + i + "(int a) { var l = new java.util.ArrayList<String>();")
          .append("for (int i = 0; i < " + i + "; i++) { l.add(\"\" + i * a); } return l.size(); }\n");
    }
    Files.writeString(source.toPath(), text.append("}\n"));
    ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", directory.getPath(), source.getPath());
    URLClassLoader loader = new URLClassLoader(new URL[] {directory.toURI().toURL()});
    KEPT.add(loader.loadClass(name).getMethod("f1", int.class).invoke(null, 1));
    KEPT.add(loader);
    for (File file : directory.listFiles()) {
      file.deleteOnExit();
    }
    directory.deleteOnExit();
  }
}
