package io.mallometer.benchmarks.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
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
}
