package io.mallometer.preload;

import com.github.luben.zstd.Zstd;
import com.sun.jna.Memory;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteOptions;

final class NativeLoad {

  private static final int SEED = 20_260_101;

  private final Random random = new Random(SEED);
  private final byte[] content = new byte[20_000];
  private final List<Long> held = new ArrayList<>();

  NativeLoad() {
    for (int i = 0; i < content.length; i++) {
      content[i] = (byte) "abcdefghij klmnop".charAt(random.nextInt(17));
    }
  }

  void runOnce() throws Exception {
    sqlite();
    rocksdb();
    for (int i = 0; i < 100; i++) {
      Zstd.decompress(Zstd.compress(content, 1 + i % 3), content.length);
    }
    deflaters();
    memories();
    Thread thread = new Thread(this::unsafe, "unsafe");
    thread.start();
    thread.join();
    InetAddress.getByName("localhost");
  }

  private void sqlite() throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:")) {
      try (Statement statement = connection.createStatement()) {
        statement.execute("create table entry (id integer primary key, content blob)");
      }
      try (PreparedStatement insert =
          connection.prepareStatement("insert into entry (content) values (?)")) {
        for (int i = 0; i < 200; i++) {
          insert.setBytes(1, content);
          insert.executeUpdate();
        }
      }
    }
  }

  private void rocksdb() throws Exception {
    Path directory = Files.createTempDirectory("rocksdb");
    try (Options options = new Options().setCreateIfMissing(true).setWriteBufferSize(1 << 20);
        RocksDB database = RocksDB.open(options, directory.toString());
        WriteOptions unlogged = new WriteOptions().setDisableWAL(true)) {
      for (int i = 0; i < 500; i++) {
        database.put(unlogged, Integer.toString(random.nextInt(500)).getBytes(), content);
      }
      for (int i = 0; i < 500; i++) {
        database.get(Integer.toString(i).getBytes());
      }
    }
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
  }

  private void deflaters() {
    for (int i = 0; i < 200; i++) {
      Deflater deflater = new Deflater(1);
      deflater.setInput(content);
      deflater.finish();
      deflater.deflate(new byte[20_000]);
      deflater.end();
    }
  }

  private void memories() {
    for (int i = 0; i < 200; i++) {
      try (Memory memory = new Memory(1 + random.nextInt(5_000))) {
        memory.setByte(0, (byte) 1);
      }
    }
    for (int i = 0; i < 50; i++) {
      ByteBuffer.allocateDirect(1 + random.nextInt(50_000));
    }
  }

  /** Allocates objects that later calls free on other threads. */
  private void unsafe() {
    for (int i = 0; i < 20_000; i++) {
      if (held.size() < 1_000) {
        held.add(NativeWork.allocateMemory(1 + random.nextInt(2_000)));
      } else {
        int any = random.nextInt(held.size());
        NativeWork.freeMemory(held.set(any, held.get(held.size() - 1)));
        held.remove(held.size() - 1);
      }
    }
  }
}
