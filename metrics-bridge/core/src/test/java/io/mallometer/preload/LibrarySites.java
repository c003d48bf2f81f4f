package io.mallometer.preload;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Function;
import com.sun.jna.Memory;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.abi.SwitchedOnLater;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBatch;

/**
 * Lets libraries allocate at call sites that differ in the depth of a method's recursion, and
 * prints the estimates for them. The work is the same in each process, so a process in which each
 * allocation is a sample gives the truth.
 *
 * <p>Argument: the number of sites of each library.
 */
public final class LibrarySites {

  private static final String DESCENT = "descend";

  private static final long SEED = 20_260_101;

  private interface Piece {
    void close() throws SQLException;
  }

  private interface Work {
    Piece take(Random random) throws Exception;
  }

  /**
   * The libraries to test. Each has the pattern of its file name, the application's method that
   * calls it, and the fewest and the most calls at one site.
   */
  enum Library {
    JNA("\\[java]", "jna", LibrarySites::jna, 100, 400),
    ZLIB("libz.so.1|libzip.so", "zlib", LibrarySites::zlib, 20, 60),
    SQLITE("libsqlitejdbc.so", "sqlite", LibrarySites::sqlite, 20, 80),
    ZSTD("libzstd-jni.so", "zstd", LibrarySites::zstd, 50, 200),
    ROCKSDB("librocksdbjni.so", "rocksdb", LibrarySites::rocksdb, 100, 300);

    /**
     * The pattern of the library's file name. The pattern of zlib has two names: some JDKs contain
     * zlib in libzip.so, and others use the system's libz.so.1.
     */
    private final String file;

    private final String name;
    private final Work work;
    private final int fewest;
    private final int most;

    Library(String file, String method, Work work, int fewest, int most) {
      this.file = file;
      this.name = LibrarySites.class.getName() + "." + method;
      this.work = work;
      this.fewest = fewest;
      this.most = most;
    }

    boolean isAt(CallSite site) {
      return site.name().equals(name) && site.library().matches(file);
    }
  }

  private static final Connection DATABASE = database();

  private LibrarySites() {}

  public static void main(String[] arguments) throws Exception {
    int sites = Integer.parseInt(arguments[0]);
    for (Library each : Library.values()) {
      each.work.take(new Random(SEED)).close(); // loads the library
    }
    enable();
    NativeLibrary library = SwitchedOnLater.library();
    library.nameMethods();
    List<Piece> held = new ArrayList<>();
    for (Library each : Library.values()) {
      Random random = new Random(SEED);
      for (int depth = 1; depth <= sites; depth++) {
        held.addAll(takeAt(depth, each, random));
      }
    }
    CallSites read = library.callSites(Instant.now(), List.of(RealLibraries.PACKAGE));
    for (Library each : Library.values()) {
      for (int depth = 1; depth <= sites; depth++) {
        print(each, depth, sitesOf(each, depth, read));
      }
    }
    System.out.println("dropped " + new TreeMap<>(read.dropped()));
    System.exit(held.isEmpty() ? 1 : 0); // ends threads that libraries left running
  }

  /**
   * Switches counting on only after the start, because the JVM's own stacks and objects would fill
   * the tables if each of their allocations were a sample.
   */
  private static void enable() {
    Function enable = com.sun.jna.NativeLibrary.getProcess().getFunction("mallometer_enable");
    if (enable.invokeInt(new Object[0]) != 0) {
      throw new IllegalStateException();
    }
  }

  private static List<Piece> takeAt(int depth, Library library, Random random) throws Exception {
    int count = library.fewest + random.nextInt(library.most - library.fewest);
    double closedShare = 1 - 0.7 * random.nextDouble();
    List<Piece> held = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Piece piece = descend(depth, library.work, random);
      if (random.nextDouble() < closedShare) {
        piece.close();
      } else {
        held.add(piece);
      }
    }
    return held;
  }

  private static Piece descend(int depth, Work work, Random random) throws Exception {
    return depth == 1 ? work.take(random) : descend(depth - 1, work, random);
  }

  // ---- The work of the libraries

  private static Piece jna(Random random) {
    Memory memory = new Memory(1 + random.nextInt(20_000));
    return memory::close;
  }

  private static Piece zlib(Random random) {
    Deflater deflater = new Deflater(1 + random.nextInt(9));
    deflater.setInput(randomBytes(random, 1_000));
    deflater.deflate(new byte[2_000]);
    return deflater::end;
  }

  /** Inserts a row, and returns the open statement. The database keeps the memory of the row. */
  private static Piece sqlite(Random random) throws SQLException {
    PreparedStatement insert = DATABASE.prepareStatement("insert into entry (content) values (?)");
    insert.setBytes(1, randomBytes(random, 20_000));
    insert.executeUpdate();
    return insert::close;
  }

  private static Connection database() {
    try {
      Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
      try (Statement statement = connection.createStatement()) {
        statement.execute("create table entry (id integer primary key, content blob)");
      }
      return connection;
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static Piece zstd(Random random) {
    ZstdCompressCtx context = new ZstdCompressCtx();
    context.setLevel(1 + random.nextInt(9));
    context.compress(randomBytes(random, 5_000));
    return context::close;
  }

  private static Piece rocksdb(Random random) throws Exception {
    RocksDB.loadLibrary();
    WriteBatch batch = new WriteBatch();
    for (int i = random.nextInt(20); i >= 0; i--) {
      batch.put(randomBytes(random, 20), randomBytes(random, 2_000));
    }
    return batch::close;
  }

  private static byte[] randomBytes(Random random, int most) {
    byte[] bytes = new byte[1 + random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  // ---- The estimates

  /**
   * Returns the sites of a recursion depth. There may be several, because compiled code and other
   * paths through the library give other stacks.
   */
  private static List<CallSite> sitesOf(Library library, int depth, CallSites read) {
    return read.sites().stream()
        .filter(library::isAt)
        .filter(site -> site.frames().stream().filter(LibrarySites::isDescent).count() == depth)
        .toList();
  }

  private static boolean isDescent(StackFrame frame) {
    return frame.owner().equals(LibrarySites.class.getName()) && frame.name().equals(DESCENT);
  }

  private static void print(Library library, int depth, List<CallSite> sites) {
    String site = library + " " + depth;
    print(site + " allocated-objects", sites.stream().map(CallSite::allocatedObjects));
    print(site + " allocated-bytes", sites.stream().map(CallSite::allocatedBytes));
    print(site + " live-objects", sites.stream().map(CallSite::liveObjects));
    print(site + " live-bytes", sites.stream().map(CallSite::liveBytes));
  }

  private static void print(String figure, Stream<Estimate> estimates) {
    Estimate sum = estimates.reduce(Estimate.ZERO, Estimate::plus);
    System.out.printf(
        Locale.ROOT,
        "%s %.3f %.3f %.3f %.6f%n",
        figure,
        sum.low(),
        sum.value(),
        sum.high(),
        sum.variance());
  }
}
