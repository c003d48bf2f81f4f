package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * A table of RocksDB's batches that is replaced by an empty one, and no batch closed. RocksDB has
 * no cleaners: only garbage knows the batches, and nothing will free them. Java knows the batch,
 * and that the characters of its string, which begin 24 bytes into their block.
 *
 * <p>The old table is so large that it never was young: with G1 a young collection finds neither it
 * nor what it has, and it stays until the next marking. After that nobody at all has the addresses.
 */
public final class Unclosed implements Kernel {

  private static final int SLOTS = 1 << 20;

  private static WriteBatch[] table = new WriteBatch[SLOTS];

  @Override
  public Holding holding() {
    return Holding.UNREACHABLE;
  }

  @Override
  public List<String> words() {
    return List.of("nativeHandle_");
  }

  @Override
  public void plant() throws RocksDBException {
    RocksDB.loadLibrary();
    byte[] key = {1, 2, 3};
    byte[] value = new byte[18_000];
    for (int i = 0; i < 200; i++) {
      WriteBatch batch = new WriteBatch();
      batch.put(key, value);
      table[i] = batch;
    }
    table = new WriteBatch[SLOTS];
  }
}
