package io.mallometer.benchmarks.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.Deflater;

/** Native memory that a program holds, uses and frees. The caller allocates if possible. */
interface Held {

  void use() throws Exception;

  void free() throws Exception;

  /** Memory of malloc. */
  static Held block(long address, int bytes) {
    Block block = Block.of(address, bytes).filled();
    return new Held() {
      @Override
      public void use() {
        block.read();
      }

      @Override
      public void free() {
        block.free();
      }
    };
  }

  /** A direct buffer, which the collector frees. */
  static Held buffer(ByteBuffer buffer) {
    return new Held() {
      @Override
      public void use() {
        buffer.putInt(0, buffer.getInt(0) + 1);
      }

      @Override
      public void free() {
        // The caller drops the buffer.
      }
    };
  }

  /** A compressor of the JDK. */
  static Held deflater(Deflater deflater, byte[] input) {
    byte[] output = new byte[input.length];
    return new Held() {
      @Override
      public void use() {
        deflater.reset();
        deflater.setInput(input);
        deflater.finish();
        deflater.deflate(output);
      }

      @Override
      public void free() {
        deflater.end();
      }
    };
  }

  /** A context of zstd. */
  static Held zstd(byte[] input) {
    ZstdCompressCtx context = new ZstdCompressCtx().setLevel(1);
    context.compress(input);
    return new Held() {
      @Override
      public void use() {
        context.compress(input);
      }

      @Override
      public void free() {
        context.close();
      }
    };
  }

  /** A statement of SQLite. */
  static Held statement(Connection connection) throws SQLException {
    PreparedStatement statement =
        connection.prepareStatement("select name from entry where value > ? order by name");
    return new Held() {
      @Override
      public void use() throws SQLException {
        statement.setDouble(1, 1);
        statement.executeQuery().close();
      }

      @Override
      public void free() throws SQLException {
        statement.close();
      }
    };
  }

  /** Memory of malloc, with the time until which it is needed. */
  record Block(long address, int bytes, Duration until) {

    /** Returns memory without a time. */
    static Block of(long address, int bytes) {
      return new Block(address, bytes, Duration.ZERO);
    }

    /** Writes to all of the block. */
    Block filled() {
      new Pointer(address).setMemory(0, bytes, (byte) 1);
      return this;
    }

    /** Reads a byte of the block. */
    byte read() {
      return new Pointer(address).getByte(bytes / 2);
    }

    void free() {
      Native.free(address);
    }
  }

  /** A method through which code with and without a leak allocates. */
  final class SharedWrapper {

    private SharedWrapper() {}

    static Block allocate(int bytes) {
      return Block.of(Native.malloc(bytes), bytes).filled();
    }
  }

  /** Content that is the same in each run. */
  final class Texts {

    private Texts() {}

    static byte[] compressible(int bytes) {
      Random random = new Random(3);
      StringBuilder words = new StringBuilder();
      while (words.length() < bytes) {
        words.append(Integer.toString(random.nextInt(1000), 36)).append(' ');
      }
      return words.substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] deflated(byte[] text) {
      byte[] output = new byte[2 * text.length];
      Deflater deflater = new Deflater();
      try {
        deflater.setInput(text);
        deflater.finish();
        return Arrays.copyOf(output, deflater.deflate(output));
      } finally {
        deflater.end();
      }
    }
  }
}
